// Tests every recorded exchange of embeddings, image generation and token counting, and handwritten ones, both ways.
// Must not open sockets or read clocks.
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/text/json.ts"
import type { Reason } from "../../src/domain/ProviderError.ts"
import { countToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { embeddingsToBatch, embeddingsToEmbedContent } from "../../src/translate/embeddings-to-gemini.ts"
import { embeddingsToPredict } from "../../src/translate/embeddings-to-predict.ts"
import { imagesToImagen } from "../../src/translate/images-to-imagen.ts"
import { strictlyEmbeddings, strictlyImages } from "../../src/translate/shared/reply/clientForm.ts"
import type { EmbeddingsRequest } from "../../src/wire/openai/Embeddings.ts"
import { chatContext, chatRequest } from "../support/chat.ts"
import { isUnscaled } from "../../src/translate/shared/readEmbeddings.ts"
import { loudlySkipped, type Recording, recordings, sharedDir } from "../support/shared.ts"
import { drive, schemaErrors } from "../support/unary.ts"

const fixtures = new URL("../fixtures/unary/", import.meta.url)
const own = readdirSync(fixtures)
  .sort()
  .map((name): Recording => JSON.parse(readFileSync(new URL(name, fixtures), "utf8")))
const folders = ["gemini-embeddings", "gemini-count-tokens", "vertex-count-tokens", "vertex-predict"]
const all = [...own, ...folders.flatMap(recordings)]
if (sharedDir() === undefined) loudlySkipped("recorded embeddings, images and token counts")

const modelOf = ({ request }: Recording): string => /models\/([^:/]+):/.exec(request.url)?.[1] ?? ""
const contextOf = (recording: Recording) =>
  chatContext(modelOf(recording), { kind: recording.provider.startsWith("vertex") ? "vertex-ai" : "google" })
const bodyOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
const listIn = (body: unknown, name: string): ReadonlyArray<JsonObject> => {
  const list = bodyOf(body)[name]
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
const name = ({ id }: Recording): string => id.slice(id.lastIndexOf("/") + 1)

const isImage = (recording: Recording): boolean => modelOf(recording).startsWith("imag")
const isEmbedding = (recording: Recording): boolean => recording.operation !== "countTokens" && !isImage(recording)
const succeeded = all.filter(({ response }) => response.status < 300)
const failed = all.filter(({ response }) => response.status >= 300)

const batch = drive(embeddingsToBatch, "BatchEmbedContentsRequest")
const embed = drive(embeddingsToEmbedContent, "EmbedContentRequest")
const predict = drive(embeddingsToPredict, "PredictRequest")
const imagen = drive(imagesToImagen, "PredictRequest")
const count = drive(countToGemini, "CountTokensRequest")

const pairs = { batchEmbedContents: batch, embedContent: embed, predict }
const pairOf = ({ operation }: Recording) =>
  operation === "batchEmbedContents"
    ? pairs.batchEmbedContents
    : operation === "embedContent"
      ? pairs.embedContent
      : pairs.predict

/** The vectors of an answer of any operation, as the upstream sent them. */
const vectorsIn = (body: unknown): ReadonlyArray<Json | undefined> => [
  ...listIn(body, "embeddings").map(({ values }) => values),
  ...listIn(body, "predictions").map(({ embeddings }) => bodyOf(embeddings)["values"]),
  ...("embedding" in bodyOf(body) ? [bodyOf(bodyOf(body)["embedding"])["values"]] : [])
]

const tokensIn = (body: unknown): number => {
  const told = bodyOf(bodyOf(body)["usageMetadata"])["promptTokenCount"]
  const statistics = listIn(body, "predictions").map(({ embeddings }) =>
    Number(bodyOf(bodyOf(embeddings)["statistics"])["token_count"])
  )
  return typeof told === "number" ? told : statistics.reduce((sum, one) => sum + one, 0)
}

/** The client request that leads to the recorded one; undefined for forms no client can request. */
const askedFor = ({ request }: Recording): EmbeddingsRequest | undefined => {
  const body = bodyOf(request.body)
  const items = [
    ...listIn(body, "requests"),
    ...listIn(body, "instances"),
    ...("content" in body && !("requests" in body) ? [body] : [])
  ]
  const input: Array<string> = []
  for (const item of items) {
    const parts = listIn(item["content"], "parts")
    const text =
      typeof item["content"] === "string" ? item["content"] : parts.length === 1 ? parts[0]?.["text"] : undefined
    if (typeof text !== "string") return undefined
    input.push(text)
  }
  const words: JsonObject = { ...items[0], ...bodyOf(body["parameters"]), ...bodyOf(body["embedContentConfig"]) }
  const optional = {
    dimensions: words["outputDimensionality"] ?? words["output_dimensionality"],
    task_type: words["taskType"] ?? words["task_type"],
    title: words["title"],
    auto_truncate: words["autoTruncate"]
  }
  if (input.length === 0) return undefined
  return {
    model: "m",
    input,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined))
  }
}

