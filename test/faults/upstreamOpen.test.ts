// Tests the upstream client with the faults of a stream, over real sockets.
// Must not depend on the gateway above the upstream client.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import type { ProviderError, Reason } from "../../src/domain/ProviderError.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { type AttemptTimes, Upstream } from "../../src/upstream/Upstream.ts"
import { passTime, passUntilEnded, stopTime } from "../support/stoppedTime.ts"
import { httpServer, netServer, rawServer } from "../upstream/evilServer.ts"
import { lines, times } from "../upstream/lines.ts"

const limits = Layer.succeed(Limits, { ...defaultLimits, errorBytes: 1_000 })
const real = Upstream.layer.pipe(Layer.provide(Transport.layer), Layer.provide(limits))

const open = (url: string, some: Partial<AttemptTimes> = {}) =>
  Effect.flatMap(Upstream, (upstream) =>
    Effect.map(upstream.open(lines(url), {}, { ...times, ...some }), ({ chunks }) => chunks)
  )

/** The chunks in arrays as they came, and how it ended: before the first chunk, after some, or well. */
const outcome = (url: string, some: Partial<AttemptTimes> = {}) =>
  Effect.gen(function* () {
    const arrays: Array<ReadonlyArray<string>> = []
    const opened = yield* Effect.exit(open(url, some))
    if (Exit.isFailure(opened)) return { arrays, refused: reason(opened) }
    const ended = yield* Effect.exit(
      Stream.runForEachArray(opened.value, (array) => Effect.sync(() => arrays.push(array)))
    )
    return Exit.isFailure(ended) ? { arrays, broken: reason(ended) } : { arrays }
  })

const reason = <A>(exit: Exit.Exit<A, ProviderError>): Reason | undefined => {
  const error = Exit.findErrorOption(exit)
  return error._tag === "Some" ? error.value.reason : undefined
}

const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
const piece = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Ends when the number has not changed in a hundred turns of the event loop, in each of which a socket reads and writes. */
const standstill = async (number: () => number): Promise<void> => {
  let before = number()
  for (let turns = 0; turns < 100; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (number() !== before) turns = 0
    before = number()
  }
}

const truncated: Reason = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream closed the connection in the middle of its answer."
}

