// Answers embedContent (both services) and batchEmbedContents (Gemini API).
// It must not depend on sockets or credentials.
// Source: recorded answers, publicly quoted refusals.

import {
  type Answer,
  type Call,
  errorAnswer,
  type GoogleError,
  invalidArgument,
  jsonAnswer,
  type Operation
} from "../shared/answers.ts"
import { applyFault, unaryWire } from "../shared/faults.ts"
import {
  type Backend,
  type Content,
  type ModalityCount,
  partsOf,
  promptTokens,
  totalOf
} from "../shared/generateRequest.ts"
import { embeddingFacts, modelKind } from "../shared/models.ts"
import { eightDigits, embed, shorten } from "../shared/vectors.ts"
import { serviceOf, unknownModel, validateShape } from "./validate.ts"

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

const embedOne = (call: Call): Answer => {
  const service = serviceOf(call.route)
  const model = call.route.target.id
  const verdict = validateShape<EmbedRequest>(call.body, service, "EmbedContentRequest")
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  const error = refusal(verdict.request, model, "EmbedContentRequest")
  if (error !== undefined) return errorAnswer(error, false)
  const counts = promptTokens({ contents: [verdict.request.content] })
  return jsonAnswer(200, {
    embedding: { values: valuesOf(verdict.request, model) },
    ...usageOf(service.backend, model, counts)
  })
}

const embedBatch = (call: Call): Answer => {
  const model = call.route.target.id
  const verdict = validateShape<{ readonly requests: ReadonlyArray<EmbedRequest> }>(
    call.body,
    serviceOf(call.route),
    "BatchEmbedContentsRequest"
  )
  if (!verdict.accepted) return errorAnswer(verdict.error, false)
  const { requests } = verdict.request
  const name = "BatchEmbedContentsRequest.requests"
  if (requests.length === 0) return errorAnswer(invalidArgument(`* ${name}: requests is empty\n`), false)
  if (requests.length > mostInBatch)
    return errorAnswer(invalidArgument(`* ${name}: at most ${mostInBatch} requests can be in one batch\n`), false)
  for (const [index, request] of requests.entries()) {
    const error =
      request.model === `models/${model}`
        ? refusal(request, model, `${name}[${index}]`)
        : invalidArgument(`* ${name}[${index}].model: model name must match the one in the parent request\n`)
    if (error !== undefined) return errorAnswer(error, false)
  }
  const counts = promptTokens({ contents: requests.map(({ content }) => content) })
  return jsonAnswer(200, {
    embeddings: requests.map((request) => ({ values: valuesOf(request, model) })),
    ...usageOf("google", model, counts)
  })
}

/** Vertex AI serves only the newer models by embedContent. */
const kindsOn = (call: Call) =>
  call.route.service === "google"
    ? (["text-embedding", "content-embedding"] as const)
    : (["content-embedding"] as const)

const answering =
  (make: (call: Call) => Answer) =>
  (call: Call): Answer => {
    const missing = unknownModel(call, kindsOn(call))
    if (missing !== undefined) return errorAnswer(missing, false)
    return applyFault(call.route.target.id, make(call), {
      callNumber: call.callNumber,
      streaming: false,
      sse: false,
      wire: unaryWire
    })
  }

export const embedContent: Operation = {
  matches: ({ target, operation }) =>
    operation === "embedContent" && target.kind === "model" && target.publisher === "google",
  answer: answering(embedOne)
}

export const batchEmbedContents: Operation = {
  matches: ({ service, operation }) => service === "google" && operation === "batchEmbedContents",
  answer: answering(embedBatch)
}
