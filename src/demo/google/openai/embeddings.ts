// Answers embeddings in OpenAI's dialect, as self-deployed endpoints do.
// It must not depend on sockets or credentials.
// Source: OpenAI's published description of its API.

import { withoutNulls } from "../shapes/open.ts"
import { embeddingsRequest } from "../shapes/openai.ts"
import { type Answer, type Call, jsonAnswer, type Operation } from "../shared/answers.ts"
import { applyUnaryFault } from "../shared/faults.ts"
import { textTokens } from "../shared/generateRequest.ts"
import { embed, shorten } from "../shared/vectors.ts"
import { badRequest, type ContainerError, containerRefusal, mismatchError, missingModel } from "./rules.ts"

interface EmbeddingsRequest {
  readonly model: string
  readonly input: string | ReadonlyArray<string | number | ReadonlyArray<number>>
  readonly encoding_format?: string
  readonly dimensions?: number
}

const size = 768

/** A list of numbers is one tokenised text. */
const textsOf = ({ input }: EmbeddingsRequest): ReadonlyArray<string> => {
  if (typeof input === "string") return [input]
  if (typeof input[0] === "number") return [input.join(" ")]
  return input.map((item) => (typeof item === "object" ? item.join(" ") : String(item)))
}

/** Little-endian 32-bit floats in base64. */
const packed = (vector: ReadonlyArray<number>): string =>
  Buffer.from(new Float32Array(vector).buffer).toString("base64")

const refusal = ({ dimensions, model }: EmbeddingsRequest, served: string | undefined): ContainerError | undefined => {
  if (served !== undefined && model !== served) return missingModel(model)
  return dimensions !== undefined && dimensions > size
    ? badRequest(`dimensions must be at most ${size}.`, { param: "dimensions" })
    : undefined
}

const answer = (call: Call): Answer => {
  const { body, endpoint } = call
  const mismatch = embeddingsRequest(body, "")
  if (mismatch !== undefined) return containerRefusal(mismatchError(mismatch), endpoint?.errors)
  const request = withoutNulls(body) as EmbeddingsRequest // The shape is checked above.
  const refused = refusal(request, endpoint?.servedModel)
  if (refused !== undefined) return containerRefusal(refused, endpoint?.errors)
  const texts = textsOf(request)
  const data = texts.map((text, index) => {
    const vector = shorten(embed(text, size), request.dimensions)
    return { index, object: "embedding", embedding: request.encoding_format === "base64" ? packed(vector) : vector }
  })
  const tokens = texts.reduce((sum, text) => sum + textTokens(text), 0)
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return applyUnaryFault(call, jsonAnswer(200, { object: "list", data, model: request.model, usage }))
}

export const openaiEmbeddings: Operation = {
  matches: ({ target, operation }) =>
    target.kind === "endpoint" && target.id !== "openapi" && operation === "embeddings",
  answer
}
