// Tests what running requests reserve, through the whole service: slots per key, and memory of bodies and translations.
// Must not depend on timing: requests wait on a Deferred.
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { LimitValues } from "../../src/domain/Limits.ts"
import type { KeySetting } from "../../src/domain/settings/Settings.ts"
import type { ScriptedResponse, TransportScript } from "../../src/upstream/Transport.ts"
import { accountedGateway, adminKey } from "../support/accounted.ts"
import { replying } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const reply = replying({
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  modelVersion: "gemini-2.5-flash"
})
const otherKey = "mgk_other0000000000000000000000000000"
const chat = "/v1/chat/completions"
const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }

const gatewayWith = (limits: Partial<LimitValues>, script: TransportScript, key: Partial<KeySetting> = {}) =>
  accountedGateway(script, {
    limits,
    settings: {
      keys: [
        { name: "greedy", key: Redacted.make(gatewayKey), ...key },
        { name: "other", key: Redacted.make(otherKey) },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ]
    }
  })

/** An upstream that answers nothing before it is let go, and how many calls have reached it. */
const held = () => {
  const go = Deferred.makeUnsafe<void>()
  const calls: Array<() => void> = []
  let begun = 0
  return {
    script: () => {
      begun++
      for (const look of calls) look()
      return Effect.as(Deferred.await(go), reply)
    },
    go: () => Effect.runPromise(Deferred.succeed(go, undefined)),
    begun: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (begun >= count) resolve()
        }
        calls.push(look)
        look()
      })
  }
}

const refusal = (message: string) => ({
  error: { message, type: "rate_limit_error", param: null, code: "concurrency_limit_exceeded" }
})
const overShare = refusal(
  "The gateway is near its limit of requests, and this key runs more than its share of them; try again when one of them has ended."
)
const overMemory = refusal(
  "The gateway is near its limit of memory, and the running requests of this key hold more than their share of it; try again when one of them has ended, or send less at a time."
)

describe("slots of running requests", () => {
  it("slots: one key cannot take all; it is refused while other keys, admin and health are served (TH20)", async () => {
    const upstream = held()
    const gateway = gatewayWith({ inFlight: 10 }, upstream.script)
    const running = Array.from({ length: 8 }, () => gateway.post(chat, hello))
    await upstream.begun(8)
    const refused = await gateway.post(chat, hello)
    expect([
      refused.status,
      refused.headers.get("retry-after"),
      refused.headers.get("retry-after-ms"),
      await refused.json()
    ]).toEqual([429, "1", "1000", overShare])
    const other = gateway.post(chat, hello, { "x-gateway-api-key": otherKey })
    await upstream.begun(9)
    expect((await gateway.send("/health/ready")).status).toBe(200)
    expect(await gateway.admin("/admin/v1/configs")).toEqual({ object: "list", data: [], next_cursor: null })
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_rate_limited_total"))).toEqual([
      'gateway_rate_limited_total{scope="key",kind="concurrency"} 1'
    ])
    await upstream.go()
    expect((await Promise.all([...running, other])).map(({ status }) => status)).toEqual(
      Array.from({ length: 9 }, () => 200)
    )
    expect((await gateway.post(chat, hello)).status).toBe(200)
    await gateway.dispose()
  })

  it("slots: a key with a limit of its own is refused by it, on the messages route in Anthropic's format", async () => {
    const upstream = held()
    const gateway = gatewayWith({}, upstream.script, { concurrency: 1 })
    const running = gateway.post(chat, hello)
    await upstream.begun(1)
    const message = "The gateway key has 1 requests running, which is its limit; try again when one of them has ended."
    const refused = await gateway.post(chat, hello)
    expect([refused.status, await refused.json()]).toEqual([429, refusal(message)])
    const messages = await gateway.post("/v1/messages", {
      model: "anthropic.claude-sonnet-4-6",
      max_tokens: 1,
      messages: []
    })
    expect([messages.status, await messages.json()]).toEqual([
      429,
      { type: "error", error: { type: "rate_limit_error", message }, request_id: "request-1" }
    ])
    await upstream.go()
    expect([(await running).status, (await gateway.post(chat, hello)).status]).toEqual([200, 200])
    await gateway.dispose()
  })

  it("slots: the admin API creates keys with a limit of running requests, which applies immediately", async () => {
    const upstream = held()
    const gateway = gatewayWith({}, upstream.script)
    const make = (key: unknown) =>
      gateway.send("/admin/v1/keys", {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": adminKey },
        body: JSON.stringify(key)
      })
    const wrong = await make({ name: "none", concurrency: 0 })
    expect([wrong.status, (await wrong.json()).errors]).toEqual([
      400,
      [{ path: "concurrency", message: "expected a whole number from 1 to 2147483647" }]
    ])
    const made = await (await make({ name: "single", concurrency: 1 })).json()
    expect([made.name, made.concurrency]).toEqual(["single", 1])
    const running = gateway.post(chat, hello, { "x-gateway-api-key": made.key })
    await upstream.begun(1)
    expect((await gateway.post(chat, hello, { "x-gateway-api-key": made.key })).status).toBe(429)
    await upstream.go()
    expect((await running).status).toBe(200)
    await gateway.dispose()
  })

  it("slots: requests of admin keys have slots of their own", async () => {
    const gateway = gatewayWith({ adminInFlight: 0 }, () => reply)
    const refused = await gateway.send("/admin/v1/keys", { headers: { "x-gateway-api-key": adminKey } })
    expect([
      refused.status,
      (await gateway.post(chat, hello)).status,
      (await gateway.send("/health/live")).status
    ]).toEqual([503, 200, 200])
    await gateway.dispose()
  })
})

