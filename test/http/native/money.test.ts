// Attempts to spend more than a budget in Google's own dialects: amounts and prompts that are hard to read, answers without counts.
// Must not depend on how budgets are kept.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterEach, describe, expect, it } from "vitest"
import type { Settings } from "../../../src/domain/settings/Settings.ts"
import { Stopwatch } from "../../../src/accounting/Accounting.ts"
import type { TransportScript } from "../../../src/upstream/Transport.ts"
import { accountedGateway, type AccountedGateway, adminKey, leaveStream, silence } from "../../support/accounted.ts"
import { replying } from "../../support/scripted.ts"
import { gatewayKey } from "../../support/TestGateway.ts"

const open: Array<AccountedGateway> = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose()
})

const prices: Settings["prices"] = {
  "gemini-2.5-flash": { input: 0.3, output: 2.5, cached_input: 0.03 },
  "gemini-2.5-flash-image": { input: 0.3, output: 2.5, image_output: 30 },
  "gemini-embedding-001": { input: 100 },
  "imagen-4.0-generate-001": { image: 0.04 },
  "claude-sonnet-4-6": { input: 3, output: 15 }
}

const gatewayFor = (
  usd: number | undefined,
  script: TransportScript,
  references: Layer.Layer<never> = Layer.empty
): AccountedGateway => {
  const gateway = accountedGateway(script, {
    references,
    settings: {
      keys: [
        {
          name: "ci",
          key: Redacted.make(gatewayKey),
          ...(usd === undefined ? {} : { budget: { usd, per: "month" } })
        },
        { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] }
      ],
      prices
    }
  })
  open.push(gateway)
  return gateway
}

const spentOf = async (gateway: AccountedGateway): Promise<unknown> => {
  const answer = await gateway.admin("/admin/v1/keys/ci")
  return typeof answer === "object" && answer !== null && "spent_usd" in answer ? answer.spent_usd : answer
}

const google = "/v1beta/models"
const flash = `${google}/gemini-2.5-flash:generateContent`
const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
const bounded = { contents, generationConfig: { maxOutputTokens: 1000 } }
/** Tokens of `contents`. */
const prompt = Math.ceil("roleuserpartstextHi".length / 4)
const full = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}
const reasonOf = async (answer: Response): Promise<readonly [number, unknown]> => {
  const body = JSON.parse(await answer.text())
  return [answer.status, body?.error?.details?.[0]?.reason ?? body?.error?.type]
}

