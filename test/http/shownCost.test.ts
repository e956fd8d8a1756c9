// What a client sees of the cost of its call: the headers of answers, and the counts of answers that are not strict.
// Must not depend on how a cost is computed; `costs.test.ts` has the amounts.
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { CorsOrigins } from "../../src/http/edge/Cors.ts"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { accountedGateway } from "../support/accounted.ts"
import { gatewaysOver, replying, type ScriptedOptions } from "../support/scripted.ts"

const gatewayOver = gatewaysOver()

const loose = { "x-gateway-strict-schema-compliance": "false" }
const costOf = ({ headers }: Response) => [headers.get("x-gateway-cost-usd"), headers.get("x-gateway-cost-partial")]

/** By the facts of the model: 0.3 for a million in, 2.5 for a million out. */
const gemini = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 }
}
const claude = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1000, output_tokens: 100 }
}
const model = "@google/gemini-2.5-flash"
const messages = [{ role: "user", content: "Hi" }]
const chatPath = "/v1/chat/completions"
const embedding = {
  embeddings: [{ values: [0.5] }],
  usageMetadata: { promptTokenCount: 1000 }
}
const pictures = { predictions: [{ bytesBase64Encoded: "AAAA", mimeType: "image/png" }] }
const drawn = {
  candidates: [
    {
      content: { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] },
      finishReason: "STOP"
    }
  ],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1290,
    totalTokenCount: 1300,
    candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }]
  }
}
const sonnet = "@vertex-ai/anthropic.claude-sonnet-4-6"
const native = "/v1beta/models/gemini-2.5-flash"

const script: TransportScript = ({ url }) => {
  if (url.includes("countTokens")) return replying({ totalTokens: 7 })
  if (url.includes("mbed")) return replying(embedding)
  if (url.includes("flash-image")) return replying(drawn)
  if (url.includes("imagen")) return replying(pictures)
  if (url.includes("stream")) return { status: 200, chunks: [`data: ${JSON.stringify(gemini)}\r\n\r\n`] }
  return replying(url.includes("anthropic") ? claude : gemini)
}

const answerOf = async (path: string, body: object, headers = {}, options: ScriptedOptions = {}) => {
  const answer = await gatewayOver(script, options).post(path, body, headers)
  return { answer, text: await answer.text() }
}
const prices = {
  "gemini-embedding-001": { input: 1 },
  "gemini-2.5-flash-image": { input: 1, output: 1, image_output: 30 }
}

describe("the header of what an answer cost", () => {
  it.each<readonly [what: string, path: string, body: object, cost: string | null]>([
    ["a chat", chatPath, { model, messages }, "0.00055"],
    ["a response", "/v1/responses", { model, input: "Hi" }, "0.00055"],
    ["a message", "/v1/messages", { model: sonnet, max_tokens: 9, messages }, "0.00495"],
    ["vectors", "/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hi" }, "0.001"],
    ["images", "/v1/images/generations", { model: "@google/imagen-4.0-generate-001", prompt: "A cat" }, "0.04"],
    ["Google's own dialect", `${native}:generateContent`, { contents: [{ parts: [{ text: "Hi" }] }] }, "0.00055"],
    ["a count, which is free", `${chatPath}/count_tokens`, { model, messages }, null],
    ["a stream, whose cost comes later", chatPath, { model, messages, stream: true }, null],
    ["a dry run", chatPath, { model, messages, dry: true }, null]
  ])("cost header: is on the answer of %s (W60)", async (_what, path, body, cost) => {
    const headers = "dry" in body ? { "x-gateway-dry-run": "true" } : {}
    const { answer } = await answerOf(path, body, headers, { settings: { prices } })
    expect([answer.status, ...costOf(answer)]).toEqual([200, cost, null])
  })

  it("cost header: has both names for a client of the other prefix, and pages may read it (W60)", async () => {
    const { answer } = await answerOf(
      chatPath,
      { model, messages },
      { "x-portkey-trace-id": "t", origin: "https://a.example" },
      { references: Layer.succeed(CorsOrigins, ["https://a.example"]) }
    )
    expect([
      ...costOf(answer),
      answer.headers.get("x-portkey-cost-usd"),
      answer.headers.get("access-control-expose-headers")
    ]).toEqual(["0.00055", null, "0.00055", "*"])
  })

  it("cost header: is absent without a price or without counts, and without accounting (W60)", async () => {
    const shown = []
    const unpriced = await answerOf(chatPath, { model: "@vertex-ai/endpoints/1", messages })
    shown.push(costOf(unpriced.answer))
    const uncounted = gatewayOver(() => replying({ candidates: gemini.candidates }))
    shown.push(costOf(await uncounted.post(chatPath, { model, messages })))
    const { answer } = await answerOf(chatPath, { model, messages }, {}, { settings: { accounting: false } })
    shown.push(costOf(answer))
    expect(shown).toEqual([
      [null, null],
      [null, null],
      [null, null]
    ])
  })

  it("cost header: waits for the list of prices where no other price is known (W60)", async () => {
    const listed = { model: "@google/gemini-2.5-flash-lite-preview-06-17", messages }
    const { answer } = await answerOf(chatPath, listed)
    expect([answer.status, ...costOf(answer)]).toEqual([200, "0.00014", null])
  })

  it("cost header: an answer from the cache cost nothing, also after a call that failed (W60)", async () => {
    const gateway = accountedGateway(({ url }) =>
      url.includes("pro") ? { status: 503, chunks: ["{}"] } : replying(gemini)
    )
    const config = JSON.stringify({
      strategy: { mode: "fallback" },
      retry: { attempts: 0 },
      cache: { mode: "simple" },
      targets: [
        { provider: "google", override_params: { model: "gemini-2.5-pro" } },
        { provider: "google", override_params: { model: "gemini-2.5-flash" } }
      ]
    })
    const shown = []
    for (const _round of [1, 2]) {
      const answer = await gateway.post(chatPath, { model, messages }, { ...loose, "x-gateway-config": config })
      const { usage } = await answer.json()
      shown.push([answer.headers.get("x-gateway-cache-status"), ...costOf(answer), usage.cost])
    }
    expect(shown).toEqual([
      ["MISS", "0.00055", null, 0.00055],
      ["HIT", "0", null, 0]
    ])
  })
})

