// Tests the labels that an operator puts on calls to Vertex AI: which calls have them, and what the client's own do.
// Must not reach the network: upstreams are scripted.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { gatewaysOver, replying, type ScriptedOptions, type SeenCall } from "../support/scripted.ts"
import { gatewayKey } from "../support/TestGateway.ts"

const gatewayOver = gatewaysOver()

const otherKey = "mgk_other000000000000000000000000000"
const attribution: Settings["attribution"] = {
  labels: { gateway_key: "key", team: "metadata.team", env: "prod" }
}
const options: ScriptedOptions = {
  accounts: [googleAccount, { ...vertexAccount, endpoints: { "123": { dialect: "gemini" } } }],
  keys: [
    { name: "ci", key: Redacted.make(gatewayKey), metadata: { team: "Search" } },
    { name: "other", key: Redacted.make(otherKey) }
  ],
  settings: { attribution }
}
const usual = { gateway_key: "ci", team: "search-49c266ba", env: "prod" }

const gemini = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}
const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 }
}
const answers = (more: ScriptedOptions = options) =>
  gatewayOver(({ url }) => {
    if (url.includes("countTokens")) return replying({ totalTokens: 7 })
    if (url.includes("count-tokens")) return replying({ input_tokens: 7 })
    if (url.includes(":predict"))
      return replying({ predictions: [{ embeddings: { values: [1], statistics: { token_count: 1 } } }] })
    if (url.includes("stream")) return { status: 200, chunks: [`data: ${JSON.stringify(gemini)}\r\n\r\n`] }
    return replying(url.includes("anthropic") ? claude : gemini)
  }, more)

const textOf = (body: unknown): string =>
  body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body)

/** The labels of a call: of its body, then of its header. */
const labelsOf = ({ body, headers }: SeenCall): ReadonlyArray<unknown> => {
  const header = headers["x-vertex-ai-labels"]
  return [
    JSON.parse(textOf(body)).labels,
    header === undefined ? undefined : JSON.parse(Buffer.from(header, "base64").toString())
  ]
}

const labelsFor = async (path: string, body: object, headers = {}, more: ScriptedOptions = options) => {
  const gateway = answers(more)
  const answer = await gateway.post(path, body, headers)
  await answer.text()
  return [answer.status, ...gateway.seen.map(labelsOf)]
}

const chat = "/v1/chat/completions"
const messages = [{ role: "user", content: "Hi" }]
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
const model = "@vertex-ai/gemini-2.5-flash"
const sonnet = "@vertex-ai/anthropic.claude-sonnet-4-6"
const vertexPath = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash"
const developer = "/v1beta/models/gemini-2.5-flash"

