// Tests the memory of upstream calls, over real sockets: bodies, answers and long lines are counted and released.
// Must not depend on the gateway above the upstream client.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Room, Shortage } from "../../src/domain/RequestContext.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { Upstream } from "../../src/upstream/Upstream.ts"
import { httpServer, rawServer } from "../upstream/evilServer.ts"
import { lines, times } from "../upstream/lines.ts"

const real = Upstream.layer.pipe(Layer.provide(Transport.layer))

/** Room for so many bytes; what was held at most, and what is held now. */
const roomOf = (most: number, shortage: Shortage = "key") => {
  const seen = { held: 0, most: 0 }
  const room: Room = {
    size: 0,
    take: (bytes) => {
      if (seen.held + bytes > most) return shortage
      seen.held += bytes
      seen.most = Math.max(seen.most, seen.held)
      return undefined
    },
    give: (bytes) => {
      seen.held -= bytes
    }
  }
  return { room, seen }
}
/** The body `{"say":"hi"}`. */
const bodyBytes = 12

const once = (url: string, room: Room) =>
  Effect.match(
    Effect.flatMap(Upstream, (upstream) => upstream.once(lines(`${url}/v1/x`), {}, times, room)),
    {
      onFailure: ({ reason }) => reason,
      onSuccess: (text) => text.length
    }
  )
const ofKey = {
  _tag: "NoRoom",
  shortage: "key",
  message: "The running requests of the key hold more than their share of memory."
}
const ofAll = { _tag: "NoRoom", shortage: "all", message: "The gateway has no memory left for the call." }

describe("memory of one answer", () => {
  it.live("upstream memory: counts the body during the call, and the answer until its request ends (TH19)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_request, response) => response.end("x".repeat(1_000)))
      const { room, seen } = roomOf(2_000)
      expect(yield* once(server.url, room)).toBe(1_000)
      expect(seen).toEqual({ held: 1_000, most: 1_000 + bodyBytes })
    }).pipe(Effect.provide(real))
  )

  it.live("upstream memory: an answer over the limit ends the call", () =>
    Effect.gen(function* () {
      const server = yield* rawServer(
        (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" + "x".repeat(5_000))
      )
      expect(yield* once(server.url, roomOf(1_000).room)).toEqual(ofKey)
      yield* Effect.promise(() => server.closed(1))
      expect(yield* once(server.url, roomOf(1_000, "all").room)).toEqual(ofAll)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream memory: a body over the limit is not sent", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_request, response) => response.end("fine"))
      expect(yield* once(server.url, roomOf(bodyBytes - 1).room)).toEqual({ ...ofKey, isUncalled: true })
      expect(server.accepted()).toBe(0)
    }).pipe(Effect.provide(real))
  )

  it.live("upstream memory: a failed call releases its body", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.destroy())
      const { room, seen } = roomOf(1_000)
      expect(yield* once(server.url, room)).toEqual({
        _tag: "Transport",
        kind: "reset",
        message: "The upstream closed the connection before its answer was complete."
      })
      expect(seen).toEqual({ held: 0, most: bodyBytes })
    }).pipe(Effect.provide(real))
  )
})

describe("memory of a stream", () => {
  const long = "y".repeat(300_000)
  const streamOf = (url: string, room: Room) =>
    Effect.match(
      Effect.scoped(
        Effect.flatMap(Upstream, (upstream) =>
          Effect.flatMap(upstream.open(lines(`${url}/v1/x`), {}, times, room), ({ chunks }) =>
            Stream.runCollect(chunks)
          )
        )
      ),
      { onFailure: ({ reason }) => reason, onSuccess: (some) => some.map(({ length }) => length) }
    )

  it.live("upstream memory: a long line is counted until it ends, short ones are not (TH19)", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_request, response) => {
        response.write("a\nb\n")
        response.write(long.slice(0, 200_000), () => response.end(`${long.slice(200_000)}\nEND\n`))
      })
      const { room, seen } = roomOf(400_000)
      expect(yield* streamOf(server.url, room)).toEqual([1, 1, 300_000])
      expect([seen.held, seen.most >= 64 * 1024, seen.most <= 300_000]).toEqual([0, true, true])
    }).pipe(Effect.provide(real))
  )

  it.live("upstream memory: a long line over the limit ends the stream", () =>
    Effect.gen(function* () {
      const server = yield* httpServer((_request, response) => {
        response.write("a\n")
        response.write(long)
      })
      expect(yield* streamOf(server.url, roomOf(100_000).room)).toEqual(ofKey)
    }).pipe(Effect.provide(real))
  )
})