describe("native budgets: amounts", () => {
  const long = "x".repeat(1_000_000)
  const schema = { type: "object", description: long }
  const untyped = { data: Buffer.from(long).toString("base64") }
  const claudeAt = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-6:rawPredict"
  it.each<readonly [string, string, object]>([
    ["a bound as a text", flash, { contents, generationConfig: { maxOutputTokens: "60000" } }],
    ["a bound as a text in snake case", flash, { contents, generation_config: { max_output_tokens: "6e4" } }],
    ["answers as a text", flash, { contents, generationConfig: { maxOutputTokens: 8_000, candidateCount: "8" } }],
    [
      "a budget of thoughts as a text",
      flash,
      { contents, generationConfig: { thinkingConfig: { thinkingBudget: "24576" } } }
    ],
    ["a level of thoughts", flash, { contents, generationConfig: { thinkingConfig: { thinkingLevel: "high" } } }],
    ["a schema of the answer", flash, { ...bounded, generationConfig: { responseSchema: schema } }],
    ["a schema in snake case", flash, { contents, generation_config: { response_json_schema: schema } }],
    ["data without a type", flash, { contents: [{ parts: [{ inlineData: untyped }] }] }],
    [
      "text that is declared to be a picture",
      flash,
      { contents: [{ parts: [{ inline_data: { ...untyped, mime_type: "image/png" } }] }] }
    ],
    ["a cached content", flash, { ...bounded, cachedContent: "cachedContents/a" }],
    [
      "pictures without a number",
      "/v1/publishers/google/models/imagen-4.0-generate-001:predict",
      { instances: [{ prompt: "A cat" }] }
    ],
    [
      "pictures by a text",
      "/v1/publishers/google/models/imagen-4.0-generate-001:predict",
      { instances: [{ personImage: {} }], parameters: { sampleCount: "4" } }
    ],
    [
      "a picture of a chat",
      `${google}/gemini-2.5-flash-image:generateContent`,
      { contents, generationConfig: { maxOutputTokens: "1", imageConfig: { imageSize: "4K" } } }
    ],
    [
      "a text to be embedded",
      `${google}/gemini-embedding-001:embedContent`,
      { content: { parts: [{ text: long.slice(0, 2_000) }] } }
    ],
    ["a message of Claude", claudeAt, { messages: [{ role: "user", content: "Hi" }], max_tokens: 5_000 }]
  ])("native budget: %s is reserved before the call (N310)", async (_name, path, body) => {
    const gateway = gatewayFor(0.03, () => replying(full))
    const answer = await gateway.post(path, body)
    // Claude's verbs have Anthropic's errors.
    expect([answer.status, gateway.seen]).toEqual([path.includes("/anthropic/") ? 402 : 429, []])
  })

  it.each<readonly [string, object]>([
    ["a small bound as a text", { contents, generationConfig: { maxOutputTokens: "100" } }],
    [
      "a large picture",
      {
        contents: [
          {
            parts: [
              {
                inlineData: {
                  mimeType: "image/png",
                  data: Buffer.from("\x89PNG\r\n\x1a\n".padEnd(1_000_000, "\0"), "latin1").toString("base64")
                }
              }
            ]
          }
        ],
        generationConfig: { maxOutputTokens: 100 }
      }
    ]
  ])("native budget: %s passes (N310)", async (_name, body) => {
    const gateway = gatewayFor(0.03, () => replying(full))
    expect((await gateway.post(flash, body)).status).toBe(200)
  })

  it("native budget: a config's bound is reserved, whichever name the body has for it (N309, N310)", async () => {
    const gateway = gatewayFor(0.03, () => replying(full))
    const google = { generationConfig: { maxOutputTokens: 60_000 } }
    const config = { "x-gateway-config": JSON.stringify({ provider: "google", override_params: { google } }) }
    const answer = await gateway.post(flash, { contents, generation_config: { max_output_tokens: 1 } }, config)
    expect([answer.status, gateway.seen]).toEqual([429, []])
  })

  it("native budget: both names of a member are refused, for every key (N309)", async () => {
    for (const usd of [0.03, undefined]) {
      const gateway = gatewayFor(usd, () => replying(full))
      const answer = await gateway.post(flash, {
        contents,
        generationConfig: { maxOutputTokens: 1, max_output_tokens: 60_000 }
      })
      const { error } = await answer.json()
      expect([answer.status, error, gateway.seen]).toStrictEqual([
        400,
        {
          code: 400,
          message:
            '"maxOutputTokens" and "max_output_tokens" are two names of generationConfig.maxOutputTokens; send one of them.',
          status: "INVALID_ARGUMENT",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.ErrorInfo",
              reason: "DUPLICATE_KEY",
              domain: "model-gateway",
              metadata: { requestId: "request-1" }
            },
            {
              "@type": "type.googleapis.com/google.rpc.BadRequest",
              fieldViolations: [
                {
                  field: "generationConfig.maxOutputTokens",
                  description:
                    '"maxOutputTokens" and "max_output_tokens" are two names of generationConfig.maxOutputTokens; send one of them.'
                }
              ]
            }
          ]
        },
        []
      ])
    }
  })
})

describe("native budgets: forms of the answer", () => {
  const streaming = `${google}/gemini-2.5-flash:streamGenerateContent`
  const raw = "/v1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict"
  const message = { messages: [{ role: "user", content: "Hi" }], max_tokens: 5 }
  it.each([
    [flash, { contents }],
    [streaming, { contents }],
    [`${google}/gemini-2.5-flash:countTokens`, { contents }],
    [`${google}/gemini-embedding-001:embedContent`, { content: contents[0] }],
    ["/v1/publishers/google/models/gemini-2.5-flash:generateContent", { contents }],
    ["/v1/publishers/google/models/imagen-4.0-generate-001:predict", { instances: [{ prompt: "A" }] }],
    [raw, message]
  ])("native form: %s is served as JSON or events only (N212)", async (path, body) => {
    const gateway = gatewayFor(1, () => replying(full))
    const refused = []
    for (const query of ["alt=media", "$alt=proto", "%24alt=proto", "alt=json&alt=proto", "ALT=PROTO", "oauth_token=a"])
      refused.push(await reasonOf(await gateway.post(`${path}?${query}`, body)))
    const reason = path === raw ? "invalid_request_error" : "INVALID_VALUE"
    expect([refused, gateway.seen]).toStrictEqual([Array.from({ length: 6 }, () => [400, reason]), []])
  })

  it("native form: what would cut the counts out of an answer does not go up (N209, N210)", async () => {
    const gateway = gatewayFor(1, () => replying(full))
    const answer = await gateway.post(
      `${flash}?fields=candidates&$fields=candidates&callback=f&$.xgafv=1&alt=sse`,
      { contents },
      {
        "x-goog-fieldmask": "candidates",
        "x-http-method-override": "GET",
        "x-goog-api-client": "a"
      }
    )
    expect([
      answer.status,
      answer.headers.get("x-gateway-ignored-params"),
      gateway.seen.map(({ headers, url }) => [url, Object.keys(headers)])
    ]).toStrictEqual([
      200,
      "fields,$fields,callback",
      [[`https://generativelanguage.googleapis.com${flash}`, ["content-type"]]]
    ])
  })

  it("native form: a mask is refused where the client wants no silent changes (N209)", async () => {
    const gateway = gatewayFor(1, () => replying(full))
    const answer = await gateway.post(
      `${flash}?fields=candidates`,
      { contents },
      { "x-gateway-unsupported-params": "reject" }
    )
    expect([await reasonOf(answer), gateway.seen]).toStrictEqual([[400, "UNSUPPORTED_PARAMETER"], []])
  })
})

