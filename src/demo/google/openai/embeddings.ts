// Answers embeddings in OpenAI's dialect, as self-deployed endpoints do.
// It must not depend on sockets or credentials.
// Source: OpenAI's published description of its API.

import { mismatchMessage, withoutNulls } from "../shapes/open.ts"
import { embeddingsRequest } from "../shapes/openai.ts"
import { type Answer, type Call, jsonAnswer, type Operation } from "../shared/answers.ts"
import { applyFault, unaryWire } from "../shared/faults.ts"
import { textTokens } from "../shared/generateRequest.ts"
import { embed, shorten } from "../shared/vectors.ts"
import { containerRefusal } from "./reply.ts"

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

const answer = (call: Call): Answer => {
  const { body, endpoint, route } = call
  const mismatch = embeddingsRequest(body, "")
  if (mismatch !== undefined) {
    return containerRefusal({ status: 400, message: mismatchMessage(mismatch), param: mismatch.path }, endpoint?.errors)
  }
  const request = withoutNulls(body) as EmbeddingsRequest // The shape is checked above.
  const { model, dimensions } = request
  if (endpoint?.servedModel !== undefined && model !== endpoint.servedModel) {
    return containerRefusal(
      { status: 404, type: "NotFoundError", message: `The model \`${model}\` does not exist.` },
      endpoint.errors
    )
  }
  if (dimensions !== undefined && dimensions > size) {
    return containerRefusal(
      { status: 400, message: `dimensions must be at most ${size}.`, param: "dimensions" },
      endpoint?.errors
    )
  }
  const texts = textsOf(request)
  const data = texts.map((text, index) => {
    const vector = shorten(embed(text, size), dimensions)
    return { index, object: "embedding", embedding: request.encoding_format === "base64" ? packed(vector) : vector }
  })
  const tokens = texts.reduce((sum, text) => sum + textTokens(text), 0)
  const good = jsonAnswer(200, { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
  return applyFault(route.target.id, good, {
    callNumber: call.callNumber,
    streaming: false,
    sse: false,
    wire: unaryWire
  })
}

export const openaiEmbeddings: Operation = {
  matches: ({ target, operation }) =>
    target.kind === "endpoint" && target.id !== "openapi" && operation === "embeddings",
  answer
}
