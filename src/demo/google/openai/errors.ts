// Writes errors of the OpenAI-compatible containers on Vertex AI, in the three shapes that such containers use.
// Must not depend on the operations that raise them.
// Source: recorded and publicly quoted refusals of hosts with the same schema.

import { jsonAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"
import type { SimulatedEndpoint } from "../shared/endpoint.ts"

export interface ContainerError {
  readonly status: number
  readonly message: string
  /** Default `invalid_request_error`. */
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** Further members that some hosts add. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** The error object inside an envelope or a stream. */
export const errorObject = ({ message, type = "invalid_request_error", code, param, more }: ContainerError) => ({
  message,
  type,
  ...(param === undefined ? {} : { param }),
  ...(code === undefined ? {} : { code }),
  ...more
})

/** Older vLLM servers answer in the `bare` shape, FastAPI validation in the `detail` shape. */
export const containerRefusal = (error: ContainerError, shape: SimulatedEndpoint["errors"]): Answer => {
  if (shape === "detail") return jsonAnswer(error.status, { detail: error.message })
  if (shape !== "bare") return jsonAnswer(error.status, { error: errorObject(error) })
  const type = error.status === 404 ? "NotFoundError" : "BadRequestError"
  return jsonAnswer(error.status, {
    object: "error",
    message: error.message,
    type,
    param: error.param ?? null,
    code: error.status
  })
}
