// Tests x-gateway-request-timeout while a request waits for something other than its upstream: a token, its admission.
// Must not depend on other timers, which are all longer.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { afterEach, describe, expect, it } from "vitest"
import { type Credentials, providerAccount } from "../../src/domain/ProviderAccount.ts"
import { Gateway } from "../../src/Gateway.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { until } from "../support/eventually.ts"
import { gatewayOver, replying } from "../support/scripted.ts"
import { startScriptedRedis } from "../support/scriptedRedis.ts"
import { passTime, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, serviceAccount, settingsFor } from "../support/TestGateway.ts"
import { webFace } from "../support/ways.ts"

const credentials: Credentials = {
  _tag: "ServiceAccount",
  key: {
    clientEmail: serviceAccount.clientEmail,
    privateKeyId: serviceAccount.privateKeyId,
    privateKey: Redacted.make(serviceAccount.privateKeyPem),
    projectId: serviceAccount.projectId
  }
}
const tokenUrl = "http://sts.example:9443/token"
const accounts = [
  providerAccount({
    slug: "vertex-ai",
    kind: "vertex-ai",
    project_id: "test-project",
    region: "us-central1",
    token_url: tokenUrl,
    credentials
  })
]
const body = { model: "@vertex-ai/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }
const hurried = { "x-gateway-request-timeout": "500" }
const references = Layer.sync(Metric.MetricRegistry, () => new Map())

const closing: Array<() => Promise<void>> = []
afterEach(async () => {
  resumeTime()
  for (const close of closing.splice(0).toReversed()) await close()
})

const late = (message: string) => [
  504,
  { error: { message, type: "api_error", param: null, code: "upstream_timeout" } }
]

describe("deadline of a request", () => {
  it.each([false, true])(
    "deadline: bounds the wait for a token endpoint that is silent, stream %s (S12)",
    async (stream) => {
      stopTime()
      const called: Array<string> = []
      const { dispose, handler } = webFace(
        Gateway.layerNoDeps(settingsFor("http://unused.invalid", { accounts })).pipe(
          Layer.provide(
            Transport.layerTest(({ url }) => {
              called.push(url)
              return url === tokenUrl ? Effect.never : Effect.succeed(replying({}))
            })
          ),
          Layer.provideMerge(references)
        )
      )
      closing.push(dispose)
      const answering = handler(
        new Request("http://gateway/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, ...hurried },
          body: JSON.stringify({ ...body, stream })
        })
      )
      await until(() => called.length === 1)
      passTime(500)
      const answer = await answering
      expect([answer.status, await answer.json()]).toEqual(
        late("The deadline of the request passed while its access token was fetched.")
      )
      expect(called).toEqual([tokenUrl])
    }
  )

  it("deadline: bounds the admission of a key with limits, and nothing is called (S12)", async () => {
    stopTime()
    // A Redis that never answers about limits.
    const redis = await startScriptedRedis(([name]) => (name === "SCRIPT" ? `$40\r\n${"a".repeat(40)}\r\n` : ""))
    closing.push(redis.close)
    const gateway = gatewayOver(() => Effect.succeed(replying({})), {
      accounts,
      references,
      settings: {
        redis: Redacted.make(redis.url),
        keys: [
          {
            name: "ci",
            key: Redacted.make(gatewayKey),
            rate_limit: { requests_per_minute: 100 }
          }
        ]
      }
    })
    closing.push(gateway.dispose)
    const answering = gateway.post("/v1/chat/completions", body, hurried)
    await until(() => redis.commands.some(([name]) => name === "EVALSHA"))
    passTime(500)
    const answer = await answering
    expect([answer.status, await answer.json()]).toEqual(
      late("The deadline of the request had passed before the upstream was called.")
    )
    expect(gateway.seen).toEqual([])
  })
})
