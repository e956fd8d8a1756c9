// Tests POST /v1/chat/completions/count_tokens through the whole service: exact upstream calls, exact answers.
// Must not reach the network: upstreams are scripted or simulated.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewayOfFile, replying, type ScriptedGateway } from "../support/scripted.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

const path = "/v1/chat/completions/count_tokens"
const vertexBase = "https://us-central1-aiplatform.googleapis.com/v1/projects/test-project/locations/us-central1"
const tuned = {
  ...vertexAccount,
  endpoints: { "33": { dialect: "gemini" as const, host: undefined, model: undefined } }
}

const scripted = gatewayOfFile({ accounts: [googleAccount, tuned] })
const over = (reply: unknown): ScriptedGateway => scripted(() => replying(reply))

const messages = [
  { role: "system", content: "Be terse." },
  { role: "user", content: "Hi" }
]
const counted = {
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  systemInstruction: { parts: [{ text: "Be terse." }] }
}

it("token counting: the call and the answer on google are exact (T1701, T1703)", async () => {
  const gateway = over({ totalTokens: 7, promptTokensDetails: [{ modality: "TEXT", tokenCount: 7 }] })
  const answer = await gateway.post(path, { model: "@google/gemini-2.5-flash", messages, stream: true, user: "u" })
  expect([answer.status, answer.headers.get("x-gateway-ignored-params"), await answer.text()]).toEqual([
    200,
    "user",
    JSON.stringify({
      object: "token_count",
      model: "gemini-2.5-flash",
      input_tokens: 7,
      input_tokens_details: { text_tokens: 7 }
    })
  ])
  expect(gateway.seen).toEqual([
    {
      method: "POST",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:countTokens",
      headers: { "content-type": "application/json" },
      body: { generateContentRequest: { model: "models/gemini-2.5-flash", ...counted } }
    }
  ])
})

it("token counting: a non-strict answer of Vertex AI has billable characters (T1701, T1704)", async () => {
  const gateway = over({ totalTokens: 7, totalBillableCharacters: 11 })
  const answer = await gateway.post(
    path,
    { model: "@vertex-ai/gemini-2.5-flash", messages, service_tier: "flex" },
    { "x-gateway-strict-schema-compliance": "false" }
  )
  expect(await answer.json()).toEqual({
    object: "token_count",
    model: "gemini-2.5-flash",
    input_tokens: 7,
    total_billable_characters: 11,
    provider: "vertex-ai"
  })
  expect(gateway.seen).toEqual([
    {
      method: "POST",
      url: `${vertexBase}/publishers/google/models/gemini-2.5-flash:countTokens`,
      headers: { "content-type": "application/json" },
      body: counted
    }
  ])
})

it("token counting: an endpoint with the gemini dialect is called (T1705)", async () => {
  const gateway = over({ totalTokens: 7 })
  expect((await gateway.post(path, { model: "@vertex-ai/endpoints.33", messages })).status).toBe(200)
  expect(gateway.seen.map(({ url }) => url)).toEqual([`${vertexBase}/endpoints/33:countTokens`])
})

it("token counting: a dry run shows the call", async () => {
  const gateway = over({})
  const answer = await gateway.post(
    path,
    { model: "@google/gemini-2.5-flash", messages },
    { "x-gateway-dry-run": "true" }
  )
  expect([gateway.seen, await answer.json()]).toMatchObject([
    [],
    {
      object: "dry_run",
      url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:countTokens",
      body: { generateContentRequest: { model: "models/gemini-2.5-flash", ...counted } }
    }
  ])
})

describe("refusals of token counting", () => {
  const rows: ReadonlyArray<readonly [string, object, string, string]> = [
    ["B44", { model: "@google/gemini-2.5-flash" }, "messages", "missing_required_parameter"],
    ["B45", { model: "@google/gemini-2.5-flash", messages: [] }, "messages", "empty_array"],
    [
      "B100",
      { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: 5 }] },
      "messages[0].content",
      "invalid_type"
    ],
    ["T1705", { model: "@vertex-ai/meta.llama-3.3", messages }, "model", "unsupported_operation"],
    ["T1705", { model: "@vertex-ai/endpoints.44", messages }, "model", "unsupported_operation"],
    ["B43", { model: "@google/endpoints.44", messages }, "model", "unsupported_operation"]
  ]
  it.each(rows)("token counting: refuses $1 ($0)", async (_, body, param, code) => {
    const gateway = over({})
    const answer = await gateway.post(path, body)
    expect([answer.status, await answer.json(), gateway.seen]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", param, code } },
      []
    ])
  })
})

describe("token counting by the simulated services", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  const send = async (to: string, model: string) => {
    const answer = await fetch(`${gateway.url}${to}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
      body: JSON.stringify({
        model,
        messages,
        tools: [
          {
            type: "function",
            function: {
              name: "weather",
              description: "Now",
              parameters: { type: "object", properties: { city: { type: "string" } } }
            }
          }
        ]
      })
    })
    expect(answer.status).toBe(200)
    return answer.json()
  }

  it.each(["@google/gemini-2.5-flash", "@vertex-ai/gemini-2.5-flash"])(
    "token counting: %s counts what chat then uses (T1701)",
    async (model) => {
      const before: { readonly input_tokens: number } = await send(path, model)
      const after: { readonly usage: { readonly prompt_tokens: number } } = await send("/v1/chat/completions", model)
      expect(before.input_tokens).toBe(after.usage.prompt_tokens)
      expect(before.input_tokens).toBeGreaterThan(0)
    }
  )
})