describe("memory of running requests", () => {
  const text = "x".repeat(20_000)
  const large = { ...hello, messages: [{ role: "user", content: text }] }

  it("memory: a body and its translation stay counted while the call runs (TH15)", async () => {
    const upstream = held()
    // The body and its translation are 40 kB together.
    const gateway = gatewayWith({ bodiesInFlightBytes: 130_000 }, upstream.script)
    const running = [gateway.post(chat, large)]
    await upstream.begun(1)
    running.push(gateway.post(chat, large))
    await upstream.begun(2)
    const refused = await gateway.post(chat, large)
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([429, "1", overMemory])
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_rate_limited_total"))).toEqual([
      'gateway_rate_limited_total{scope="key",kind="memory"} 1'
    ])
    const small = gateway.post(chat, hello, { "x-gateway-api-key": otherKey })
    await upstream.begun(3)
    await upstream.go()
    expect((await Promise.all([...running, small])).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await gateway.post(chat, large)).status).toBe(200)
    await gateway.dispose()
  })

  const begun = (url: string): ScriptedResponse["chunks"] => [
    url.includes("streamRawPredict")
      ? 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}\n\n'
      : 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]}}]}\n\n',
    { pauseMillis: 60_000 }
  ]

  /** The status of a stream that stays open, and that of another request meanwhile. */
  const withOpenStream = async (path: string, body: object) => {
    const script: TransportScript = ({ url }) =>
      url.includes(":stream") ? { ...reply, chunks: begun(url) ?? [] } : reply
    // One body and its translation fit, and not two bodies and a translation.
    const gateway = gatewayWith({ bodiesInFlightBytes: 50_000 }, script)
    const stream = await gateway.post(path, { stream: true, ...body })
    const reader = stream.body?.getReader()
    await reader?.read()
    const statuses = [stream.status, (await gateway.post(chat, large)).status]
    await reader?.cancel()
    return statuses
  }
  const { messages } = large

  it.each([
    ["chat", chat, large],
    ["messages", "/v1/messages", { model: "@vertex-ai/anthropic.claude-sonnet-4-6", max_tokens: 10, messages }],
    [
      "native",
      "/v1beta/models/@google/gemini-2.5-flash:streamGenerateContent?alt=sse",
      { stream: undefined, contents: [{ parts: [{ text }] }] }
    ]
  ])("memory: the body of a stream is counted until the stream is open (%s)", async (_name, path, body) => {
    expect(await withOpenStream(path, body)).toEqual([200, 200])
  })

  it("memory: the body of a long answer is counted to its end, because later calls repeat it", async () => {
    expect(await withOpenStream(chat, { ...large, model: "@google/gemini-4-neon", max_tokens: 100_000 })).toEqual([
      200, 429
    ])
  })

  it("memory: a translation over the limit is refused before the call, without a retry", async () => {
    const gateway = gatewayWith({ bodiesInFlightBytes: 30_000, retries: 2 }, () => reply)
    const refused = await gateway.post(chat, large)
    expect([refused.status, refused.headers.get("retry-after"), await refused.json(), gateway.seen.length]).toEqual([
      429,
      "1",
      overMemory,
      0
    ])
    await gateway.dispose()
  })

  it("memory: a failed request and a dry run release theirs", async () => {
    const gateway = gatewayWith({ bodiesInFlightBytes: 60_000 }, () => ({ status: 500, chunks: ["{}"] }))
    for (let at = 0; at < 5; at++) {
      expect((await gateway.post(chat, large)).status).toBe(502)
      expect((await gateway.post(chat, { ...large, model: "@nowhere/x" })).status).toBe(404)
      expect((await gateway.post(chat, large, { "x-gateway-dry-run": "true" })).status).toBe(200)
    }
    await gateway.dispose()
  })
})
