// Tests host look-ups at a name server of the test, over UDP.
// Must not reach the network beyond its own sockets.
import { createSocket, type Socket } from "node:dgram"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { hostAddressesBy } from "../../src/upstream/MediaFetch.ts"

/** Addresses in a DNS reply: IPv4 in 4 bytes, IPv6 in 16; undefined for no reply, a number for an error code. */
type Records = Readonly<Record<string, ReadonlyArray<Buffer> | number | undefined>>

const questionOf = (query: Buffer): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString())
    at += 1 + length
  }
  return { name: `${labels.join(".")} ${query.readUInt16BE(at + 1) === 1 ? "A" : "AAAA"}`, end: at + 5 }
}

const answerTo = (query: Buffer, end: number, answer: ReadonlyArray<Buffer> | number): Buffer => {
  const records = typeof answer === "number" ? [] : answer
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 + (typeof answer === "number" ? answer : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([
    head,
    query.subarray(12, end),
    ...records.map((address) =>
      Buffer.concat([
        Buffer.of(0xc0, 12, 0, address.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, address.length),
        address
      ])
    )
  ])
}

/** A name server and its received questions; the socket emits an event for each. */
const nameServer = (records: Records) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{
          readonly socket: Socket
          readonly servers: ReadonlyArray<string>
          readonly asked: Array<string>
        }>((resolve) => {
          const socket = createSocket("udp4")
          const asked: Array<string> = []
          socket.on("message", (query, { port }) => {
            const { end, name } = questionOf(query)
            asked.push(name)
            const answer = Object.hasOwn(records, name) ? records[name] : 3
            if (answer !== undefined) socket.send(answerTo(query, end, answer), port, "127.0.0.1")
            socket.emit("asked")
          })
          socket.bind(0, "127.0.0.1", () => resolve({ socket, servers: [`127.0.0.1:${socket.address().port}`], asked }))
        })
    ),
    ({ socket }) => Effect.promise(() => new Promise<void>((done) => socket.close(() => done())))
  )

const v6 = Buffer.concat([Buffer.of(0x26, 0x06, 0x47, 0), Buffer.alloc(11), Buffer.of(1)])

describe("the addresses of a host", () => {
  it.live("host addresses: are all IPv4 and IPv6 addresses of the name without search domains (TH7)", () =>
    Effect.gen(function* () {
      const { asked, servers } = yield* nameServer({
        "media.example A": [Buffer.of(93, 184, 216, 34), Buffer.of(10, 0, 0, 1)],
        "media.example AAAA": [v6]
      })
      expect(yield* hostAddressesBy(servers)("media.example")).toEqual(["93.184.216.34", "10.0.0.1", "2606:4700::1"])
      expect(asked.sort()).toEqual(["media.example A", "media.example AAAA"])
    })
  )
  it.live("host addresses: may be of one kind (TH7)", () =>
    Effect.gen(function* () {
      const { servers } = yield* nameServer({ "media.example A": [Buffer.of(1, 2, 3, 4)], "media.example AAAA": [] })
      expect(yield* hostAddressesBy(servers)("media.example")).toEqual(["1.2.3.4"])
    })
  )
  it.live("host addresses: are none for an unknown name or a refused query (TH7)", () =>
    Effect.gen(function* () {
      const { asked, servers } = yield* nameServer({ "refused.example A": 5, "refused.example AAAA": 5 })
      expect(yield* hostAddressesBy(servers)("unknown.example")).toEqual([])
      expect(yield* hostAddressesBy(servers)("refused.example")).toEqual([])
      expect([...new Set(asked)].sort()).toEqual([
        "refused.example A",
        "refused.example AAAA",
        "unknown.example A",
        "unknown.example AAAA"
      ])
    })
  )
  it.live("host addresses: are not awaited after an interruption (TH7)", () =>
    Effect.gen(function* () {
      const { servers, socket } = yield* nameServer({ "silent.example A": undefined, "silent.example AAAA": undefined })
      const heard = new Promise((resolve) => socket.once("asked", resolve))
      const running = yield* Effect.forkChild(hostAddressesBy(servers)("silent.example"))
      yield* Effect.promise(() => heard)
      yield* Fiber.interrupt(running)
      expect(running.pollUnsafe()?._tag).toBe("Failure")
    })
  )
})
