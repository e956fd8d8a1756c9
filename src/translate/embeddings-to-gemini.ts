// Translator pairs: embeddings to Gemini (batchEmbedContents of the Gemini API, embedContent of Vertex AI).
// Must not depend on URLs, credentials or the splitting of requests.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { Reader } from "../domain/Reader.ts"
import {
  BatchEmbedContentsReply,
  type BatchEmbedContentsRequest,
  type EmbedContent,
  EmbedContentReply,
  type EmbedContentRequest
} from "../wire/google.ts"
import type { EmbeddingList, EmbeddingsRequest, KnownEmbeddingsParam } from "../wire/openai/Embeddings.ts"
import { ignored, ignoredBy, invalid, mapped, silent } from "./shared/chat-request/paramReader.ts"
import { type EmbeddingInput, embeddingModel, readEmbeddings, textOfInput, textsOnly } from "./shared/readEmbeddings.ts"
import { embeddingList, passesVectors, readVector } from "./shared/reply/embeddingList.ts"
import { failureFromGoogle } from "./shared/reply/upstreamFailures.ts"
import { readCount } from "./shared/reply/usage.ts"
import type { ParamRule, Translated, TranslateContext, Unary } from "./Translator.ts"
import { partsToGemini } from "./chat-to-gemini/messages.ts"

type Rules = Readonly<Record<KnownEmbeddingsParam, ParamRule>>

const ours = silent("shapes our own answer")
const noLabels = ignored("the operation takes none")
const noEquivalent = ignored("no equivalent upstream")

export const batchParams: Rules = {
  model: mapped("the URL and requests[].model"),
  input: mapped("requests[].content"),
  dimensions: mapped("requests[].outputDimensionality"),
  encoding_format: ours,
  task_type: mapped("requests[].taskType"),
  title: mapped("requests[].title, with RETRIEVAL_DOCUMENT"),
  auto_truncate: noEquivalent,
  labels: noLabels,
  user: noEquivalent
}

export const embedContentParams: Rules = {
  model: mapped("the URL"),
  input: mapped("content"),
  dimensions: mapped("embedContentConfig.outputDimensionality"),
  encoding_format: ours,
  task_type: mapped("embedContentConfig.taskType"),
  title: mapped("embedContentConfig.title, with RETRIEVAL_DOCUMENT"),
  auto_truncate: mapped("embedContentConfig.autoTruncate"),
  labels: noLabels,
  user: noEquivalent
}

const ignoredOfBatch = ignoredBy(batchParams)
const ignoredOfEmbedContent = ignoredBy(embedContentParams)

/** The content of one vector. An empty text stays, for every input has its vector. */
const contentOf = (reader: Reader, input: EmbeddingInput, target: TranslateContext["target"]): EmbedContent => {
  const text = textOfInput(input)
  if (text !== undefined) return { parts: [{ text }] }
  if (embeddingModel(target)?.takesMedia !== true) reader.take(textsOnly(input.path))
  return { parts: partsToGemini(reader, input.parts, target) }
}

const batchRequest = (
  request: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<BatchEmbedContentsRequest>, RequestFault> =>
  Result.flatMap(readEmbeddings(request), ({ dimensions, inputs, taskType, title, unused }) => {
    const reader = new Reader()
    const model = `models/${target.modelId}`
    const fields = {
      ...(taskType === undefined ? {} : { taskType }),
      ...(title === undefined ? {} : { title }),
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions })
    }
    const requests = reader.each(inputs, (input) => ({ model, content: contentOf(reader, input, target), ...fields }))
    return reader.result({ body: { requests }, headers: {}, ignored: ignoredOfBatch(request, unused) })
  })

const batchResponse = (
  { embeddings, usageMetadata }: BatchEmbedContentsReply,
  context: TranslateContext,
  request: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  const entries = (embeddings ?? []).map(({ values }) => {
    const vector = readVector(values, request, context)
    return vector === undefined ? undefined : { embedding: vector }
  })
  return embeddingList(entries, readCount(usageMetadata?.promptTokenCount ?? undefined), context, request)
}

export const embeddingsToBatch: Unary<
  EmbeddingsRequest,
  BatchEmbedContentsRequest,
  BatchEmbedContentsReply,
  EmbeddingList
> = {
  name: "embeddings-to-gemini-batch",
  reply: BatchEmbedContentsReply,
  passesNumbers: passesVectors,
  request: batchRequest,
  response: batchResponse,
  failure: failureFromGoogle
}

/** One input per call; `cutEmbeddings` guarantees that. */
const embedContentRequest = (
  request: EmbeddingsRequest,
  { target }: TranslateContext
): Result.Result<Translated<EmbedContentRequest>, RequestFault> =>
  Result.flatMap(readEmbeddings(request), ({ dimensions, inputs, taskType, title, unused }) => {
    const reader = new Reader()
    const autoTruncate = request.auto_truncate ?? undefined
    const config = {
      ...(taskType === undefined ? {} : { taskType }),
      ...(title === undefined ? {} : { title }),
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
      ...(autoTruncate === undefined ? {} : { autoTruncate })
    }
    const [input] = inputs
    if (input === undefined) return invalid("input", "invalid_value", "input is empty; send at least one text.")
    const content = contentOf(reader, input, target)
    return reader.result({
      body: { content, ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }) },
      headers: {},
      ignored: ignoredOfEmbedContent(request, unused)
    })
  })

const embedContentResponse = (
  { embedding, truncated, usageMetadata }: EmbedContentReply,
  context: TranslateContext,
  request: EmbeddingsRequest
): Result.Result<EmbeddingList, Reason> => {
  const vector = readVector(embedding?.values, request, context)
  const entries = vector === undefined ? [] : [{ embedding: vector, ...(truncated === true ? { truncated } : {}) }]
  return embeddingList(entries, readCount(usageMetadata?.promptTokenCount ?? undefined), context, request)
}

export const embeddingsToEmbedContent: Unary<EmbeddingsRequest, EmbedContentRequest, EmbedContentReply, EmbeddingList> =
  {
    name: "embeddings-to-gemini",
    reply: EmbedContentReply,
    passesNumbers: passesVectors,
    request: embedContentRequest,
    response: embedContentResponse,
    failure: failureFromGoogle
  }
