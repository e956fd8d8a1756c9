// Rules of Google's own dialects that one request each can show: bodies, queries, limits, retries, and what has no effect.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { readNativePath } from "../../../src/domain/native/nativePath.ts"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import { nativeContext } from "../../../src/http/request/requestContext.ts"
import { googleAccount, requestContext, vertexAccount } from "../../support/account.ts"
import { gatewaysOver, replying, type ScriptedOptions } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

const over = gatewaysOver()
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
const full = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}
const generate = "/v1beta/models/gemini-2.5-flash:generateContent"
const imagen = "/v1/publishers/google/models/imagen-4.0-generate-001:predict"
const text = (value: unknown): string =>
  value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value)

describe("native requests", () => {
  it.each([
    ["no", undefined, 200],
    ["its parameters in the", "application/json; charset=utf-8", 200],
    ["another", "text/plain", 415]
  ])("native body: with %s content type (N307)", async (_, type, status) => {
    const gateway = over(() => replying(full))
    const answer = await gateway.send(generate, {
      method: "POST",
      headers: { "x-goog-api-key": gatewayKey, ...(type === undefined ? {} : { "content-type": type }) },
      body: new TextEncoder().encode(JSON.stringify({ contents }))
    })
    expect([answer.status, gateway.seen.length]).toStrictEqual([status, status === 200 ? 1 : 0])
  })

  it("native media: an address of a same-kind call is neither fetched nor looked at (N308)", async () => {
    const gateway = over(() => replying(full), { settings: { media: { fetch: true } } })
    const body = {
      contents: [{ role: "user", parts: [{ fileData: { fileUri: "http://127.0.0.1/x.png", mimeType: "image/png" } }] }]
    }
    const answer = await gateway.post(generate, body)
    expect([answer.status, gateway.seen.map((call) => text(call.body))]).toStrictEqual([200, [JSON.stringify(body)]])
  })

  it.each([
    [undefined, "5", 6_000],
    [undefined, "0.25", 1_250],
    [3_000, "5", 3_000],
    [9_000, "5", 6_000],
    [9_000, "0", 9_000],
    [undefined, "soon", undefined]
  ])("native deadline: of %s with Google's header %s is %s, the smaller one (N211)", (own, asked, expected) => {
    const read = { ...requestContext, startedMillis: 1_000, deadlineMillis: own }
    const path = readNativePath("POST", generate, true)
    if (path?._tag !== "Call") throw new Error("no call")
    const context = nativeContext(Result.succeed(read), path, { "x-server-timeout": asked }, {})
    expect(Result.getOrThrow(context).deadlineMillis).toBe(expected)
  })

  const vertexPath = "/v1/publishers/google/models/gemini-2.5-flash"
  const routed = (modelName: string) => ({ routing_config: { manual_mode: { model_name: modelName } } })
  const ranked = (modelName: string) => ({
    retrieval: { vertexRagStore: { ragRetrievalConfig: { ranking: { llmRanker: { modelName } } } } }
  })
  const routedName = "generationConfig.routingConfig.manualMode.modelName"
  const rankedName = "tools[0].retrieval.vertexRagStore.ragRetrievalConfig.ranking.llmRanker.modelName"
  const config = { provider: "vertex-ai", override_params: { google: { generationConfig: routed("gemini-2.5-pro") } } }
  const message = { model: "@vertex-ai/anthropic.claude-sonnet-4-6", max_tokens: 5, messages: contents }
  it.each([
    [routedName, `${vertexPath}:generateContent`, { contents, generation_config: routed("gemini-2.5-pro") }, {}],
    [rankedName, `${vertexPath}:generateContent`, { contents, tools: [ranked("gemini-2.5-pro")] }, {}],
    [routedName, `${vertexPath}:generateContent`, { contents }, { "x-gateway-config": JSON.stringify(config) }],
    ["fallbacks[0].model", "/v1/messages", { ...message, fallbacks: [{ model: "claude-opus-4-6" }] }, {}],
    ["fallbacks", "/v1/messages", { ...message, fallbacks: "default" }, {}]
  ] as const)(
    "native body: names no model but the one that is called: %s at %s (N203b) %#",
    async (param, path, body, headers) => {
      const gateway = over(() => replying(full))
      const answer = await gateway.post(path, body, headers)
      const { error } = await answer.json()
      const called = path === "/v1/messages" ? "claude-sonnet-4-6" : "gemini-2.5-flash"
      expect([answer.status, error.message, gateway.seen.length]).toStrictEqual([
        400,
        `${param} is another model than the one that is called, "${called}"; leave it out, and name other models in a config.`,
        0
      ])
    }
  )

  it("native body: the model that is called may be named at every place (N203b)", async () => {
    const gateway = over(() => replying(full))
    const name = "publishers/google/models/gemini-2.5-flash"
    const body = { contents, generationConfig: routed(name), tools: [ranked("gemini-2.5-flash")] }
    const answer = await gateway.post(`${vertexPath}:generateContent`, body)
    expect([answer.status, gateway.seen.map((call) => text(call.body))]).toStrictEqual([200, [JSON.stringify(body)]])
  })

  it("native query: beta of Anthropic's SDK does not go up (N209, N806)", async () => {
    const message = { type: "message", content: [], usage: { input_tokens: 1, output_tokens: 1 } }
    const gateway = over(() => replying(message))
    const answer = await gateway.post("/v1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict?beta=true", {
      max_tokens: 5,
      messages: [{ role: "user", content: "Hi" }]
    })
    expect([answer.status, gateway.seen.map(({ url }) => url.split("/").at(-1))]).toStrictEqual([
      200,
      ["claude-sonnet-4-6:rawPredict"]
    ])
  })

  it("native list: filters have no effect (N704)", async () => {
    const gateway = over(() => replying(full))
    const list = async (query: string) =>
      (await gateway.send(`/v1beta/models${query}`, { headers: { "x-goog-api-key": gatewayKey } })).text()
    expect(await list("?filter=name%3Dx&queryBase=false")).toBe(await list(""))
  })

  it("native model: one that no list has is called all the same (N703)", async () => {
    const gateway = over(() => replying(full))
    const answer = await gateway.post("/v1beta/models/gemini-99-future:generateContent", { contents })
    expect([answer.status, gateway.seen.map(({ url }) => url.split("/").at(-1))]).toStrictEqual([
      200,
      ["gemini-99-future:generateContent"]
    ])
  })
})

