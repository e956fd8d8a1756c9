// Tests an upstream's spent quota on every route: a 429 that a short wait does not resolve, in the caller's dialect.
// Must not reach the network: upstreams are scripted.
import { expect, it } from "vitest"
import { gatewaysOver } from "../support/scripted.ts"

const gatewayOver = gatewaysOver()

const message = "Quota exceeded."
const exhausted = (quotaId: string, quotaValue = "250") => ({
  error: {
    code: 429,
    message,
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId, quotaValue }] }]
  }
})

const messages = [{ role: "user", content: "Hi" }]
const chat = { model: "@google/gemini-2.5-flash", messages }
const routes: ReadonlyArray<readonly [string, { readonly model: string; readonly [field: string]: unknown }]> = [
  ["/v1/chat/completions", chat],
  ["/v1/chat/completions", { ...chat, stream: true }],
  ["/v1/chat/completions", { model: "@vertex-ai/anthropic.claude-sonnet-4-5", messages }],
  ["/v1/chat/completions", { model: "@vertex-ai/meta.llama-4-maverick-17b-128e-instruct-maas", messages }],
  ["/v1/chat/completions/count_tokens", chat],
  ["/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hi" }],
  ["/v1/images/generations", { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "A cat" }]
]
const claude = { model: "@vertex-ai/anthropic.claude-sonnet-4-5", max_tokens: 5, messages }

const refusalsOf = async (body: unknown, status: number) => {
  const { post } = gatewayOver(() => ({
    status,
    headers: { "content-type": "application/json" },
    chunks: [JSON.stringify(body)]
  }))
  const said = async ([path, request]: readonly [string, unknown]) => {
    const answer = await post(path, request)
    return [answer.status, answer.headers.get("x-should-retry"), await answer.json()]
  }
  return {
    openai: await Promise.all(routes.map(said)),
    anthropic: await Promise.all(["/v1/messages", "/v1/messages/count_tokens"].map((path) => said([path, claude])))
  }
}

/** The words are about the account of the gateway, not about the client (W11). */
const spentAt = (slug: string) =>
  `The quota of the gateway's account "${slug}" is spent at Google; ask its operator: ${message}`
const slugIn = ([, { model }]: (typeof routes)[number]) => model.split("/")[0]?.slice(1) ?? ""
const inOpenAi = (type: string, code: string) => (route: (typeof routes)[number]) => ({
  error: { message: spentAt(slugIn(route)), type, param: null, code }
})
const inAnthropic = (type: string) => ({
  type: "error",
  error: { type, message: spentAt("vertex-ai") },
  request_id: "request-1"
})

it.each([
  ["a quota per day", exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier")],
  ["a limit of 0", exhausted("GenerateRequestsPerMinutePerProjectPerModel", "0")]
])("upstream quota: %s has the type of a rate limit and the code of a quota (T2304)", async (_name, body) => {
  const refused = await refusalsOf(body, 429)
  expect(refused.openai).toEqual(
    routes.map((route) => [429, "false", inOpenAi("rate_limit_error", "insufficient_quota")(route)])
  )
  expect(refused.anthropic).toEqual(["", ""].map(() => [429, "false", inAnthropic("rate_limit_error")]))
})

it("upstream quota: an unpaid upstream account keeps the type of a quota (table 14)", async () => {
  const refused = await refusalsOf({ type: "error", error: { type: "billing_error", message } }, 402)
  expect(refused.openai).toEqual(
    routes.map((route) => [402, "false", inOpenAi("insufficient_quota", "insufficient_quota")(route)])
  )
  expect(refused.anthropic).toEqual(["", ""].map(() => [402, "false", inAnthropic("billing_error")]))
})