describe("the cost in the counts of an answer that is not strict", () => {
  const usageOf = async (path: string, body: object, headers: Record<string, string>, options: ScriptedOptions = {}) =>
    JSON.parse((await answerOf(path, body, headers, options)).text).usage

  it("cost in usage: chats, vectors and images have it, strict ones do not (W61)", async () => {
    const calls = [
      [chatPath, { model, messages }],
      ["/v1/embeddings", { model: "@google/gemini-embedding-001", input: "Hi" }],
      ["/v1/images/generations", { model: "@google/gemini-2.5-flash-image", prompt: "A cat" }]
    ] as const
    const shown = []
    for (const [path, body] of calls) {
      const options = { settings: { prices } }
      const [usage, strict] = [await usageOf(path, body, loose, options), await usageOf(path, body, {}, options)]
      shown.push([usage.cost, "cost_partial" in usage, "cost" in strict])
    }
    expect(shown).toEqual([
      [0.00055, false, false],
      [0.001, false, false],
      [0.03871, false, false]
    ])
  })

  it("cost in usage: a cost that lacks a fee is marked as partial (W61)", async () => {
    const searched = {
      ...gemini,
      candidates: [{ ...gemini.candidates[0], groundingMetadata: { webSearchQueries: ["a"] } }]
    }
    const gateway = gatewayOver(() => replying(searched), {
      settings: { prices: { "gemma-4-26b-a4b-it": { input: 1, output: 1 } } }
    })
    const answer = await gateway.post(chatPath, { model: "@vertex-ai/gemma-4-26b-a4b-it", messages }, loose)
    const { usage } = await answer.json()
    expect([...costOf(answer), usage.cost, usage.cost_partial]).toEqual(["0.0011", "true", 0.0011, true])
  })

  /** The last chunk that has choices or counts. */
  const lastOf = (text: string) => JSON.parse(text.trimEnd().split("\n\n").at(-2)?.slice("data: ".length) ?? "")

  it("cost in usage: the last chunk of a stream has it where counts are asked for, and the row has the same (W61)", async () => {
    const gateway = accountedGateway(script)
    const asked = { model, messages, stream: true, stream_options: { include_usage: true } }
    const shown = []
    for (const [body, headers] of [
      [asked, loose],
      [asked, {}],
      [{ ...asked, stream_options: {} }, loose]
    ] as const) {
      const last = lastOf(await (await gateway.post(chatPath, body, headers)).text())
      shown.push([last.choices.length, last.usage?.total_tokens, last.usage?.cost])
    }
    expect(shown).toEqual([
      [0, 1100, 0.00055],
      [0, 1100, undefined],
      [1, undefined, undefined]
    ])
    const rows = (await gateway.lines()).map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request")
    expect(rows.map(({ cost_usd }) => cost_usd)).toEqual([0.00055, 0.00055, 0.00055])
  })

  it("cost in usage: a stream from the cache cost nothing (W61)", async () => {
    const gateway = gatewayOver(script)
    const body = { model, messages, stream: true, stream_options: { include_usage: true } }
    const shown = []
    for (const _round of [1, 2]) {
      const answer = await gateway.post(chatPath, body, { ...loose, "x-gateway-cache": "60" })
      shown.push([answer.headers.get("x-gateway-cost-usd"), lastOf(await answer.text()).usage.cost])
    }
    expect(shown).toEqual([
      [null, 0.00055],
      ["0", 0]
    ])
  })
})