describe("recorded embeddings (T1501 to T1512, L11 to L14)", () => {
  const asked = succeeded.filter(isEmbedding).flatMap((recording) => {
    const request = askedFor(recording)
    return request === undefined ? [] : [{ recording, request }]
  })
  for (const { recording, request } of asked) {
    it(`a recorded embeddings request gives its body: ${name(recording)}`, () => {
      const respelled = JSON.parse(
        JSON.stringify(recording.request.body).replaceAll("output_dimensionality", "outputDimensionality")
      )
      expect(pairOf(recording).sent(request, contextOf(recording))).toEqual({ body: respelled, ignored: [] })
    })
  }

  for (const recording of succeeded.filter(isEmbedding)) {
    const { body } = recording.response
    const given = vectorsIn(body)
    const texts: EmbeddingsRequest = askedFor(recording) ?? { model: "m", input: given.map(() => "text") }
    const isScaled = texts.dimensions !== undefined && isUnscaled(contextOf(recording).target)
    const vectors = isScaled ? given.map((vector) => scaled([vector].flat().map(Number))) : given
    it(`a recorded embeddings answer is read: ${name(recording)}`, () => {
      const full = pairOf(recording).answer(bodyOf(body), contextOf(recording), texts)
      expect(full.data.map(({ embedding }) => embedding)).toEqual(vectors)
      expect(full.data.map(({ index }) => index)).toEqual(vectors.map((_, index) => index))
      expect(full.usage).toEqual({ prompt_tokens: tokensIn(body), total_tokens: tokensIn(body) })
      expect(full.model).toBe(modelOf(recording))
      expect(schemaErrors("openai.schema.json", "strict.CreateEmbeddingResponse", strictlyEmbeddings(full))).toBe(null)
    })
    it(`a recorded embeddings answer is read as base64: ${name(recording)} (T1506)`, () => {
      const packed = pairOf(recording).answer(bodyOf(body), contextOf(recording), {
        ...texts,
        encoding_format: "base64"
      })
      for (const [at, { embedding }] of packed.data.entries()) {
        const bytes = Buffer.from(String(embedding), "base64")
        const floats = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
        expect(floats).toEqual([vectors[at] ?? []].flat().map((value) => Math.fround(Number(value))))
      }
    })
  }
})

/** The vector at unit length, as shortened ones of older models are given; one that is nearly so stays. */
const scaled = (vector: ReadonlyArray<number>): ReadonlyArray<number> => {
  const length = Math.hypot(...vector)
  return Math.abs(length - 1) < 1e-3 ? vector : vector.map((value) => value / length)
}

describe("recorded images (T1601, T1607, T1608, T1610)", () => {
  const whole = (body: unknown) =>
    listIn(body, "predictions").filter((one) => "bytesBase64Encoded" in one || "gcsUri" in one)

  for (const recording of succeeded.filter(isImage)) {
    it(`a recorded image answer is read: ${name(recording)}`, () => {
      const { body } = recording.response
      const full = imagen.answer(bodyOf(body), contextOf(recording), { model: "m", prompt: "p" })
      expect(full.data.map((image) => image.b64_json ?? image.url)).toEqual(
        whole(body).map((one) => one["bytesBase64Encoded"] ?? one["gcsUri"])
      )
      expect(full.data.map((image) => image.safety_attributes)).toEqual(
        whole(body).map((one) => one["safetyAttributes"])
      )
      expect(full.output_format).toBe(String(whole(body)[0]?.["mimeType"]).replace("image/", ""))
      expect(schemaErrors("openai.schema.json", "strict.ImagesResponse", strictlyImages(full))).toBe(null)
    })
  }
})

describe("recorded token counts (T1701, T1703, T1704)", () => {
  for (const recording of succeeded.filter(({ operation }) => operation === "countTokens")) {
    it(`a recorded token count is read: ${name(recording)}`, () => {
      const body = bodyOf(recording.response.body)
      const full = count.answer(body, contextOf(recording), chatRequest([{ role: "user", content: "hi" }]))
      const text = listIn(body, "promptTokensDetails").find(({ modality }) => modality === "TEXT")?.["tokenCount"]
      expect(full).toEqual({
        object: "token_count",
        model: modelOf(recording),
        input_tokens: body["totalTokens"],
        ...(text === undefined ? {} : { input_tokens_details: { text_tokens: text } }),
        ...(body["totalBillableCharacters"] === undefined
          ? {}
          : { total_billable_characters: body["totalBillableCharacters"] }),
        provider: contextOf(recording).target.kind
      })
    })
  }
})

describe("recorded errors of unary operations (table 14)", () => {
  const rows: Readonly<Record<string, readonly [Reason["_tag"], string | undefined]>> = {
    "own-predict-permission": ["PermissionDenied", undefined],
    "batch-embed-no-such-embedding-model-error-404-not-found": ["ModelNotFound", undefined],
    "count-tokens-nonexistent-model-error-404-not-found": ["ModelNotFound", undefined],
    "predict-error-400": ["InvalidRequest", "content_policy_violation"]
  }
  for (const recording of failed) {
    it(`a recorded error maps to its reason: ${name(recording)}`, () => {
      const pair = isImage(recording)
        ? imagesToImagen
        : recording.operation === "countTokens"
          ? countToGemini
          : embeddingsToBatch
      const { body, headers, status } = recording.response
      const reason = pair.failure(status, headers, bodyOf(body), "stored")
      expect([reason._tag, "code" in reason ? reason.code : undefined]).toEqual(rows[name(recording)])
      expect(/googleapis\.com|test-project/.test(reason.message)).toBe(false)
    })
  }
})
