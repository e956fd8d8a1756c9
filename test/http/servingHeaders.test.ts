// Tests the headers that choose the throughput of Vertex AI, on every route, by account and by target of a config.
// Must not depend on answers: every call is refused.
import { describe, expect, it } from "vitest"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { inline } from "../support/config.ts"
import { gatewaysOver } from "../support/scripted.ts"

const over = gatewaysOver()
const refused = () => ({
  status: 400,
  chunks: [JSON.stringify({ error: { code: 400, message: "No.", status: "INVALID_ARGUMENT" } })]
})

const type = "x-vertex-ai-llm-request-type"
const shared = "x-vertex-ai-llm-shared-request-type"
const gemini = "@vertex-ai/gemini-2.5-flash"
const claude = "@vertex-ai/anthropic.claude-sonnet-4-5@20250929"
const messages = [{ role: "user", content: "Hello" }]
const contents = [{ role: "user", parts: [{ text: "Hello" }] }]

const routes: ReadonlyArray<readonly [path: string, body: object]> = [
  ["/v1/chat/completions", { model: gemini, messages }],
  ["/v1/chat/completions", { model: claude, messages, max_tokens: 9 }],
  ["/v1/responses", { model: gemini, input: "Hello" }],
  ["/v1/messages", { model: claude, messages, max_tokens: 9 }],
  ["/v1/embeddings", { model: "@vertex-ai/gemini-embedding-001", input: ["a", "b"] }],
  ["/v1/images/generations", { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "a tree" }],
  ["/v1/publishers/google/models/gemini-2.5-flash:generateContent", { contents }],
  ["/v1beta/models/gemini-2.5-flash:generateContent", { contents }]
]

describe("headers of throughput", () => {
  it.each(routes)("throughput: reaches Vertex AI from %s %j (K5)", async (path, body) => {
    const gateway = over(refused, { accounts: [vertexAccount] })
    await gateway.post(path, body, { [type]: "Dedicated", [shared]: "priority" })
    await gateway.post(path, body, { [type]: "anything" })
    const chosen = gateway.seen.map(({ headers }) => [headers[type], headers[shared]])
    const half = chosen.length / 2
    expect(half).toBeGreaterThan(0)
    expect(chosen).toEqual([
      ...Array.from({ length: half }, () => ["dedicated", "priority"]),
      ...Array.from({ length: half }, () => [undefined, undefined])
    ])
  })

  it("throughput: an account sets it, a target goes before the account and the request before both (K5)", async () => {
    const account = { ...vertexAccount, servingHeaders: { [type]: "dedicated" } }
    const gateway = over(refused, { accounts: [googleAccount, account] })
    const chat = { model: gemini, messages }
    const target = inline({ request_type: "shared" })
    await gateway.post("/v1/chat/completions", chat)
    await gateway.post("/v1/chat/completions", chat, target)
    await gateway.post("/v1/chat/completions", chat, { ...target, [type]: "dedicated" })
    await gateway.post("/v1/chat/completions", { ...chat, service_tier: "flex" }, { [shared]: "priority" })
    expect(gateway.seen.map(({ headers }) => headers)).toEqual([
      { "content-type": "application/json", [type]: "dedicated" },
      { "content-type": "application/json", [type]: "shared" },
      { "content-type": "application/json", [type]: "dedicated" },
      { "content-type": "application/json", [type]: "dedicated", [shared]: "flex" }
    ])
  })

  it("throughput: is no matter of the Gemini Developer API (K5)", async () => {
    const gateway = over(refused)
    await gateway.post("/v1/chat/completions", { model: "@google/gemini-2.5-flash", messages }, { [type]: "shared" })
    expect(gateway.seen.map(({ headers }) => headers)).toEqual([{ "content-type": "application/json" }])
  })
})
