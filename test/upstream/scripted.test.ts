// Tests the timeouts of scripted calls on a test clock: the four of a call, and the byte at which a body is cut.
// Must not wait for real time.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it } from "@effect/vitest"
import { type ScriptedResponse, Transport, type TransportRequest } from "../../src/testing.ts"

const request: TransportRequest = {
  method: "GET",
  url: "https://host.invalid/",
  headers: {},
  auth: {},
  body: undefined,
  connectMillis: 10,
  firstByteMillis: 100,
  idleMillis: 50,
  totalMillis: 200
}

/** What a stream gives until its end: the text of its reads, then the fault, or "done". */
const streamed = Effect.gen(function* () {
  const { body } = yield* (yield* Transport).open(request)
  const reads: Array<string> = []
  for (;;) {
    const pulled = yield* Effect.result(body)
    if (pulled._tag === "Failure") return [...reads, Cause.isDone(pulled.failure) ? "done" : pulled.failure.kind]
    reads.push(...pulled.success.map((bytes) => new TextDecoder().decode(bytes)))
  }
}).pipe(
  Effect.scoped,
  Effect.catchTag("TransportFault", ({ kind }) => Effect.succeed([kind]))
)

const collected = Effect.gen(function* () {
  const { bytes } = yield* (yield* Transport).collect(request, { replyBytes: 1000, errorBytes: 1000 })
  return [new TextDecoder().decode(bytes), "done"]
}).pipe(
  Effect.scoped,
  Effect.catchTag("TransportFault", ({ kind }) => Effect.succeed([kind]))
)

/** The outcome, and the milliseconds of the clock until then. */
const timed = (outcome: typeof collected, script: ScriptedResponse | Effect.Effect<ScriptedResponse>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(
      Effect.zip(
        Effect.scoped(outcome),
        Effect.clockWith((clock) => clock.currentTimeMillis)
      )
    )
    yield* TestClock.adjust(1_000)
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(Transport.layerTest(() => script)))

const rows: ReadonlyArray<
  readonly [
    name: string,
    script: ScriptedResponse,
    stream: ReadonlyArray<string>,
    whole: ReadonlyArray<string>,
    millis: number
  ]
> = [
  ["a connection in time", { status: 200, connectMillis: 9, chunks: ["a"] }, ["a", "done"], ["a", "done"], 9],
  ["no connection", { status: 200, connectMillis: 11, chunks: ["a"] }, ["connect_timeout"], ["connect_timeout"], 10],
  [
    "a late head",
    { status: 200, connectMillis: 5, headMillis: 101 },
    ["first_byte_timeout"],
    ["first_byte_timeout"],
    105
  ],
  [
    "silence within a body",
    { status: 200, chunks: ["a", { pauseMillis: 51 }, "b"] },
    ["a", "idle_timeout"],
    ["idle_timeout"],
    50
  ],
  [
    "a long body",
    {
      status: 200,
      headMillis: 90,
      chunks: ["a", { pauseMillis: 49 }, "b", { pauseMillis: 49 }, "c", { pauseMillis: 49 }, "d"]
    },
    ["a", "b", "c", "total_timeout"],
    ["total_timeout"],
    200
  ],
  ["a cut body", { status: 200, chunks: ["abc", "def"], cutAfterBytes: 4 }, ["abc", "d", "reset"], ["reset"], 0],
  ["a body as long as its cut", { status: 200, chunks: ["abc"], cutAfterBytes: 3 }, ["abc", "done"], ["abc", "done"], 0]
]

describe("scripted transport", () => {
  it.effect.each(rows)("scripted transport: %s, as a stream", ([, script, stream, , millis]) =>
    Effect.map(timed(streamed, script), (found) => expect(found).toEqual([stream, millis]))
  )

  it.effect.each(rows)("scripted transport: %s, collected", ([, script, , whole, millis]) =>
    Effect.map(timed(collected, script), (found) => expect(found).toEqual([whole, millis]))
  )

  it.effect("scripted transport: a script that never answers has the timeout of the first byte", () =>
    Effect.map(timed(streamed, Effect.never), (found) => expect(found).toEqual([["first_byte_timeout"], 100]))
  )
})