describe("native budgets: answers without counts", () => {
  const uncounted = { candidates: full.candidates }
  const sse = (...events: ReadonlyArray<object>) => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
  const streaming = `${google}/gemini-2.5-flash:streamGenerateContent`
  const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }
  const chatPrompt = Math.ceil("roleusercontentHi".length / 4)
  const claude = { type: "message", id: "m", model: "m", content: [], stop_reason: "end_turn" }
  const drawn = {
    candidates: [
      { content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] }, finishReason: "STOP" }
    ]
  }
  const of = (value: object) => ({ status: 200, chunks: [JSON.stringify(value)] })
  const ofStream = (...events: ReadonlyArray<object>) => ({ status: 200, chunks: sse(...events) })

  it.each<readonly [string, string, object, { status: number; chunks: ReadonlyArray<string> }, number]>([
    ["a chat", "/v1/chat/completions", { ...chat, max_tokens: 1000 }, of(uncounted), 0.3 * chatPrompt + 2500],
    [
      "a streamed chat",
      "/v1/chat/completions",
      { ...chat, max_tokens: 1000, stream: true },
      ofStream(uncounted),
      0.3 * chatPrompt + 2500
    ],
    [
      "a response",
      "/v1/responses",
      { model: chat.model, input: "Hi", max_output_tokens: 1000 },
      of(uncounted),
      0.3 * chatPrompt + 2500
    ],
    [
      "a message",
      "/v1/messages",
      { ...chat, model: "@vertex-ai/claude-sonnet-4-6", max_tokens: 1000 },
      of(claude),
      3 * chatPrompt + 15_000
    ],
    [
      "an embedding",
      "/v1/embeddings",
      { model: "@google/gemini-embedding-001", input: "x".repeat(40) },
      of({ embeddings: [{ values: [1] }] }),
      1000
    ],
    [
      "pictures",
      "/v1/images/generations",
      { model: "@google/gemini-2.5-flash-image", prompt: "abcd" },
      of(drawn),
      Math.round(0.3 + 1290 * 30)
    ],
    ["a native answer", flash, bounded, of(uncounted), 0.3 * prompt + 2500],
    [
      "an answer with counts of nothing",
      flash,
      bounded,
      of({ ...uncounted, usageMetadata: { trafficType: "ON_DEMAND" } }),
      0.3 * prompt + 2500
    ],
    ["a native stream", `${streaming}?alt=sse`, bounded, ofStream(uncounted), 0.3 * prompt + 2500],
    [
      "a native stream that counts its prompt alone",
      `${streaming}?alt=sse`,
      bounded,
      ofStream({ ...uncounted, usageMetadata: { promptTokenCount: 9 } }),
      0.3 * prompt + 2500
    ],
    ["a native array", streaming, bounded, of([uncounted]), 0.3 * prompt + 2500],
    [
      "a native embedding",
      `${google}/gemini-embedding-001:embedContent`,
      { content: { parts: [{ text: "x".repeat(31) }] } },
      of({ embedding: { values: [1] } }),
      1000
    ],
    [
      "predictions",
      "/v1/publishers/google/models/imagen-4.0-generate-001:predict",
      { instances: [{ prompt: "A" }], parameters: { sampleCount: 2 } },
      of({ predictions: [] }),
      80_000
    ],
    [
      "rawPredict",
      "/v1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict",
      { messages: chat.messages, max_tokens: 1000 },
      of(claude),
      3 * chatPrompt + 15_000
    ]
  ])("budget: %s without readable counts costs its reserve (N312)", async (_name, path, body, reply, micros) => {
    const gateway = gatewayFor(1, () => reply)
    const answer = await gateway.post(path, body)
    await answer.text()
    expect([answer.status, await spentOf(gateway)]).toStrictEqual([200, Math.round(micros) / 1e6])
  })
})

