// Translator pair: embeddings to predict on Vertex AI, for text models and multimodalembedding@001.
// It must not depend on URLs, credentials or the splitting of requests. Field names: Vertex AI's page on multimodal embeddings.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { type Reader, reading } from "../domain/Reader.ts"
import { hasKeys, isJsonObject, isLongInteger, type Json, type JsonObject } from "../domain/text/json.ts"
import { PredictReply, type PredictRequest } from "../wire/google.ts"
import type { EmbeddingList, EmbeddingsRequest, KnownEmbeddingsParam, Vector } from "../wire/openai/Embeddings.ts"
import { ignored, ignoredBy, mapped, readLabels, silent } from "./shared/chat-request/paramReader.ts"
import { normaliseBase64 } from "./shared/media/base64.ts"
import { isCloudStorageUri, readMedia } from "./shared/media/media.ts"
import { mimeOfPath } from "./shared/media/mime.ts"
import {
  type EmbeddingInput,
  embeddingModel,
  type EmbeddingsOptions,
  readEmbeddings,
  requireTexts
} from "./shared/readEmbeddings.ts"
import {
  type EmbeddingEntry,
  embeddingList,
  encodeVector,
  finishVector,
  readNumbers
} from "./shared/reply/embeddingList.ts"
import { failureFromOpenAi } from "./shared/reply/upstreamFailures.ts"
import { readCount } from "./shared/reply/usage.ts"
import type { ParamRule, TranslateContext, Translated, Unary } from "./Translator.ts"

export const predictEmbeddingsParams = {
  model: mapped("the URL"),
  input: mapped("instances[].content; instances[].text, image and video for multimodalembedding@001"),
  dimensions: mapped("parameters.outputDimensionality; parameters.dimension for multimodalembedding@001"),
  encoding_format: silent("shapes our own answer"),
  task_type: mapped("instances[].task_type; models of texts"),
  title: mapped("instances[].title, with RETRIEVAL_DOCUMENT"),
  auto_truncate: mapped("parameters.autoTruncate; models of texts"),
  labels: mapped("labels; the provider's own models"),
  user: ignored("no equivalent upstream")
} satisfies Record<KnownEmbeddingsParam, ParamRule>

const ignoredPredictEmbeddingsParams: (
  request: EmbeddingsRequest,
  unused: ReadonlyArray<string>
) => ReadonlyArray<string> = ignoredBy(predictEmbeddingsParams)

// The request

/** The instances and parameters, which depend on the kind of model. */
interface Shaped {
  readonly instances: ReadonlyArray<JsonObject>
  readonly parameters: JsonObject
  readonly unused: ReadonlyArray<string>
}

const textShape = (request: EmbeddingsRequest, options: EmbeddingsOptions): Result.Result<Shaped, RequestFault> => {
  const { dimensions, taskType, title } = options
  const autoTruncate = request.auto_truncate ?? undefined
  const words = {
    ...(taskType === undefined ? {} : { task_type: taskType }),
    ...(title === undefined ? {} : { title })
  }
  return Result.map(requireTexts(options.inputs), (texts) => ({
    instances: texts.map((content) => ({ content, ...words })),
    parameters: {
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
      ...(autoTruncate === undefined ? {} : { autoTruncate })
    },
    unused: options.unused
  }))
}

const mediaShape = ({ dimensions, inputs }: EmbeddingsOptions): Result.Result<Shaped, RequestFault> =>
  reading((reader) => ({
    instances: reader.each(inputs, (input) => instanceOf(reader, inFields(input), input.path)),
    parameters: dimensions === undefined ? {} : { dimension: dimensions },
    unused: ["task_type", "title", "auto_truncate"]
  }))

