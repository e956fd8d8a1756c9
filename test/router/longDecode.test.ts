// Long answers under the deadline of a client: each call has the time that is left, and none follows a passed deadline.
// Must not know how calls follow each other.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Gateway } from "../../src/Gateway.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { googleAccount, requestContext } from "../support/account.ts"
import { reply } from "../support/gemini.ts"
import { settingsFor } from "../support/TestGateway.ts"

const unfinished = JSON.stringify(
  reply([{ text: "One " }], { finishReason: "CONTINUATION", continuationToken: "dG9rZW4x" })
)

/** Each call takes 600 ms and leaves the answer unfinished; `times` are the milliseconds that each may take. */
const world = () => {
  const times: Array<number> = []
  const transport = Transport.layerTest(({ totalMillis, url }) => {
    times.push(totalMillis)
    const response = url.includes("stream")
      ? { status: 200, headers: { "content-type": "text/event-stream" }, chunks: [`data: ${unfinished}\n\n`] }
      : { status: 200, chunks: [unfinished] }
    return Effect.delay(Effect.succeed(response), "600 millis")
  })
  const settings = settingsFor("http://unused.invalid", { accounts: [googleAccount] })
  return { times, layer: Gateway.layerNoDeps(settings).pipe(Layer.orDie, Layer.provide(transport)) }
}

const asked: ChatRequest = {
  model: "@google/gemini-4-neon",
  messages: [{ role: "user", content: "Write." }],
  max_tokens: 100_000
}
/** The test clock starts at 0. */
const context = { ...requestContext, startedMillis: 0, deadlineMillis: 1_000 }
const ending = { finish_reason: "length", continuation_token: "dG9rZW4x" }

it.effect("long decode: a deadline within a later call ends the answer with what there is (M-604, M-606)", () => {
  const { layer, times } = world()
  return Effect.gen(function* () {
    const router = yield* ProviderRouter
    const fiber = yield* Effect.forkChild(router.run("chat", asked, context))
    yield* TestClock.adjust("1200 millis")
    const { value } = yield* Fiber.join(fiber)
    expect(value).toMatchObject({
      continuation: "interrupted",
      choices: [{ ...ending, message: { content: "One " } }]
    })
    expect(times).toStrictEqual([1_000, 400])
  }).pipe(Effect.provide(layer))
})

it.effect("long decode: a deadline within a later call ends a stream with its length and token (M-604, M-606)", () => {
  const { layer, times } = world()
  return Effect.gen(function* () {
    const router = yield* ProviderRouter
    const stream = { ...asked, stream: true }
    const fiber = yield* Effect.forkChild(
      Effect.flatMap(router.open("chat", stream, context), ({ chunks }) => Stream.runCollect(chunks))
    )
    yield* TestClock.adjust("1200 millis")
    const choices = (yield* Fiber.join(fiber)).flatMap((chunk) => chunk.choices)
    expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe("One ")
    expect(choices.at(-1)).toMatchObject(ending)
    expect(times).toStrictEqual([1_000, 400])
  }).pipe(Effect.scoped, Effect.provide(layer))
})