describe("upstream streams", () => {
  it.live("upstream stream: all pieces of one network read come out as one array", () =>
    Effect.gen(function* () {
      const server = yield* rawServer(
        (socket) => void socket.end(chunked + piece("a\n") + piece("b\nc\n") + piece("END\n") + "0\r\n\r\n")
      )
      expect(yield* outcome(server.url)).toEqual({ arrays: [["a", "b", "c"]] })
    }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: a first event and then silence ends by the idle timer after that event (F5)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.write(chunked + piece("a\n")))
      expect(yield* outcome(server.url, { idleMillis: 50 })).toEqual({
        arrays: [["a"]],
        broken: {
          _tag: "Timeout",
          phase: "idle",
          message:
            "The upstream fell silent for 50 ms in the middle of its answer (limits.idleMillis, or timeouts.idle of the config)."
        }
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: a head without an event falls under the first-byte timer (F5)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.write(chunked))
      expect(yield* outcome(server.url, { firstByteMillis: 50 })).toEqual({
        arrays: [],
        refused: {
          _tag: "Timeout",
          phase: "first_byte",
          message:
            "The upstream accepted the request and did not begin to answer within 50 ms (limits.firstByteMillis, or request_timeout or timeouts.first_byte of the config)."
        }
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: a stream that drips forever ends by the total timer (F6)", () =>
    Effect.gen(function* () {
      stopTime()
      const server = yield* rawServer((socket) => {
        socket.write(chunked)
        const drip = () => void (socket.destroyed || socket.write(piece("a\n"), () => setImmediate(drip)))
        drip()
      })
      const stream = yield* open(server.url, { totalMillis: 150 })
      const ended = Effect.runPromise(Effect.exit(Stream.runDrain(stream)))
      expect(reason(yield* Effect.promise(() => passUntilEnded(10, ended)))).toEqual({
        _tag: "Timeout",
        phase: "total",
        message:
          "The upstream did not finish its answer within 150 ms (limits.totalMillis, x-gateway-request-timeout, or timeouts.total of the config)."
      })
    }).pipe(Effect.provide(real))
  )

  for (const count of [1, 10, 1_000]) {
    it.live(`upstream stream: a reset after ${count} events gives those in order, then a cut answer (F9)`, () =>
      Effect.gen(function* () {
        const sent = Array.from({ length: count }, (_, i) => `event ${i}`)
        const server = yield* rawServer((socket) => {
          socket.write(chunked + sent.map((line) => piece(`${line}\n`)).join(""), () => socket.end())
        })
        const { arrays, broken } = yield* outcome(server.url)
        expect(arrays.flat()).toEqual(sent)
        expect(broken).toEqual(truncated)
        expect(server.accepted()).toBe(1)
      }).pipe(Effect.provide(real))
    )
  }

  it.live("upstream stream: a reset before the first event can be retried (F9)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.end(chunked))
      expect(yield* outcome(server.url)).toEqual({
        arrays: [],
        refused: {
          _tag: "Transport",
          kind: "reset",
          message: "The upstream closed the connection before its answer was complete."
        }
      })
    }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: no terminator, or fewer bytes than announced, is a cut answer (F10)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer(
        (socket, _, n) =>
          void socket.end(n === 1 ? chunked + piece("a\n") : "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\na\n")
      )
      const cut = { arrays: [["a"]], broken: truncated }
      expect([yield* outcome(server.url), yield* outcome(server.url)]).toEqual([cut, cut])
    }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: a proper end without the expected finish is its own failure (F12)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => void socket.end(`${chunked}${piece("a\n")}0\r\n\r\n`))
      expect(yield* outcome(server.url)).toEqual({
        arrays: [["a"]],
        broken: { _tag: "BadReply", kind: "truncated", message: "The upstream ended without a finish." }
      })
    }).pipe(Effect.provide(real))
  )

  it.live(
    "upstream stream: a failure as first event fails before any chunk, a later one after those before it (F13)",
    () =>
      Effect.gen(function* () {
        const server = yield* rawServer(
          (socket, _, n) =>
            void socket.end(`${chunked}${piece(n === 1 ? "FAIL\nnever\n" : "a\nb\nFAIL\nnever\n")}0\r\n\r\n`)
        )
        const failed: Reason = {
          _tag: "Overloaded",
          code: "upstream_unavailable",
          message: "The upstream has no capacity."
        }
        expect(yield* outcome(server.url)).toEqual({ arrays: [], refused: failed })
        expect(yield* outcome(server.url)).toEqual({ arrays: [["a", "b"]], broken: failed })
      }).pipe(Effect.provide(real))
  )

  it.live(
    "upstream stream: a refused stream keeps its status, its advice and a bounded body, and closes its socket (F15)",
    () =>
      Effect.gen(function* () {
        const server = yield* httpServer((request, response) => {
          request.resume()
          response.writeHead(503, { "retry-after": "2" }).end("x".repeat(5_000_000))
        })
        expect(yield* outcome(server.url)).toEqual({
          arrays: [],
          refused: { _tag: "Internal", status: 503, message: `1000 bytes: ${"x".repeat(20)}`, retryAfterMillis: 2_000 }
        })
        yield* Effect.promise(() => server.closed(1))
      }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: an encoded stream is not read (F16)", () =>
    Effect.gen(function* () {
      const server = yield* rawServer(
        (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b")
      )
      expect(yield* outcome(server.url)).toEqual({
        arrays: [],
        refused: {
          _tag: "BadReply",
          kind: "unreadable",
          message: "The upstream answered in a content encoding that was not asked for."
        }
      })
      yield* Effect.promise(() => server.closed(1))
    }).pipe(Effect.provide(real))
  )

  it.live(
    "upstream stream: one byte per read, splits inside characters, ten thousand events in one piece are read (F22)",
    () =>
      Effect.gen(function* () {
        const text = "smörgås\n日本語\n🙂🙃\nEND\n"
        const many = `${Array.from({ length: 10_000 }, (_, i) => String(i)).join("\n")}\nEND\n`
        const server = yield* rawServer((socket, _, n) => {
          if (n === 2) return void socket.end(`${chunked}${piece(many)}0\r\n\r\n`)
          socket.write(chunked)
          const bytes = [...Buffer.from(text)]
          const next = () => {
            const byte = bytes.shift()
            if (byte === undefined) return void socket.end("0\r\n\r\n")
            socket.write(Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]), () =>
              setImmediate(next)
            )
          }
          next()
        })
        expect((yield* outcome(server.url)).arrays.flat()).toEqual(["smörgås", "日本語", "🙂🙃"])
        expect((yield* outcome(server.url)).arrays.flat()).toEqual(many.split("\n").slice(0, -2))
      }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: a redirect of a stream is not followed (F24)", () =>
    Effect.gen(function* () {
      const trap = yield* netServer(() => {})
      const server = yield* rawServer(
        (socket) => void socket.write(`HTTP/1.1 302 Found\r\nlocation: ${trap.url}\r\ncontent-length: 0\r\n\r\n`)
      )
      expect(yield* outcome(server.url)).toEqual({
        arrays: [],
        refused: { _tag: "Internal", status: 302, message: "0 bytes: " }
      })
      expect(trap.accepted()).toBe(0)
    }).pipe(Effect.provide(real))
  )

  it.live(
    "upstream stream: a caller who leaves closes the socket: before the head, before the first event, in the middle (F26)",
    () =>
      Effect.gen(function* () {
        const asked: Array<() => void> = []
        const server = yield* rawServer((socket, request) => {
          if (request.startsWith("POST /event")) socket.write(chunked)
          if (request.startsWith("POST /middle")) socket.write(chunked + piece("a\n"))
          asked.shift()?.()
        })
        for (const [n, path] of [
          [1, "/head"],
          [2, "/event"]
        ] as const) {
          const arrived = new Promise<void>((resolve) => asked.push(resolve))
          const waiting = yield* Effect.forkChild(Effect.scoped(open(server.url + path)))
          yield* Effect.promise(() => arrived)
          yield* Fiber.interrupt(waiting)
          yield* Effect.promise(() => server.closed(n))
        }
        const scope = yield* Scope.make()
        const stream = yield* Scope.provide(open(`${server.url}/middle`), scope)
        expect(yield* Stream.runCollect(Stream.take(stream, 1))).toEqual(["a"])
        yield* Scope.close(scope, Exit.void)
        yield* Effect.promise(() => server.closed(3))
      }).pipe(Effect.provide(real))
  )

  it.live("upstream stream: nothing is lost while a reader yields to others, nor is the end (F22, F28)", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 40 }, (_, n) => `${n} ${"x".repeat(4_000)}`)
      const server = yield* rawServer((socket) => {
        const rest = [...many]
        const next = () => {
          const one = rest.shift()
          socket.write(one === undefined ? `${piece("END\n")}0\r\n\r\n` : piece(`${one}\n`))
          if (one !== undefined) setImmediate(next)
        }
        socket.setNoDelay(true)
        socket.write(chunked)
        next()
      })
      for (let turns = 5; turns <= 60; turns++) {
        // A reader that gives way after so many steps does so in the middle of a pull sooner or later.
        const { arrays, ...rest } = yield* Effect.provideService(
          outcome(server.url),
          Scheduler.MaxOpsBeforeYield,
          turns
        )
        expect([arrays.flat(), rest]).toEqual([many, {}])
      }
    }).pipe(
      Effect.provide(
        Layer.fresh(
          Upstream.layer.pipe(
            Layer.provide(Transport.layer),
            Layer.provide(Layer.succeed(Limits, { ...defaultLimits, streamWindowBytes: 8_000 }))
          )
        )
      )
    )
  )

  it.live(
    "upstream stream: back-pressure reaches the upstream, and a paused reader is not an idle upstream (F28)",
    () =>
      Effect.gen(function* () {
        stopTime()
        let written = 0
        const line = `${"x".repeat(65_000)}\n`
        const server = yield* rawServer((socket) => {
          socket.write(chunked)
          const more = () => {
            while (written++ < 500) if (!socket.write(piece(line))) return
            socket.end(`${piece("END\n")}0\r\n\r\n`)
          }
          socket.on("drain", more)
          more()
        })
        const stream = yield* open(server.url, { idleMillis: 400, totalMillis: 60_000 })
        yield* Effect.promise(() => standstill(() => written))
        // Loopback buffers hold a few megabytes, not 32.
        expect(written).toBeLessThan(400)
        // Nothing is pulled for longer than the idle timer.
        passTime(4_000)
        let count = 0
        yield* Stream.runForEach(stream, () => Effect.sync(() => count++))
        expect(count).toBe(500)
      }).pipe(Effect.provide(real))
  )
})