describe("native budgets: streams that are cut", () => {
  const streaming = `${google}/gemini-2.5-flash:streamGenerateContent`
  const event = (text: string, usageMetadata?: object) => ({
    candidates: [{ content: { role: "model", parts: [{ text }] } }],
    ...(usageMetadata === undefined ? {} : { usageMetadata }),
    modelVersion: "gemini-2.5-flash",
    responseId: "x".repeat(100)
  })
  const sse = (one: object) => `data: ${JSON.stringify(one)}\r\n\r\n`
  const array = (one: object, index: number) => `${index === 0 ? "[" : ","}${JSON.stringify(one)}\r\n`
  const last = "the end!!!"
  const words = [...Array.from({ length: 39 }, (_, at) => `word${at % 10} and `), last]
  const uncounted = words.map((text) => event(text, { trafficType: "ON_DEMAND" }))
  const counted = words.map((text, at) =>
    event(text, { promptTokenCount: 7, candidatesTokenCount: 3 * (at + 1), thoughtsTokenCount: 20 })
  )
  const streamed = (40 * last.length) / 4
  const rows = [
    ["events with counts", "?alt=sse", counted.map(sse), 7, 3 * 40 + 20],
    ["events without counts", "?alt=sse", uncounted.map(sse), prompt, streamed],
    ["an array with counts", "", counted.map(array), 7, 3 * 40 + 20],
    ["an array without counts", "", uncounted.map(array), prompt, streamed],
    ["events with early counts", "?alt=sse", [...counted.slice(0, 1), ...uncounted.slice(1)].map(sse), 7, streamed]
  ] as const
  const cost = (input: number, output: number) => Math.round(0.3 * input + 2.5 * output) / 1e6
  const usage = (input: number, output: number) => ({
    data: [{ key: "ci", input_tokens: input, output_tokens: output, cost_usd: cost(input, output) }]
  })

  it.each(rows)(
    "native stream: %s that the client leaves cost what was received (N311)",
    async (_name, query, chunks, input, output) => {
      const gateway = gatewayFor(1, () => ({ status: 200, chunks: [...chunks, silence] }))
      await leaveStream(gateway, streaming + query, { contents }, last)
      expect(await spentOf(gateway)).toBe(cost(input, output))
      expect(await gateway.admin("/admin/v1/usage?group_by=key")).toMatchObject(usage(input, output))
    }
  )

  it.each(rows)(
    "native stream: %s that the upstream breaks off cost what was received (N311)",
    async (_name, query, chunks, input, output) => {
      const gateway = gatewayFor(1, () => Effect.succeed({ status: 200, chunks, fault: "reset" } as const))
      await (await gateway.post(streaming + query, { contents })).text()
      expect(await spentOf(gateway)).toBe(cost(input, output))
    }
  )

  it.each([
    ["uncounted", uncounted, 1000, streamed + 400],
    ["uncounted, below a bound", uncounted, 150, 150],
    ["counted", counted, 1000, 3 * 40 + 20]
  ])(
    "native stream: thoughts that a cut one (%s) never sends take the time before its first chunk (N311)",
    async (_name, events, maxOutputTokens, output) => {
      let now = 0
      const script = () => {
        now += 4000
        return Effect.succeed({ status: 200, chunks: events.map(sse), fault: "reset" } as const)
      }
      const gateway = gatewayFor(
        1,
        script,
        Layer.succeed(Stopwatch, () => now)
      )
      const body = { contents, generationConfig: { maxOutputTokens } }
      await (await gateway.post(`${streaming}?alt=sse`, body)).text()
      expect(await spentOf(gateway)).toBe(cost(events === counted ? 7 : prompt, output))
    }
  )

  it("native stream: a picture in a cut one costs its reserve (N311)", async () => {
    const picture = { candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] } }] }
    const gateway = gatewayFor(1, () =>
      Effect.succeed({ status: 200, chunks: [sse(picture)], fault: "reset" } as const)
    )
    await (
      await gateway.post(`${google}/gemini-2.5-flash-image:streamGenerateContent?alt=sse`, {
        contents,
        generationConfig: { maxOutputTokens: 10 }
      })
    ).text()
    expect(await spentOf(gateway)).toBe(Math.round(0.3 * prompt + 2.5 * 10 + 30 * 1290) / 1e6)
  })
})