describe("native answers", () => {
  it.each(["true", "false"])("native answer: strict compliance (%s) changes no byte (N409)", async (strict) => {
    const reply = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"A"}]},"citationMetadata":{"citations":[]},"finishReason":"STOP"}]}`
    const history = [...contents, { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] }]
    const gateway = over(() => ({ status: 200, chunks: [reply] }))
    const headers = { "x-gateway-strict-schema-compliance": strict }
    const first = await gateway.post(generate, { contents }, headers)
    await gateway.post(generate, { contents: history }, headers)
    // The memory of signatures adds none to the call that comes back without its own.
    expect([await first.text(), gateway.seen.map(({ body }) => text(body))]).toStrictEqual([
      reply,
      [JSON.stringify({ contents }), JSON.stringify({ contents: history })]
    ])
  })

  it("native answer: version and id of a crossed call are the upstream's (N507)", async () => {
    const reply = `{"candidates":[{"finishReason":"STOP"}],"modelVersion":"gemini-2.5-flash-002","responseId":"abc"}`
    const gateway = over(() => ({ status: 200, chunks: [reply] }))
    const answer = await gateway.post("/v1beta/models/@vertex-ai/gemini-2.5-flash:generateContent", { contents })
    expect(await answer.text()).toBe(reply)
  })

  it("native dry run: shows the body as it would go up, and calls nothing (N411)", async () => {
    const gateway = over(() => replying(full))
    const answer = await gateway.post(
      "/v1beta/models/@google/gemini-2.5-flash:generateContent",
      { model: "@google/gemini-2.5-flash", contents },
      { "x-gateway-dry-run": "true" }
    )
    const { body, url } = await answer.json()
    expect([answer.status, url, body, gateway.seen]).toStrictEqual([
      200,
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
      { model: "models/gemini-2.5-flash", contents },
      []
    ])
  })
})

describe("native retries", () => {
  const limits = { ...defaultLimits, retryBaseMillis: 0, retryCapMillis: 0 }
  const failing = (status: number, options: ScriptedOptions = {}) => {
    let calls = 0
    return over(
      () =>
        calls++ === 0
          ? { status, chunks: [JSON.stringify({ error: { code: status, message: "No.", status: "X" } })] }
          : replying({ predictions: [{ bytesBase64Encoded: "AA==" }], embedding: { values: [1] } }),
      { settings: { limits }, ...options }
    )
  }
  const embed = "/v1beta/models/gemini-embedding-001:embedContent"
  const content = { content: { parts: [{ text: "a" }] } }
  const picture = { instances: [{ prompt: "A tide." }] }
  it.each<readonly [string, number, string, object, number, number]>([
    ["an embedding", 500, embed, content, 200, 2],
    ["an embedding", 503, embed, content, 200, 2],
    ["a picture", 500, imagen, picture, 502, 1],
    ["a picture", 503, imagen, picture, 200, 2],
    ["a picture", 429, imagen, picture, 200, 2]
  ])("native retry: %s after %d (N603)", async (_, status, path, body, answered, calls) => {
    const gateway = failing(status)
    const answer = await gateway.post(path, body)
    expect([answer.status, gateway.seen.length]).toStrictEqual([answered, calls])
  })

  it("native retry: a config's own codes count for pictures as well (N602, N603)", async () => {
    const gateway = failing(500)
    const config = { provider: "@vertex-ai", retry: { attempts: 1, on_status_codes: [500] } }
    const answer = await gateway.post(imagen, picture, { "x-gateway-config": JSON.stringify(config) })
    expect([answer.status, gateway.seen.length]).toStrictEqual([200, 2])
  })
})

describe("native limits", () => {
  const limits = { ...defaultLimits, bodyBytes: 2_000, embeddingsBodyBytes: 1_000 }
  const long = (length: number) => "x".repeat(length)
  it.each<readonly [string, string, unknown, number]>([
    ["generate", generate, { contents: [{ parts: [{ text: long(1_500) }] }] }, 200],
    ["generate", generate, { contents: [{ parts: [{ text: long(2_500) }] }] }, 413],
    ["embed", "/v1beta/models/gemini-embedding-001:embedContent", { content: { parts: [{ text: long(1_500) }] } }, 413],
    ["pictures with images", imagen, { instances: [{ image: { bytesBase64Encoded: long(1_500) } }] }, 200],
    ["pictures with images", imagen, { instances: [{ image: { bytesBase64Encoded: long(2_500) } }] }, 413]
  ])("native limit: the body of %s has its bound (N605)", async (_, path, body, status) => {
    const gateway = over(() => replying({ ...full, predictions: [{ bytesBase64Encoded: "AA==" }] }), {
      settings: { limits }
    })
    const answer = await gateway.post(path, body)
    const { error } = await answer.json()
    expect([answer.status, error?.details[0].reason]).toStrictEqual([
      status,
      status === 200 ? undefined : "REQUEST_TOO_LARGE"
    ])
  })
})

describe("native signatures", () => {
  const refusal = { error: { code: 400, message: "Corrupted thought signature.", status: "INVALID_ARGUMENT" } }
  const history = [
    { role: "user", parts: [{ text: "Hi" }] },
    { role: "model", parts: [{ text: "Hello", thoughtSignature: "abc" }] },
    { role: "user", parts: [{ text: "12345678901234567890" }] }
  ]
  const refusing = () => {
    let calls = 0
    return over(() => (calls++ === 0 ? { status: 400, chunks: [JSON.stringify(refusal)] } : replying(full)), {
      accounts: [googleAccount, vertexAccount]
    })
  }
  const fallback = (...slugs: ReadonlyArray<string>) => ({
    "x-gateway-config": JSON.stringify({
      strategy: { mode: "fallback" },
      targets: slugs.map((provider) => ({ provider }))
    })
  })
  const without = [history[0], { role: "model", parts: [{ text: "Hello" }] }, history[2]]
  it("native signatures: of a plan with both kinds are left out once on a same-kind call too (N506)", async () => {
    const gateway = refusing()
    const answer = await gateway.post(generate, { contents: history }, fallback("@google", "@vertex-ai"))
    expect([answer.status, gateway.seen.map(({ body, url }) => [new URL(url).host, text(body)])]).toStrictEqual([
      200,
      [
        ["generativelanguage.googleapis.com", JSON.stringify({ contents: history })],
        ["generativelanguage.googleapis.com", JSON.stringify({ contents: without })]
      ]
    ])
  })
  it.each<readonly [string, Record<string, string>]>([
    ["no config", {}],
    ["a config of one kind", fallback("@google")]
  ])("native signatures: with %s a refusal of a same-kind call stands (N506)", async (_, headers) => {
    const gateway = refusing()
    const answer = await gateway.post(generate, { contents: history }, headers)
    expect([answer.status, gateway.seen.length]).toStrictEqual([400, 1])
  })
})
