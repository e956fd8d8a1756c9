// Predictions as vectors: those of texts, those of several media, and the bare arrays some self-deployed models answer.
// It must not know requests beyond the form in which vectors are wanted.
import type * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { PredictReply } from "../../wire/google/Predict.ts"
import type { EmbeddingList, EmbeddingsRequest, Vector } from "../../wire/openai/Embeddings.ts"
import { embeddingList, type Found, numbersOf, vectorOf } from "../shared/reply/embeddingList.ts"
import { count } from "../shared/reply/counts.ts"
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
    tokens += count(statistics["token_count"])
    const cut = statistics["truncated"] === true ? ({ truncated: true } as const) : {}
    const numbers = numbersOf(embeddings["values"])
    return numbers === undefined ? undefined : { embedding: vectorOf(numbers, request), ...cut }
  })
  return embeddingList(found, tokens, context, request)
}

const bareOf = (prediction: Json, request: EmbeddingsRequest): Found | undefined => {
  const numbers = numbersOf(prediction)
  return numbers === undefined ? undefined : { embedding: vectorOf(numbers, request) }
}

type Read<A> = { readonly found: A | undefined } | "malformed"

/** The vector of a medium, which may be left out but not be something else. */
const vectorIn = (value: Json | undefined, request: EmbeddingsRequest): Read<Vector> => {
  if (value === undefined || value === null) return { found: undefined }
  const numbers = numbersOf(value)
  return numbers === undefined ? "malformed" : { found: vectorOf(numbers, request) }
}

/** The text's vector stands for the input, else the image's, else that of the first stretch of the video. */
const mediaOf = (prediction: JsonObject, request: EmbeddingsRequest): Found | undefined => {
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

type Stretches = NonNullable<Found["video_embeddings"]>

/** Undefined when any stretch has no vector. */
const stretchesOf = (value: Json, request: EmbeddingsRequest): Stretches | undefined => {
  if (!Array.isArray(value)) return undefined
  const stretches = value.flatMap((one: Json) => stretchOf(one, request))
  return stretches.length === value.length ? stretches : undefined
}

const stretchOf = (value: Json, request: EmbeddingsRequest): Stretches => {
  if (!isJsonObject(value)) return []
  const { embedding, endOffsetSec: end, startOffsetSec: start } = value
  const numbers = numbersOf(embedding)
  return numbers === undefined
    ? []
    : [
        {
          ...(typeof start === "number" ? { start_offset: start } : {}),
          ...(typeof end === "number" ? { end_offset: end } : {}),
          embedding: vectorOf(numbers, request)
        }
      ]
}
