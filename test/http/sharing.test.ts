// Tests two gateways on one Redis: shared cached answers, tool call signatures and open circuits.
// Must not run without a Redis: it is skipped there.
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { randomUUID } from "node:crypto"
import { afterAll, describe, expect, it } from "vitest"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { accountedGateway } from "../support/accounted.ts"
import { inline } from "../support/config.ts"
import { until } from "../support/eventually.ts"
import { reply } from "../support/gemini.ts"
import { redisUrl, removeKeys, saidWithoutRedis } from "../support/redis.ts"
import { type gatewayOver, gatewaysOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const path = "/v1/chat/completions"
const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "hi" }] }
const otherKey = "mgk_other000000000000000000000000000"
const over = gatewaysOver()
const busy = { status: 503, chunks: [JSON.stringify({ error: { code: 503, message: "Not now." } })] }
const circuit = inline({ cb_config: { failure_threshold: 2, cooldown_interval: 600_000 }, retry: { attempts: 0 } })

type Script = Parameters<typeof gatewayOver>[0]

const keys = [
  ["test", gatewayKey],
  ["other", otherKey]
].map(([name = "", key = ""]) => ({ name, key: Redacted.make(key) }))

const told = async (answer: Response) => {
  const body: {
    readonly choices?: ReadonlyArray<{ readonly message: { readonly content: string } }>
    readonly error?: { readonly message: string }
  } = JSON.parse(await answer.text())
  return `${answer.headers.get("x-gateway-cache-status")} ${body.error?.message ?? body.choices?.[0]?.message.content}`
}

describe.runIf(saidWithoutRedis("two gateways on one Redis"))("two gateways on one Redis", () => {
  const prefixes: Array<string> = []
  afterAll(async () => {
    for (const prefix of prefixes) await removeKeys(prefix)
  })
  const two = (script: Script, ofSecond = script): readonly [ScriptedGateway, ScriptedGateway] => {
    const prefix = `mgw-test:${randomUUID()}:`
    prefixes.push(prefix)
    const one = (own: Script) =>
      over(own, {
        keys,
        settings: redisUrl === undefined ? {} : { redis: Redacted.make(redisUrl) },
        references: Layer.merge(
          Layer.succeed(RedisPrefix, prefix),
          Layer.sync(Metric.MetricRegistry, () => new Map())
        )
      })
    return [one(script), one(ofSecond)]
  }

  it("shared cache: a gateway replays the other's answers and streams, and a refresh serves both", async () => {
    let n = 0
    const [a, b] = two(({ url }) => {
      const answer = reply([{ text: String(++n) }], { finishReason: "STOP" })
      return url.includes(":stream")
        ? { status: 200, chunks: [`data: ${JSON.stringify(answer)}\r\n\r\n`] }
        : replying(answer)
    })
    const ask = { "x-gateway-cache": "60" }
    const said = []
    for (const [gateway, headers] of [
      [a, ask],
      [b, ask],
      [b, { "x-gateway-cache": "refresh" }],
      [a, ask],
      [a, { ...ask, "x-gateway-api-key": otherKey }],
      [b, {}]
    ] as const) {
      said.push(await told(await gateway.post(path, hello, headers)))
    }
    expect(said).toEqual(["MISS 1", "HIT 1", "REFRESH 2", "HIT 2", "MISS 3", "DISABLED 4"])
    const streams = []
    for (const gateway of [a, b]) streams.push(await (await gateway.post(path, { ...hello, stream: true }, ask)).text())
    expect([streams[0] === streams[1], n]).toEqual([true, 5])
  })

  it("shared signatures: each gateway continues the other's tool loops, for the same key only (TH37)", async () => {
    const [a, b] = two(() =>
      replying(
        reply([{ functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: "c2lnbmVk" }], {
          finishReason: "STOP"
        })
      )
    )
    const model = "@google/gemini-3-pro-preview"
    const tools = [
      {
        type: "function",
        function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }
      }
    ]
    const question = { role: "user", content: "What is the weather in Paris?" }
    const first: {
      readonly choices: ReadonlyArray<{
        readonly message: { readonly tool_calls: ReadonlyArray<{ readonly id: string }> }
      }>
    } = JSON.parse(await (await a.post(path, { model, tools, messages: [question] })).text())
    const message = first.choices[0]?.message
    const messages = [
      question,
      message,
      { role: "tool", tool_call_id: message?.tool_calls[0]?.id, content: "21 degrees" }
    ]
    await b.post(path, { model, tools, messages })
    await b.post(path, { model, tools, messages }, { "x-gateway-api-key": otherKey })
    const signatures = b.seen.map(({ body }) => JSON.stringify(body).match(/"thoughtSignature":"([^"]*)"/)?.[1])
    expect(signatures).toEqual(["c2lnbmVk", "skip_thought_signature_validator"])
  })

  it("shared circuits: a target that failed at either gateway is skipped, for the key that met it", async () => {
    // The second is never failed, so whatever it knows it has from the first.
    const [a, b] = two(
      () => busy,
      () => replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
    )
    const open = "The upstream was not called: it failed too often of late."
    const ask = async (gateway: ScriptedGateway, headers = {}) =>
      (await told(await gateway.post(path, hello, { ...circuit, ...headers }))).replace(/^\w+ /, "")
    expect([await ask(a), await ask(a), await ask(a), a.seen.length]).toEqual(["Not now.", "Not now.", open, 2])
    // Nothing is heard without a turn of the event loop: these gateways have no sockets.
    await until(async () => (await ask(b)) !== "fine")
    expect([await ask(b), await ask(b, { "x-gateway-api-key": otherKey })]).toEqual([open, "fine"])
  })
})

describe("circuit state", () => {
  it("circuit state: reports failed targets, under names that no client makes up (TH32)", async () => {
    const gateway = accountedGateway(() => busy)
    const state = async () => (await gateway.metrics()).filter((line) => line.startsWith("gateway_circuit_state{"))
    await gateway.post(path, hello, circuit)
    expect(await state()).toEqual([])
    await gateway.post(path, hello, circuit)
    for (const model of ["gemini-made-up-1", "gemini-made-up-2"])
      for (let n = 0; n < 2; n++) await gateway.post(path, { ...hello, model: `@google/${model}` }, circuit)
    expect(await state()).toEqual([
      'gateway_circuit_state{target="google/gemini-2.5-flash"} 2',
      'gateway_circuit_state{target="google/other"} 2'
    ])
    await gateway.dispose()
  })

  it("circuit state: goes back to closed after a probe that succeeds", async () => {
    let isDown = true
    const gateway = accountedGateway(() =>
      isDown ? busy : replying(reply([{ text: "fine" }], { finishReason: "STOP" }))
    )
    const quick = inline({ cb_config: { failure_threshold: 1, cooldown_interval: 1 }, retry: { attempts: 0 } })
    await gateway.post(path, hello, quick)
    isDown = false
    await until(async () => (await gateway.post(path, hello, quick)).status === 200)
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_circuit_state{"))).toEqual([
      'gateway_circuit_state{target="google/gemini-2.5-flash"} 0'
    ])
    await gateway.dispose()
  })
})
