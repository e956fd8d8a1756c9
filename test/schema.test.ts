// Decodes and encodes what a served gateway receives and answers with the exported codecs, route by route.
// Must not know how a codec is made.
import * as Schema from "effect/Schema"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as codecs from "../src/schema.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "./support/TestGateway.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const send = (path: string, body?: object) =>
  fetch(`${gateway.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

/** The value after decoding and encoding. */
const through = (codec: Schema.Codec<unknown, unknown>, value: unknown): unknown =>
  Schema.encodeUnknownSync(codec)(Schema.decodeUnknownSync(codec)(value))

const messages = [{ role: "user", content: "Hello" }]
const gemini = "@google/gemini-2.5-flash"
const claude = "@vertex-ai/anthropic.claude-sonnet-4-5"

const bodies: ReadonlyArray<readonly [path: string, body: AnyCodec, answer: AnyCodec, asked: object]> = [
  ["/v1/chat/completions", codecs.ChatBody, codecs.ChatCompletion, { model: gemini, messages }],
  ["/v1/chat/completions/count_tokens", codecs.ChatBody, codecs.TokenCount, { model: gemini, messages }],
  [
    "/v1/embeddings",
    codecs.EmbeddingsBody,
    codecs.EmbeddingList,
    { model: "@google/gemini-embedding-001", input: ["a"] }
  ],
  [
    "/v1/images/generations",
    codecs.ImagesBody,
    codecs.ImageList,
    { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "a" }
  ],
  ["/v1/messages", codecs.MessagesBody, codecs.Message, { model: claude, max_tokens: 9, messages }],
  ["/v1/messages/count_tokens", codecs.MessagesCountBody, codecs.MessagesCount, { model: claude, messages }],
  ["/v1/responses", codecs.ResponsesBody, codecs.Response, { model: gemini, input: "Hello" }]
]

describe("codecs of routes", () => {
  it.each(bodies)("codecs: %s keeps its body and its answer", async (path, body, answer, asked) => {
    const response = await send(path, asked)
    const answered: unknown = await response.json()
    expect([response.status, through(body, asked), through(answer, answered)]).toEqual([200, asked, answered])
  })

  it.each([
    ["/v1/chat/completions", codecs.ChatChunk, { model: gemini, messages, stream: true }],
    ["/v1/messages", codecs.MessageEvent, { model: claude, max_tokens: 9, messages, stream: true }],
    ["/v1/responses", codecs.ResponsesEvent, { model: gemini, input: "Hello", stream: true }]
  ] as ReadonlyArray<readonly [string, AnyCodec, object]>)(
    "codecs: %s keeps every event of a stream",
    async (path, codec, asked) => {
      const text = await (await send(path, asked)).text()
      const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]): unknown => JSON.parse(data))
      expect(events.length).toBeGreaterThan(2)
      expect(events.map((event) => through(codec, event))).toEqual(events)
    }
  )

  it.each([
    ["/v1/chat/completions", codecs.OpenAiError],
    ["/v1/messages", codecs.AnthropicError],
    ["/v1beta/models/gemini-2.5-flash:generateContent", codecs.GoogleError]
  ] as ReadonlyArray<readonly [string, AnyCodec]>)("codecs: %s keeps its error", async (path, codec) => {
    const response = await send(path, { messages: 1 })
    const answered: unknown = await response.json()
    expect([response.status, through(codec, answered)]).toEqual([400, answered])
  })

  it("codecs: GET /v1/models keeps its list", async () => {
    const answered: unknown = await (await send("/v1/models")).json()
    expect(through(codecs.ModelList, answered)).toEqual(answered)
  })

  it.each(Object.entries(codecs))("codecs: %s has a JSON Schema", (_name, codec) => {
    const { schema } = Schema.toJsonSchemaDocument(codec)
    expect(Object.keys(schema).length).toBeGreaterThan(0)
  })
})
