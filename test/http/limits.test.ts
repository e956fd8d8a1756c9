// Tests keys with limits through the whole service: reservation, settlement and response headers, in every dialect.
// Must not depend on how limits are counted.
import { describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { KeySetting, Settings } from "../../src/domain/settings/Settings.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { replying } from "../support/scripted.ts"
import { accountedGateway, adminKey } from "../support/accounted.ts"
import { promptsOf } from "../support/prompts.ts"
import { gatewayKey } from "../support/TestGateway.ts"

/** An answer of Gemini that counts 100 tokens in, 20 out: 30 + 50 micro-dollars by the prices of these tests. */
const reply = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
  modelVersion: "gemini-2.5-flash"
}
const counted = replying(reply)
const streamed = { status: 200, chunks: [`data: ${JSON.stringify(reply)}\n\n`] }
const hello = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }], max_tokens: 20 }

const gatewayFor = (
  limits: Partial<KeySetting>,
  script: TransportScript = ({ url }) => Effect.succeed(url.includes("stream") ? streamed : counted),
  settings: Partial<Settings> = {}
) =>
  accountedGateway(script, {
    settings: {
      ...settings,
      keys: [
        { name: "ci", key: Redacted.make(gatewayKey), ...limits },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ]
    }
  })

const limitsOf = (response: Response): Record<string, string> =>
  Object.fromEntries([...response.headers].filter(([name]) => /ratelimit|^retry/.test(name)))
const withoutResets = (response: Response) =>
  Object.fromEntries(Object.entries(limitsOf(response)).filter(([name]) => !/reset|retry-after/.test(name)))

describe("limits per minute", () => {
  const rateLimit = { requests_per_minute: 2, requests_burst: 2, tokens_per_minute: 1000, tokens_burst: 1000 }

  it("limits: are reported on answers, settled by usage, and refused with the time to wait", async () => {
    const gateway = gatewayFor({ rate_limit: rateLimit })
    const first = await gateway.post("/v1/chat/completions", hello)
    expect([first.status, withoutResets(first)]).toEqual([
      200,
      {
        "x-ratelimit-limit-requests": "2",
        "x-ratelimit-remaining-requests": "1",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "995"
      }
    ])
    await first.text()
    const second = await gateway.post("/v1/chat/completions", { ...hello, stream: true })
    expect(Number(second.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(995)
    expect([
      second.status,
      second.headers.get("x-ratelimit-remaining-requests"),
      (await second.text()).endsWith("data: [DONE]\n\n")
    ]).toEqual([200, "0", true])
    const third = await gateway.post("/v1/chat/completions", hello)
    const wait = Number(third.headers.get("retry-after"))
    expect([third.status, third.headers.get("x-ratelimit-remaining-requests"), wait > 0 && wait <= 30]).toEqual([
      429,
      "0",
      true
    ])
    expect(await third.json()).toEqual({
      error: {
        message: `The gateway key has reached its limit of 2 requests a minute; try again in ${wait} s.`,
        type: "rate_limit_error",
        param: null,
        code: "rate_limit_exceeded"
      }
    })
    expect(gateway.seen.length).toBe(2)
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_rate_limited_total"))).toEqual([
      'gateway_rate_limited_total{scope="key",kind="requests"} 1'
    ])
  })

  it("limits: are reported in Anthropic's format on its route", async () => {
    const gateway = gatewayFor({ rate_limit: { requests_per_minute: 1 } }, () =>
      Effect.succeed(
        replying({
          type: "message",
          id: "m",
          model: "claude-sonnet-4-6",
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 }
        })
      )
    )
    const body = {
      model: "@vertex-ai/anthropic.claude-sonnet-4-6",
      max_tokens: 10,
      messages: [{ role: "user", content: "Hi" }]
    }
    const first = await gateway.post("/v1/messages", body)
    expect([first.status, withoutResets(first)]).toEqual([
      200,
      { "anthropic-ratelimit-requests-limit": "1", "anthropic-ratelimit-requests-remaining": "0" }
    ])
    expect(first.headers.get("anthropic-ratelimit-requests-reset")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const second = await gateway.post("/v1/messages", body)
    const wait = second.headers.get("retry-after")
    expect([second.status, await second.json()]).toEqual([
      429,
      {
        type: "error",
        error: {
          type: "rate_limit_error",
          message: `The gateway key has reached its limit of 1 requests a minute; try again in ${wait} s.`
        },
        request_id: "request-1"
      }
    ])
  })

  it("limits: apply before the cache: a cached answer counts as a request and costs no tokens", async () => {
    const gateway = gatewayFor({ rate_limit: rateLimit })
    for (const remaining of ["1", "0"]) {
      const response = await gateway.post("/v1/chat/completions", hello, { "x-gateway-cache": "60" })
      expect([response.status, response.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, remaining])
      await response.text()
    }
    expect(gateway.seen.length).toBe(1)
  })

  const claude = { ...hello, model: "@vertex-ai/claude-sonnet-4-6" }
  it.each([
    ["/v1/chat/completions", hello],
    ["/v1/chat/completions/count_tokens", hello],
    ["/v1/messages", claude],
    ["/v1/messages/count_tokens", claude],
    ["/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hi" }],
    ["/v1/images/generations", { model: "@google/gemini-2.5-flash-image", prompt: "A cat" }],
    ["/v1/prompts/hello/completions", {}],
    ["/v1/prompts/hello/render", {}]
  ])("limits: a dry run or a rendered prompt counts as a request without tokens or cost: %s", async (path, body) => {
    const limits = {
      rate_limit: { requests_per_minute: 2, requests_burst: 2, tokens_per_minute: 1 },
      budget: { usd: 0, per: "day" }
    } as const
    const gateway = accountedGateway(() => counted, {
      settings: {
        keys: [{ name: "ci", key: Redacted.make(gatewayKey), ...limits }],
        prompts: promptsOf([{ id: "hello", model: hello.model, messages: [{ role: "user", content: "Hi" }] }])
      }
    })
    const statuses = []
    for (let at = 0; at < 3; at++) {
      const dry = await gateway.post(path, body, { "x-gateway-dry-run": "true" })
      statuses.push([
        dry.status,
        dry.headers.get("x-ratelimit-remaining-requests") ?? dry.headers.get("anthropic-ratelimit-requests-remaining")
      ])
      await dry.text()
    }
    expect([statuses, gateway.seen]).toEqual([
      [
        [200, "1"],
        [200, "0"],
        [429, "0"]
      ],
      []
    ])
  })

  it("limits: do not apply to the list of models", async () => {
    const gateway = gatewayFor({ rate_limit: { requests_per_minute: 1 } })
    for (let at = 0; at < 3; at++) {
      const models = await gateway.send("/v1/models", { headers: { "x-gateway-api-key": gatewayKey } })
      expect([models.status, limitsOf(models)]).toEqual([200, {}])
    }
  })

  it("limits: a request without a target leaves the budget unchanged; a key without limits has no headers", async () => {
    const limited = gatewayFor({ budget: { usd: 0.0001, per: "day" } })
    const unknown = await limited.post("/v1/chat/completions", { ...hello, model: "@nobody/gemini-2.5-flash" })
    expect(unknown.status).toBe(404)
    const free = gatewayFor({})
    expect(limitsOf(await free.post("/v1/chat/completions", hello))).toEqual({})
  })
})