const predictRequest = (
  request: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<PredictRequest>, RequestFault> =>
  Result.gen(function* () {
    const options = yield* readEmbeddings(request)
    const isMultimodal = embeddingModel(target)?.multimodal === true
    const { instances, parameters, unused } = yield* isMultimodal ? mediaShape(options) : textShape(request, options)
    const labels = yield* readLabels(request.labels, target)
    return {
      body: { instances, ...(Object.keys(parameters).length === 0 ? {} : { parameters }), ...labels.body },
      headers: {},
      ignored: ignoredPredictEmbeddingsParams(request, [...unused, ...labels.unused])
    }
  })

// Inputs of multimodalembedding@001

const isFields = (written: unknown): written is JsonObject =>
  isJsonObject(written) && written["type"] === undefined && ["text", "image", "video"].some((name) => name in written)

/** An input in the fields of an instance: parts of chats are sorted into them. */
const inFields = ({ parts, written }: EmbeddingInput): JsonObject => {
  if (isFields(written)) return written
  const fields: Record<string, Json> = {}
  const texts: Array<string> = []
  for (const part of parts) {
    if (part._tag === "Text") texts.push(part.text)
    if (part._tag !== "Media") continue
    const { declaredType, isData, url } = part.source
    const isVideo = (declaredType ?? mimeOfPath(url) ?? url.slice("data:".length)).startsWith("video/")
    fields[isVideo ? "video" : "image"] = {
      [isData ? "base64" : "url"]: url,
      ...(declaredType === undefined ? {} : { mime_type: declaredType })
    }
  }
  return { ...(texts.length === 0 ? {} : { text: texts.join("\n") }), ...fields }
}

/** A text input becomes an instance of that text. */
const instanceOf = (reader: Reader, input: JsonObject, path: string): JsonObject => {
  const text = input["text"] ?? undefined
  if (text !== undefined && (typeof text !== "string" || text === ""))
    reader.invalid(`${path}.text`, "invalid_value", `${path}.text must be a text that is not empty.`)
  const image = mediumOf(reader, input["image"] ?? undefined, `${path}.image`)
  const video = mediumOf(reader, input["video"] ?? undefined, `${path}.video`)
  const stretch = stretchOf(reader, input["video"] ?? undefined, `${path}.video`)
  const instance: JsonObject = {
    ...(text === undefined ? {} : { text }),
    ...(image === undefined ? {} : { image: withType(image) }),
    ...(video === undefined ? {} : { video: { ...video.data, ...stretch } })
  }
  if (!hasKeys(instance))
    reader.invalid(path, "invalid_value", `${path} holds nothing to embed; give text, image or video.`)
  return instance
}

interface Medium {
  readonly data: { readonly gcsUri: string } | { readonly bytesBase64Encoded: string }
  readonly mimeType: string | undefined
}

/** Only images have a field for the type. */
const withType = ({ data, mimeType }: Medium): JsonObject => (mimeType === undefined ? data : { ...data, mimeType })

const forms = "a gs:// URI (url or gcs_uri), a data URI (url) or base64"

/** Reads `{url | base64 | gcs_uri, mime_type?}`; https URLs are refused because media are not fetched here. */
const mediumOf = (reader: Reader, value: Json | undefined, path: string): Medium | undefined => {
  if (value === undefined) return undefined
  if (!isJsonObject(value)) return reader.invalid(path, "invalid_type", `${path} must be an object with ${forms}.`)
  const name = ["gcs_uri", "url", "base64"].find((field) => (value[field] ?? undefined) !== undefined)
  const source = name === undefined ? undefined : value[name]
  if (name === undefined || typeof source !== "string" || source === "") {
    return reader.invalid(`${path}.${name ?? "url"}`, "invalid_value", `${path} needs ${forms}.`)
  }
  const declared = value["mime_type"] ?? undefined
  if (declared !== undefined && typeof declared !== "string") {
    return reader.invalid(`${path}.mime_type`, "invalid_type", `${path}.mime_type must be a string.`)
  }
  if (name !== "base64" && isCloudStorageUri(source)) return { data: { gcsUri: source }, mimeType: declared }
  if (/^data:/i.test(source.slice(0, 5))) {
    const media = { path: `${path}.${name}`, url: source, isData: true, declaredType: declared, filename: undefined }
    const read = reader.take(readMedia(media, { kind: "vertex-ai" }))
    return read?._tag === "Inline"
      ? { data: { bytesBase64Encoded: read.data }, mimeType: read.mimeType }
      : reader.invalid(media.path, "invalid_media_url", `${path} must be ${forms}.`)
  }
  const data = name === "base64" ? normaliseBase64(source) : undefined
  if (data !== undefined) return { data: { bytesBase64Encoded: data }, mimeType: declared }
  return name === "base64"
    ? reader.invalid(
        `${path}.base64`,
        "invalid_base64",
        "The data is not base64: it holds characters or padding base64 does not have."
      )
    : reader.invalid(
        `${path}.${name}`,
        "invalid_media_url",
        `${path}.${name} cannot be read by this model; send ${forms}.`
      )
}

const offsets = [
  ["start_offset", "startOffsetSec"],
  ["end_offset", "endOffsetSec"],
  ["interval", "intervalSec"]
] as const

/** The section of a video to embed, and the length of its segments. */
const stretchOf = (reader: Reader, video: Json | undefined, path: string): JsonObject => {
  const config: Record<string, number> = {}
  for (const [param, field] of offsets) {
    const value = isJsonObject(video) ? (video[param] ?? undefined) : undefined
    if (value === undefined) continue
    if (typeof value !== "number" || !Number.isFinite(value)) {
      const code = typeof value === "number" || isLongInteger(value) ? "invalid_value" : "invalid_type"
      reader.invalid(`${path}.${param}`, code, `${path}.${param} must be a number of seconds.`)
    } else config[field] = value
  }
  return hasKeys(config) ? { videoSegmentConfig: config } : {}
}

// Vectors: of texts, of multimodal inputs, and bare arrays of some self-deployed models

const embeddingsFromPredict = (
  { predictions }: PredictReply,
  context: TranslateContext,
  request: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  let tokens = 0
  const entries = (predictions ?? []).map((prediction) => {
    const embeddings = isJsonObject(prediction) ? prediction["embeddings"] : undefined
    if (!isJsonObject(embeddings))
      return isJsonObject(prediction) ? mediaOf(prediction, request) : bareOf(prediction, request)
    const statistics = isJsonObject(embeddings["statistics"]) ? embeddings["statistics"] : {}
    tokens += readCount(statistics["token_count"])
    const cut = statistics["truncated"] === true ? ({ truncated: true } as const) : {}
    const numbers = readNumbers(embeddings["values"])
    return numbers === undefined ? undefined : { embedding: finishVector(numbers, request, context), ...cut }
  })
  return embeddingList(entries, tokens, context, request)
}

const bareOf = (prediction: Json, request: EmbeddingsRequest): EmbeddingEntry | undefined => {
  const numbers = readNumbers(prediction)
  return numbers === undefined ? undefined : { embedding: encodeVector(numbers, request) }
}

type VectorRead = { readonly vector: Vector | undefined } | "malformed"

/** Reads the vector of a medium: it may be absent, but any other value is malformed. */
const vectorIn = (value: Json | undefined, request: EmbeddingsRequest): VectorRead => {
  if (value === undefined || value === null) return { vector: undefined }
  const numbers = readNumbers(value)
  return numbers === undefined ? "malformed" : { vector: encodeVector(numbers, request) }
}

/** The main vector of an input: the text's, else the image's, else that of the first video segment. */
const mediaOf = (prediction: JsonObject, request: EmbeddingsRequest): EmbeddingEntry | undefined => {
  const image = vectorIn(prediction["imageEmbedding"], request)
  const text = vectorIn(prediction["textEmbedding"], request)
  const videos = segmentsOf(prediction["videoEmbeddings"] ?? [], request)
  if (image === "malformed" || text === "malformed" || videos === undefined) return undefined
  const embedding = text.vector ?? image.vector ?? videos[0]?.embedding
  return embedding === undefined
    ? undefined
    : {
        embedding,
        ...(image.vector === undefined ? {} : { image_embedding: image.vector }),
        ...(videos.length === 0 ? {} : { video_embeddings: videos })
      }
}

type Segments = NonNullable<EmbeddingEntry["video_embeddings"]>

/** Undefined when a segment has no vector. */
const segmentsOf = (value: Json, request: EmbeddingsRequest): Segments | undefined => {
  if (!Array.isArray(value)) return undefined
  const segments = value.flatMap((segment: Json) => segmentOf(segment, request))
  return segments.length === value.length ? segments : undefined
}

const segmentOf = (value: Json, request: EmbeddingsRequest): Segments => {
  if (!isJsonObject(value)) return []
  const { embedding, endOffsetSec: end, startOffsetSec: start } = value
  const numbers = readNumbers(embedding)
  return numbers === undefined
    ? []
    : [
        {
          ...(typeof start === "number" ? { start_offset: start } : {}),
          ...(typeof end === "number" ? { end_offset: end } : {}),
          embedding: encodeVector(numbers, request)
        }
      ]
}

// The pair

export const embeddingsToPredict: Unary<EmbeddingsRequest, PredictRequest, PredictReply, EmbeddingList> = {
  name: "embeddings-to-predict",
  reply: PredictReply,
  request: predictRequest,
  response: embeddingsFromPredict,
  failure: failureFromOpenAi
}
