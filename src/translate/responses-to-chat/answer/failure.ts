// An answer that fails after it has begun: in both forms that clients know, then as a failed response.
// It must not know what went wrong upstream. Rules: R513-R515.
import type { ResponsesEvent } from "../../../wire/openai/responses/Events.ts"

/** An error in the words of an error body. */
export interface AnswerFailed {
  readonly _tag: "AnswerFailed"
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param: string | null
  /** How long to wait, where it is known. */
  readonly retryAfterMillis: number | undefined
}

/** An answer that ended without its finishing event. */
export const cutShort: AnswerFailed = {
  _tag: "AnswerFailed",
  type: "server_error",
  code: "upstream_truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete.",
  param: null,
  retryAfterMillis: undefined
}

const own: ReadonlySet<string> = new Set(["rate_limit_exceeded", "insufficient_quota", "context_length_exceeded"])

/** The word by which clients decide whether to try again. */
export const failureCode = ({ code, type }: AnswerFailed): string => {
  if (code !== null && own.has(code)) return code
  if (type === "insufficient_quota") return type
  if (type === "rate_limit_error" || type === "rate_limit_exceeded") return "rate_limit_exceeded"
  return type === "invalid_request_error" ? "invalid_prompt" : "server_error"
}

/** Clients that decide by the code wait by this sentence. */
export const failureMessage = (failure: AnswerFailed): string => {
  const { message, retryAfterMillis: wait } = failure
  return wait === undefined || failureCode(failure) !== "rate_limit_exceeded"
    ? message
    : `${message} Please try again in ${wait / 1000}s.`
}

export const errorEvent = (failure: AnswerFailed, sequence: number): ResponsesEvent => {
  const { code, param, type } = failure
  const message = failureMessage(failure)
  return {
    type: "error",
    code,
    message,
    param,
    sequence_number: sequence,
    error: { type, code, message, param }
  }
}
