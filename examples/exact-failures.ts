// A test of failures on a test clock: a retry, a fallback, a timeout, and a stream that is cut at a chosen byte.
// Runs on its own. Everything happens twice, and both runs print the same: time, ids and chance are services.
import assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, providerAccount, type Settings } from "model-gateway"
import { FreshId, Gateway, Transport, type TransportScript, WebHandler } from "model-gateway/testing"

const account = (slug: string) =>
  providerAccount({ slug, kind: "google", credentials: { _tag: "ApiKey", key: Redacted.make(`key-of-${slug}`) } })

const settings: Settings = {
  server: { host: "127.0.0.1", port: 0 },
  accounts: [account("main"), account("spare")],
  keys: [{ name: "test", key: Redacted.make("mgk_test") }],
  limits: defaultLimits
}

const reply = (text: string) =>
  JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }] })
const event = (text: string) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] })}\r\n\r\n`

/** What Google does with each model; `call` counts from 1. */
const network = (lines: Array<string>): TransportScript => {
  let call = 0
  return ({ auth, url }) => {
    const key = Redacted.value(auth["x-goog-api-key"] ?? Redacted.make(""))
    const model = /models\/([^:]+)/.exec(url)?.[1]
    lines.push(`call ${++call} of ${model} with ${key}`)
    if (model === "busy-once") return call === 1 ? { status: 503 } : { status: 200, chunks: [reply("second try")] }
    if (model === "down" && key === "key-of-main") return { status: 500 }
    if (model === "silent") return { status: 200, headMillis: 600_000, chunks: [reply("too late")] }
    const events = [event("Hello"), { pauseMillis: 1_000 }, event(" world")]
    return model === "cut"
      ? { status: 200, chunks: events, cutAfterBytes: 100 }
      : { status: 200, chunks: [reply("spare")] }
  }
}

const requests = [
  { model: "@main/busy-once", config: { retry: { attempts: 1 } } },
  {
    model: "down",
    config: { strategy: { mode: "fallback" }, targets: [{ provider: "@main" }, { provider: "@spare" }] }
  },
  { model: "@main/silent", config: { request_timeout: 5_000 } },
  { model: "@main/cut", config: {}, stream: true }
]

/** Every request after the other; the clock moves by itself until each is answered. */
const run = Effect.gen(function* () {
  yield* TestClock.setTime(1_700_000_000_000)
  const lines: Array<string> = []
  const App = Gateway.layerTest(settings).pipe(
    Layer.provide([
      Transport.layerTest(network(lines)),
      Layer.succeed(FreshId, () => "00000000-0000-7000-8000-000000000001"),
      Layer.succeed(Random.Random, { nextDoubleUnsafe: () => 0.5, nextIntUnsafe: () => 0 })
    ])
  )
  const ask = Effect.gen(function* () {
    const handler = yield* WebHandler
    for (const { config, ...body } of requests) {
      const response = yield* Effect.promise(() =>
        handler(
          new Request("http://gateway/v1/chat/completions", {
            method: "POST",
            headers: {
              "content-type": "application/json",
              "x-gateway-api-key": "mgk_test",
              "x-gateway-config": JSON.stringify(config)
            },
            body: JSON.stringify({ ...body, messages: [{ role: "user", content: "Hi" }] })
          })
        )
      )
      lines.push(`${response.status} ${yield* Effect.promise(() => response.text())}`)
    }
  })
  const asking = yield* Effect.forkChild(Effect.provide(ask, App))
  while (asking.pollUnsafe() === undefined) {
    yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
    yield* TestClock.adjust(20)
  }
  yield* Fiber.join(asking)
  return lines
})

const once = () => Effect.runPromise(Effect.provide(run, TestClock.layer()))
const [first, second] = [await once(), await once()]
assert.deepEqual(first, second)
console.log(first.join("\n"))
