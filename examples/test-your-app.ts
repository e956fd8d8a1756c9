// A test of an application that embeds the gateway: no sockets, no clock, no randomness. The answer is exact.
// Runs on its own. The same code works inside `it.effect` of @effect/vitest.
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, providerAccount, type Settings } from "model-gateway"
import { FreshId, Gateway, Transport, WebHandler } from "model-gateway/testing"

const settings: Settings = {
  server: { host: "127.0.0.1", port: 0 },
  accounts: [
    providerAccount({
      slug: "google",
      kind: "google",
      credentials: { _tag: "ApiKey", key: Redacted.make("test-api-key") }
    })
  ],
  keys: [{ name: "test", key: Redacted.make("mgk_test") }],
  limits: defaultLimits
}

/** Records what is sent; the test writes what comes back. */
const sent: Array<string> = []
const Network = Transport.layerTest(({ body, url }) => {
  sent.push(`${url} ${String(body)}`)
  return {
    status: 200,
    chunks: [
      JSON.stringify({
        candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      })
    ]
  }
})

const program = Effect.gen(function* () {
  const handler = yield* WebHandler
  const response = yield* Effect.promise(() =>
    handler(
      new Request("http://gateway/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": "mgk_test" },
        body: JSON.stringify({ model: "@google/gemini-3.8-flash", messages: [{ role: "user", content: "Hello" }] })
      })
    )
  )
  assert.deepEqual(yield* Effect.promise(() => response.json()), {
    id: "chatcmpl-00000000-0000-7000-8000-000000000001",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "gemini-3.8-flash",
    choices: [
      { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content: "Hi", refusal: null } }
    ],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      prompt_tokens_details: { cached_tokens: 0 }
    }
  })
  assert.deepEqual(sent, [
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:generateContent {"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}'
  ])
  console.log("the answer is exact")
})

const App = Gateway.layerTest(settings).pipe(
  Layer.provide([Network, Layer.succeed(FreshId, () => "00000000-0000-7000-8000-000000000001")])
)

const test = Effect.andThen(TestClock.setTime(1_700_000_000_000), Effect.provide(program, App))
await Effect.runPromise(Effect.provide(test, TestClock.layer()))
