// Tests what waits of a stream for a reader, with a connection of the test's own.
// Must not open a socket.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type Call, StreamCall, type Wire } from "../../src/upstream/HttpCall.ts"
import type { TransportResponse } from "../../src/upstream/HttpExchange.ts"

/** A call whose head has come, its connection, and what the call has asked of that. */
const opened = (windowBytes: number) =>
  Effect.gen(function* () {
    const asked: Array<"pause" | "resume" | "abort"> = []
    const controller = {
      rawHeaders: [Buffer.from("content-type"), Buffer.from("text/event-stream")],
      abort: () => void asked.push("abort"),
      pause: () => void asked.push("pause"),
      resume: () => void asked.push("resume")
    }
    const dispatch = (_request: unknown, handler: Call): void => {
      handler.onRequestStart(controller)
      handler.onResponseStart(controller, 200, {})
    }
    const wire: Wire = { windowBytes, staleMillis: 5, opened: false, dispatch }
    const call = new StreamCall(wire, {
      method: "POST",
      url: "http://127.0.0.1/",
      headers: {},
      auth: {},
      body: undefined,
      connectMillis: 60 * 1000,
      firstByteMillis: 60 * 1000,
      idleMillis: 60 * 1000,
      totalMillis: 60 * 1000
    })
    const { body } = yield* call.head
    yield* Effect.addFinalizer(() => call.close)
    return { asked, body, controller, receive: (bytes: number) => call.onResponseData(controller, Buffer.alloc(bytes)) }
  })

const sizes = (body: TransportResponse["body"]) => Effect.map(body, (pieces) => pieces.map(({ length }) => length))

it.effect(
  "upstream stream: a slow reader holds back the upstream beyond 16 KiB, and gets as much at a time (F28)",
  () =>
    Effect.gen(function* () {
      const { asked, body, receive } = yield* opened(64 * 1024)
      receive(1)
      expect([yield* sizes(body), asked]).toEqual([[1], []])
      receive(40_000)
      expect(asked).toEqual(["pause"])
      expect([yield* sizes(body), asked]).toEqual([[16_384], ["pause"]])
      expect([yield* sizes(body), asked]).toEqual([[40_000 - 16_384], ["pause", "resume"]])
    }).pipe(Effect.scoped)
)

it.effect(
  "upstream stream: a waiting reader gets all reads of a turn together, and beyond the window they are held back (F28)",
  () =>
    Effect.gen(function* () {
      const { asked, body, receive } = yield* opened(50_000)
      const reader = yield* Effect.forkChild(sizes(body), { startImmediately: true })
      receive(30_000)
      receive(20_000)
      expect(asked).toEqual([])
      expect([yield* Fiber.join(reader), asked]).toEqual([[30_000, 20_000], []])
      const next = yield* Effect.forkChild(sizes(body), { startImmediately: true })
      receive(30_000)
      receive(20_001)
      expect(asked).toEqual(["pause"])
      expect(yield* Fiber.join(next)).toEqual([16_384])
    }).pipe(Effect.scoped)
)

it.effect("upstream stream: a slow reader gets small reads together, 16 KiB at a time (F28)", () =>
  Effect.gen(function* () {
    const { body, receive } = yield* opened(64 * 1024)
    receive(1)
    expect(yield* sizes(body)).toEqual([1])
    for (const bytes of [6_000, 10_384, 1, 20_000]) receive(bytes)
    expect(yield* sizes(body)).toEqual([6_000, 10_384])
    expect(yield* sizes(body)).toEqual([1, 20_000])
  }).pipe(Effect.scoped)
)

it.effect("upstream stream: lets go of the network read that its head came with (F28)", () =>
  Effect.gen(function* () {
    const { controller } = yield* opened(64 * 1024)
    expect(controller.rawHeaders).toBe(null)
  }).pipe(Effect.scoped)
)

it.effect("upstream stream: chunks of one byte reach the reader in few pieces, larger ones as they came (L31)", () =>
  Effect.gen(function* () {
    const { body, receive } = yield* opened(64 * 1024)
    for (let count = 0; count < 1_000; count++) receive(1)
    receive(300)
    receive(300)
    expect(yield* sizes(body)).toEqual([256, 256, 256, 128, 64, 32, 8, 300, 300])
  }).pipe(Effect.scoped)
)
