// Translates predictions to vectors: of texts, of multimodal inputs, and bare arrays of some self-deployed models.
// Must not depend on the request except for the vector encoding.
import type * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { PredictReply } from "../../wire/google/Predict.ts"
import type { EmbeddingList, EmbeddingsRequest, Vector } from "../../wire/openai/Embeddings.ts"
import {
  embeddingList,
  type EmbeddingEntry,
  finishVector,
  readNumbers,
  encodeVector
} from "../shared/reply/embeddingList.ts"
import { readCount } from "../shared/reply/counts.ts"
import type { TranslateContext } from "../Translator.ts"

export const embeddingsFromPredict = (
  { predictions }: PredictReply,
  context: TranslateContext,
  request: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  let tokens = 0
  const found = (predictions ?? []).map((prediction) => {
    const embeddings = isJsonObject(prediction) ? prediction["embeddings"] : undefined
    if (!isJsonObject(embeddings))
      return isJsonObject(prediction) ? mediaOf(prediction, request) : bareOf(prediction, request)
    const statistics = isJsonObject(embeddings["statistics"]) ? embeddings["statistics"] : {}
    tokens += readCount(statistics["token_count"])
    const cut = statistics["truncated"] === true ? ({ truncated: true } as const) : {}
    const numbers = readNumbers(embeddings["values"])
    return numbers === undefined ? undefined : { embedding: finishVector(numbers, request, context), ...cut }
  })
  return embeddingList(found, tokens, context, request)
}

const bareOf = (prediction: Json, request: EmbeddingsRequest): EmbeddingEntry | undefined => {
  const numbers = readNumbers(prediction)
  return numbers === undefined ? undefined : { embedding: encodeVector(numbers, request) }
}

type Read<A> = { readonly found: A | undefined } | "malformed"

/** Reads the vector of a medium: it may be absent, but any other value is malformed. */
const vectorIn = (value: Json | undefined, request: EmbeddingsRequest): Read<Vector> => {
  if (value === undefined || value === null) return { found: undefined }
  const numbers = readNumbers(value)
  return numbers === undefined ? "malformed" : { found: encodeVector(numbers, request) }
}

/** The main vector of an input: the text's, else the image's, else that of the first video segment. */
const mediaOf = (prediction: JsonObject, request: EmbeddingsRequest): EmbeddingEntry | undefined => {
  const image = vectorIn(prediction["imageEmbedding"], request)
  const text = vectorIn(prediction["textEmbedding"], request)
  const videos = stretchesOf(prediction["videoEmbeddings"] ?? [], request)
  if (image === "malformed" || text === "malformed" || videos === undefined) return undefined
  const embedding = text.found ?? image.found ?? videos[0]?.embedding
  return embedding === undefined
    ? undefined
    : {
        embedding,
        ...(image.found === undefined ? {} : { image_embedding: image.found }),
        ...(videos.length === 0 ? {} : { video_embeddings: videos })
      }
}

type Stretches = NonNullable<EmbeddingEntry["video_embeddings"]>

/** Undefined when a segment has no vector. */
const stretchesOf = (value: Json, request: EmbeddingsRequest): Stretches | undefined => {
  if (!Array.isArray(value)) return undefined
  const stretches = value.flatMap((one: Json) => stretchOf(one, request))
  return stretches.length === value.length ? stretches : undefined
}

const stretchOf = (value: Json, request: EmbeddingsRequest): Stretches => {
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
