// Errors of the OpenAI-compatible containers behind Vertex AI, in the three shapes such containers write.
// It must not know who raises them; facts: recorded and publicly quoted refusals of hosts that speak the same schema.

import { jsonAnswer } from "../shared/answers.ts"
import type { Answer } from "../shared/answers.ts"
import type { SimulatedEndpoint } from "../shared/endpoint.ts"

export interface ContainerError {
  readonly status: number
  readonly message: string
  /** `invalid_request_error` unless said. */
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** Members some hosts put beside the message. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** The error object itself, as it stands in an envelope or in a stream. */
export const errorObject = ({ message, type = "invalid_request_error", code, param, more }: ContainerError) => ({
  message,
  type,
  ...(param === undefined ? {} : { param }),
  ...(code === undefined ? {} : { code }),
  ...more
})

/** `bare` is how older vLLM servers answer, `detail` how a FastAPI validation does. */
export const containerRefusal = (error: ContainerError, shape: SimulatedEndpoint["errors"]): Answer => {
  if (shape === "detail") return jsonAnswer(error.status, { detail: error.message })
  if (shape !== "bare") return jsonAnswer(error.status, { error: errorObject(error) })
  const type = error.status === 404 ? "NotFoundError" : "BadRequestError"
  return jsonAnswer(error.status, { object: "error", message: error.message, type, param: error.param ?? null, code: error.status })
}
