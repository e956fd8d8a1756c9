// Tests the log writer: batches in order; a stalled sink costs lines and nothing else.
// Must not depend on the lines' content.
import { Writable } from "node:stream"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { LogSink, LogWriter } from "../../src/telemetry/LogWriter.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A sink that accepts a batch when the test releases it. */
const slowSink = () => {
  const batches: Array<string> = []
  let done: ((error?: Error) => void) | undefined
  const sink = new Writable({
    highWaterMark: 1,
    write: (bytes: Buffer, _encoding, callback) => {
      batches.push(bytes.toString("utf8"))
      done = callback
    }
  })
  return {
    sink,
    batches,
    take: async (error?: Error) => {
      done?.(error)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

const writer = async (sink: Writable, logBytes: number) => {
  const scope = Scope.makeUnsafe()
  const made = await Effect.runPromise(
    LogWriter.make.pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.provideService(LogSink, sink),
      Effect.provideService(Limits, { ...defaultLimits, logBytes })
    )
  )
  return { made, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

it("log writer: collects lines for 100 ms and writes them together", async () => {
  const { batches, sink } = slowSink()
  const { made } = await writer(sink, 1000)
  made.write("a")
  made.write("bé")
  vi.advanceTimersByTime(99)
  expect([batches, made.depth]).toEqual([[], 2])
  vi.advanceTimersByTime(1)
  expect([batches, made.depth]).toEqual([["a\nbé\n"], 0])
})

it("log writer: writes 500 lines immediately", async () => {
  const { batches, sink } = slowSink()
  const { made } = await writer(sink, 100_000)
  for (let at = 0; at < 501; at++) made.write(`line ${at}`)
  expect(batches.map((batch) => batch.split("\n").length - 1)).toEqual([500])
  expect(made.depth).toBe(1)
})

it("log writer: while the reader stalls, drops and counts lines beyond its bound, and keeps the rest in order", async () => {
  const { batches, sink, take } = slowSink()
  const { close, made } = await writer(sink, 20)
  made.write("first")
  vi.advanceTimersByTime(100)
  for (let at = 0; at < 10; at++) made.write(`l${at}`)
  expect([made.depth, made.dropped]).toEqual([5, 5])
  await take()
  expect(batches).toEqual(["first\n", "l0\nl1\nl2\nl3\nl4\n"])
  made.write("again")
  const closed = close()
  await take()
  await take()
  await closed
  expect([batches.slice(2), made.depth, made.dropped]).toEqual([["again\n"], 0, 5])
})

it("log writer: drops and counts lines on a broken pipe, and the process lives on", async () => {
  const { sink, take } = slowSink()
  const { close, made } = await writer(sink, 1000)
  made.write("a")
  made.write("b")
  vi.advanceTimersByTime(100)
  await take(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))
  made.write("c")
  await close()
  expect([made.dropped, made.depth]).toEqual([3, 0])
})

it("log writer: closing does not wait forever for a stalled reader", async () => {
  const { sink } = slowSink()
  const { close, made } = await writer(sink, 1000)
  made.write("a")
  const closed = close()
  await vi.advanceTimersByTimeAsync(1000)
  await closed
  expect(made.depth).toBe(0)
})

it("log writer: drops a line longer than its buffer", async () => {
  const { sink } = slowSink()
  const { made } = await writer(sink, 10)
  made.write("x".repeat(11))
  expect([made.depth, made.dropped]).toEqual([0, 1])
})
