// Tests what the admin API shows of one request beyond the list, and dry runs of bodies under any key and config.
// Must not depend on how requests are stored: requests go through the whole service.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { accountedGateway, type AccountedGateway, adminKey } from "../../support/accounted.ts"
import { config } from "../../support/config.ts"
import { until } from "../../support/eventually.ts"
import { replying } from "../../support/scripted.ts"
import { gatewayKey, startTestGateway } from "../../support/TestGateway.ts"

const id = "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"
const messages = [{ role: "user", content: "Hello" }]
const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
const reply = replying({
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1000, cachedContentTokenCount: 400, candidatesTokenCount: 100 }
})
const claude = replying({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 20 }
})

const requestOf = async (gateway: AccountedGateway, body: object): Promise<Record<string, unknown>> => {
  await (await gateway.post("/v1/chat/completions", { messages, ...body })).text()
  let row: unknown
  await until(async () => {
    row = await gateway.admin(`/admin/v1/requests/${id}`)
    return JSON.stringify(row).includes(id) && JSON.stringify(row).includes("attempts")
  })
  return row as Record<string, unknown>
}

describe("one request of the admin API", () => {
  it("admin request: has its cost line by line, by the prices of its day", async () => {
    const row = await requestOf(
      accountedGateway(() => reply),
      { model: "@google/gemini-2.5-flash" }
    )
    expect([row["cost_usd"], row["cost_lines"]]).toEqual([
      0.000442,
      [
        { part: "input_tokens", count: 600, usd_per_million: 0.3, cost_usd: 0.00018 },
        { part: "cached_tokens", count: 400, usd_per_million: 0.03, cost_usd: 0.000012 },
        { part: "output_tokens", count: 100, usd_per_million: 2.5, cost_usd: 0.00025 }
      ]
    ])
  })

  it("admin request: names ignored and changed parameters, and none that its client made up", async () => {
    const row = await requestOf(
      accountedGateway(() => claude),
      { model: "@vertex-ai/claude-sonnet-4-6", temperature: 1.5, seed: 7, my_own_word: 1 }
    )
    expect([row["ignored_params"], row["adjusted_params"]]).toEqual([["seed", "other"], ["temperature=1.5>1"]])
  })

  it("admin request: a call over a socket has when its token was there and when it was sent", async () => {
    const gateway = await startTestGateway({
      keys: [
        { name: "test", key: Redacted.make(gatewayKey) },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ]
    })
    const send = (model: string, request: string) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey, "x-request-id": request },
        body: JSON.stringify({ model, messages })
      })
    const attemptOf = async (request: string) => {
      let row: { attempts?: ReadonlyArray<Record<string, number>> } = {}
      await until(async () => {
        const answer = await fetch(`${gateway.url}/admin/v1/requests/${request}`, {
          headers: { "x-gateway-api-key": adminKey }
        })
        row = (await answer.json()) as typeof row
        return row.attempts !== undefined
      })
      return row.attempts?.[0] ?? {}
    }
    await (await send("@vertex-ai/gemini-3.8-flash", "by-token")).text()
    await (await send("@google/gemini-3.8-flash", "by-key")).text()
    const { duration_ms: whole = 0, sent_ms: sent = 0, token_ms: token = 0 } = await attemptOf("by-token")
    expect([0 < token, token <= sent, sent <= whole]).toEqual([true, true, true])
    expect((await attemptOf("by-key"))["token_ms"]).toBe(undefined)
    await gateway.close()
  })
})

describe("dry runs of the admin API", () => {
  const gateway = accountedGateway(() => reply, {
    settings: {
      keys: [
        { name: "test", key: Redacted.make(gatewayKey), config: "calm" },
        { name: "narrow", key: Redacted.make("mgk_narrow00000000000000000000000"), providers: ["vertex-ai"] },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ]
    },
    configs: { calm: config({ provider: "@google", override_params: { max_tokens: 50 } }) }
  })
  const dryRun = async (query: string, body: unknown, key = adminKey) => {
    const answer = await gateway.post(`/admin/v1/dry-runs${query}`, body, { "x-gateway-api-key": key })
    return [answer.status, await answer.json()]
  }
  const chat = { model: "@google/gemini-2.5-flash", messages, logit_bias: { 1: 1 } }
  const explained = (body: object) => ({
    object: "dry_run",
    provider: "google",
    target_index: 0,
    method: "POST",
    url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
    headers: { "content-type": "application/json", "x-goog-api-key": "<redacted>" },
    body,
    ignored_params: ["logit_bias"],
    adjusted_params: []
  })

  it("dry run: shows what the upstream would get, sends nothing and leaves no request in the list", async () => {
    expect(await dryRun("", chat)).toEqual([200, explained({ contents })])
    expect([gateway.seen, await gateway.admin("/admin/v1/requests")]).toEqual([
      [],
      { object: "list", data: [], next_cursor: null }
    ])
  })

  it("dry run: follows the config of the chosen key, or a chosen config", async () => {
    const calm = [200, explained({ contents, generationConfig: { maxOutputTokens: 50 } })]
    expect([await dryRun("?key=test", chat), await dryRun("?config=calm", chat)]).toEqual([calm, calm])
  })

  it.each([
    ["/v1/messages", { model: "@vertex-ai/claude-sonnet-4-6", max_tokens: 9, messages }],
    ["/v1/responses", { model: "@google/gemini-2.5-flash", input: "Hello" }],
    ["/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hello" }],
    ["/v1/images/generations", { model: "@google/imagen-4.0-generate-001", prompt: "A cat" }]
  ])("dry run: reads a body of %s", async (route, body) => {
    const [status, shown] = await dryRun(`?route=${route}`, body)
    expect([status, (shown as { object: string }).object]).toEqual([200, "dry_run"])
  })

  it.each([
    [
      "a Gemini body by its model's path, which streams",
      "/v1beta/models/@google/gemini-2.5-flash:streamGenerateContent?alt=sse",
      { contents },
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
      { contents }
    ],
    [
      "a Claude body by its path of Vertex AI",
      "/v1/projects/-/locations/-/publishers/anthropic/models/@vertex-ai/claude-sonnet-4-6:rawPredict",
      { anthropic_version: "vertex-2023-10-16", max_tokens: 9, messages },
      "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict",
      { anthropic_version: "vertex-2023-10-16", max_tokens: 9, messages }
    ]
  ])("dry run: shows %s", async (_name, route, sent, url, body) => {
    const [status, shown] = await dryRun(`?route=${encodeURIComponent(route)}`, sent)
    expect([status, (shown as { url: string }).url, (shown as { body: object }).body]).toEqual([200, url, body])
  })

  const problem = (status: number, code: string, detail: string) => [
    status,
    {
      type: `urn:model-gateway:error:${code}`,
      title: code.replaceAll("_", " "),
      status,
      detail,
      instance: "request-1"
    }
  ]
  it.each([
    [
      "a key that may not use the provider",
      "?key=narrow",
      problem(403, "model_not_allowed", 'This key may not use the provider "google".')
    ],
    ["an unknown key", "?key=none", problem(404, "key_not_found", "There is no such key.")],
    [
      "an unknown route",
      "?route=/v1/models",
      problem(
        400,
        "invalid_value",
        "route is one of /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, or the path of a call to Google, such as /v1beta/models/gemini-3.8-flash:generateContent."
      )
    ]
  ])("dry run: refuses %s", async (_name, query, refusal) => {
    expect(await dryRun(query, chat)).toEqual(refusal)
  })

  it("dry run: is for keys with the scope admin", async () => {
    const [status] = await dryRun("", chat, gatewayKey)
    expect(status).toBe(401)
  })
})