describe("labels of the operator", () => {
  it.each<readonly [what: string, path: string, body: object]>([
    ["a chat", chat, { model, messages }],
    ["a stream", chat, { model, messages, stream: true }],
    ["a response", "/v1/responses", { model, input: "Hi" }],
    ["a tuned model", chat, { model: "@vertex-ai/endpoints.123", messages }],
    ["a native call", `${vertexPath}:generateContent`, { contents }],
    ["a native stream", `${vertexPath}:streamGenerateContent?alt=sse`, { contents }]
  ])("labels: are in the body of %s (K30)", async (_what, path, body) => {
    expect(await labelsFor(path, body)).toEqual([200, [usual, undefined]])
  })

  it("labels: are in the body of a native call that crosses to Vertex AI (K30)", async () => {
    const headers = { "x-gateway-provider": "vertex-ai" }
    expect(await labelsFor(`${developer}:generateContent`, { contents }, headers)).toEqual([200, [usual, undefined]])
  })

  it.each<readonly [what: string, path: string, body: object]>([
    ["a chat with Claude", chat, { model: sonnet, messages }],
    ["a message", "/v1/messages", { model: sonnet, max_tokens: 5, messages }]
  ])("labels: are in the header of %s (K30)", async (_what, path, body) => {
    expect(await labelsFor(path, body)).toEqual([200, [undefined, usual]])
  })

  it.each<readonly [what: string, path: string, body: object]>([
    ["the Gemini Developer API", chat, { model: "@google/gemini-2.5-flash", messages }],
    ["counts of tokens", `${chat}/count_tokens`, { model, messages }],
    ["counts of Claude", "/v1/messages/count_tokens", { model: sonnet, messages }],
    ["predictions", "/v1/embeddings", { model: "@vertex-ai/text-embedding-005", input: "Hi" }]
  ])("labels: are not on %s, where Google refuses them (K30)", async (_what, path, body) => {
    expect(await labelsFor(path, body)).toEqual([200, [undefined, undefined]])
  })

  it("labels: are off unless they are set (K30)", async () => {
    const { settings: _settings, ...without } = options
    expect([
      await labelsFor(chat, { model, messages }, {}, without),
      await labelsFor("/v1/messages", { model: sonnet, max_tokens: 5, messages }, {}, without)
    ]).toEqual([
      [200, [undefined, undefined]],
      [200, [undefined, undefined]]
    ])
  })

  it("labels: those of the request and of its config win (K30)", async () => {
    const config = JSON.stringify({ provider: "vertex-ai", override_params: { labels: { team: "config" } } })
    expect([
      await labelsFor(chat, { model, messages, labels: { env: "dev", own: "x" } }),
      await labelsFor(chat, { model, messages }, { "x-gateway-config": config }),
      await labelsFor(`${vertexPath}:generateContent`, { contents, labels: { env: "dev" } })
    ]).toEqual([
      [200, [{ ...usual, env: "dev", own: "x" }, undefined]],
      [200, [{ ...usual, team: "config" }, undefined]],
      [200, [{ ...usual, env: "dev" }, undefined]]
    ])
  })

  it("labels: metadata of the request counts, and absent metadata has no label (K30)", async () => {
    const byMetadata = { "x-gateway-metadata": JSON.stringify({ team: "ads" }) }
    expect([
      await labelsFor(chat, { model, messages }, byMetadata),
      await labelsFor(chat, { model, messages }, { "x-gateway-api-key": otherKey })
    ]).toEqual([
      [200, [{ ...usual, team: "ads" }, undefined]],
      [200, [{ gateway_key: "other", env: "prod" }, undefined]]
    ])
  })

  it("labels: a dry run shows them (K30)", async () => {
    const gateway = answers()
    const dry = { "x-gateway-dry-run": "true" }
    const body = await (await gateway.post(chat, { model, messages }, dry)).json()
    const native = await (await gateway.post(`${vertexPath}:generateContent`, { contents }, dry)).json()
    expect([body.body.labels, native.body.labels, gateway.seen.length]).toEqual([usual, usual, 0])
  })

  it("labels: keys of one namespace still share cached answers (K30)", async () => {
    const gateway = answers()
    const cache = { "x-gateway-cache": "60", "x-gateway-cache-namespace": "all" }
    const statuses = []
    for (const key of [gatewayKey, otherKey]) {
      const answer = await gateway.post(chat, { model, messages }, { ...cache, "x-gateway-api-key": key })
      statuses.push(answer.headers.get("x-gateway-cache-status"))
    }
    expect([statuses, gateway.seen.length]).toEqual([["MISS", "HIT"], 1])
  })

  it("labels: Gemini's pictures have them on each of their calls (K30)", async () => {
    const part = { inlineData: { mimeType: "image/png", data: "AAAA" } }
    const gateway = gatewayOver(
      () => replying({ ...gemini, candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }] }),
      options
    )
    const body = { model: "@vertex-ai/gemini-2.5-flash-image", prompt: "A cat", n: 2 }
    const { status } = await gateway.post("/v1/images/generations", body)
    expect([status, ...gateway.seen.map(labelsOf)]).toEqual([200, [usual, undefined], [usual, undefined]])
  })
})
