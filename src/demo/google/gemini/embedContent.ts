// Answers embedContent (both services) and batchEmbedContents (Gemini API).
// It must not depend on sockets or credentials.
// Source: recorded answers, publicly quoted refusals.

import { type Answer, type Call, type GoogleError, invalidArgument, jsonAnswer } from "../shared/answers.ts"
import { applyUnaryFault } from "../shared/faults.ts"
import {
  type Backend,
  type Content,
  type ModalityCount,
  partsOf,
  promptTokens,
  totalOf
} from "../shared/generateRequest.ts"
import { embeddingFacts, modelKind, type ModelKind } from "../shared/models.ts"
import type { Route } from "../shared/routes.ts"
import { eightDigits, embed, shorten } from "../shared/vectors.ts"
import { googleOperation, serviceOf, validateShape } from "./validate.ts"

interface Settings {
  readonly taskType?: string
  readonly title?: string
  readonly outputDimensionality?: number
}

interface EmbedRequest extends Settings {
  readonly model?: string
  readonly content: Content
  readonly embedContentConfig?: Settings
}

const mostInBatch = 100

const settingsOf = (request: EmbedRequest): Settings => ({ ...request, ...request.embedContentConfig })

const refusal = (request: EmbedRequest, model: string, path: string): GoogleError | undefined => {
  const parts = partsOf(request.content)
  if (parts.length === 0) return invalidArgument(`* ${path}.content: content is empty\n`)
  if (parts.some((part) => part.text === ""))
    return invalidArgument(`* ${path}.content.parts: text must not be empty\n`)
  const { taskType, title, outputDimensionality: asked } = settingsOf(request)
  const { size } = embeddingFacts(model)
  if (asked !== undefined && (asked < 1 || asked > size)) {
    return invalidArgument(`* ${path}.output_dimensionality: must be between 1 and ${size}\n`)
  }
  return title !== undefined && taskType !== "RETRIEVAL_DOCUMENT"
    ? invalidArgument(`* ${path}.title: title can only be set with task type RETRIEVAL_DOCUMENT\n`)
    : undefined
}

/** All parts of a content make one vector (recorded). */
const valuesOf = (request: EmbedRequest, model: string): ReadonlyArray<number> => {
  const { taskType, title, outputDimensionality } = settingsOf(request)
  const words = partsOf(request.content)
    .map((part) => part.text ?? part.inlineData?.data ?? part.fileData?.fileUri ?? "")
    .join("\n")
  const marks = [taskType, title].filter((mark) => mark !== undefined)
  return eightDigits(shorten(embed(words, embeddingFacts(model).size, marks), outputDimensionality))
}

/** The Gemini API reports usage from gemini-embedding-2 on, and spells it `promptTokenDetails` (recorded). */
const usageOf = (backend: Backend, model: string, counts: ReadonlyArray<ModalityCount>) => {
  const promptTokenCount = totalOf(counts)
  if (backend === "vertex") {
    return { usageMetadata: { promptTokenCount, promptTokensDetails: counts, totalTokenCount: promptTokenCount } }
  }
  return modelKind(model) === "content-embedding"
    ? { usageMetadata: { promptTokenCount, promptTokenDetails: counts } }
    : {}
}

const embedOne = (request: EmbedRequest, { route }: Call): Answer | GoogleError => {
  const model = route.target.id
  const refused = refusal(request, model, "EmbedContentRequest")
  if (refused !== undefined) return refused
  const counts = promptTokens({ contents: [request.content] })
  return jsonAnswer(200, {
    embedding: { values: valuesOf(request, model) },
    ...usageOf(serviceOf(route).backend, model, counts)
  })
}

interface BatchRequest {
  readonly requests: ReadonlyArray<EmbedRequest>
}

const embedBatch = ({ requests }: BatchRequest, { route }: Call): Answer | GoogleError => {
  const model = route.target.id
  const name = "BatchEmbedContentsRequest.requests"
  if (requests.length === 0) return invalidArgument(`* ${name}: requests is empty\n`)
  if (requests.length > mostInBatch)
    return invalidArgument(`* ${name}: at most ${mostInBatch} requests can be in one batch\n`)
  for (const [index, request] of requests.entries()) {
    const refused =
      request.model === `models/${model}`
        ? refusal(request, model, `${name}[${index}]`)
        : invalidArgument(`* ${name}[${index}].model: model name must match the one in the parent request\n`)
    if (refused !== undefined) return refused
  }
  const counts = promptTokens({ contents: requests.map(({ content }) => content) })
  return jsonAnswer(200, {
    embeddings: requests.map((request) => ({ values: valuesOf(request, model) })),
    ...usageOf("google", model, counts)
  })
}

/** Vertex AI serves only the newer models by embedContent. */
const kinds = ({ service }: Route): ReadonlyArray<ModelKind> =>
  service === "google" ? ["text-embedding", "content-embedding"] : ["content-embedding"]

export const embedContent = googleOperation({
  matches: ({ operation, target }) => operation === "embedContent" && target.kind === "model",
  kinds,
  validate: ({ body, route }) => validateShape<EmbedRequest>(body, serviceOf(route), "EmbedContentRequest"),
  answer: embedOne,
  withFault: applyUnaryFault
})

export const batchEmbedContents = googleOperation({
  matches: ({ operation, service }) => service === "google" && operation === "batchEmbedContents",
  kinds,
  validate: ({ body, route }) => validateShape<BatchRequest>(body, serviceOf(route), "BatchEmbedContentsRequest"),
  answer: embedBatch,
  withFault: applyUnaryFault
})