describe("budget of a key", () => {
  const budget = { usd: 0.0002, per: "month" } as const

  it("limits: a budget is spent by the cost of requests, and its refusal advises against repeating", async () => {
    const gateway = gatewayFor({ budget }, undefined, { keyLabel: true })
    const statuses = []
    for (let at = 0; at < 4; at++) {
      const response = await gateway.post("/v1/chat/completions", hello)
      statuses.push(response.status)
      await response.text()
    }
    expect(statuses).toEqual([200, 200, 402, 402])
    const refused = await gateway.post("/v1/chat/completions", { ...hello, max_tokens: 2000 })
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([402, "false"])
    const { error } = await refused.json()
    expect([error.type, error.code]).toEqual(["insufficient_quota", "insufficient_quota"])
    expect(await gateway.admin("/admin/v1/usage?group_by=key")).toMatchObject({
      data: [{ key: "ci", requests: 5, errors: 3, cost_usd: 0.00016 }]
    })
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_budget_remaining"))).toEqual([
      'gateway_budget_remaining_usd{budget="ci"} 0.00004'
    ])
  })

  it("limits: a budget is a metric by key id only where the operator asks for key labels (TH32)", async () => {
    const named = async (keyLabel: boolean) => {
      const gateway = gatewayFor({ budget }, undefined, { keyLabel })
      await (await gateway.post("/v1/chat/completions", hello)).text()
      return (await gateway.metrics())
        .filter((line) => line.includes('"ci"') && line.startsWith("gateway_"))
        .map((line) => line.split("{")[0])
    }
    expect(await named(true)).toEqual([
      "gateway_budget_remaining_usd",
      "gateway_requests_total",
      "gateway_cost_usd_total"
    ])
    expect(await named(false)).toEqual([])
  })

  it("limits: a request without an upstream answer costs nothing of the budget", async () => {
    let calls = 0
    const gateway = gatewayFor({ budget }, () => {
      calls++
      return Effect.succeed(
        calls <= 5
          ? {
              status: 400,
              chunks: [JSON.stringify({ error: { code: 400, message: "no", status: "INVALID_ARGUMENT" } })]
            }
          : counted
      )
    })
    const statuses = []
    for (let at = 0; at < 6; at++) {
      const response = await gateway.post("/v1/chat/completions", { ...hello, max_tokens: 50 })
      statuses.push(response.status)
      await response.text()
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 200])
  })
})
