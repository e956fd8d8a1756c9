// The parts that rows of the error table are made of.
// It must not know any error.

/** OpenAI's words for kinds of errors. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "insufficient_quota"
  | "api_error"

/** What a row of the table says; the rest is the same for most errors. */
export interface Draft {
  readonly status: number
  readonly type: ErrorType
  readonly code: string
  readonly message: string
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Every fault by itself, where there may be several. */
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

export const noHeaders: Readonly<Record<string, string>> = {}

export const invalid = (code: string, message: string, param: string | null = null): Draft => ({
  status: 400,
  type: "invalid_request_error",
  code,
  message,
  param
})
export const api = (status: number, code: string, message: string, headers = noHeaders): Draft => ({
  status,
  type: "api_error",
  code,
  message,
  headers
})

/** SDKs do not repeat a request that will fail again. */
export const noRetry = { "x-should-retry": "false" }

/** Both spellings of a delay: whole seconds rounded up, and milliseconds. */
export const retryAfter = (millis: number | undefined): Readonly<Record<string, string>> =>
  millis === undefined
    ? noHeaders
    : { "retry-after": String(Math.ceil(millis / 1000)), "retry-after-ms": String(Math.ceil(millis)) }

export const notFound = (code: string, message: string, param: string | null): Draft => ({
  status: 404,
  type: "not_found_error",
  code,
  message,
  param
})

export const limited = (message: string, headers: Readonly<Record<string, string>>): Draft => ({
  status: 429,
  type: "insufficient_quota",
  code: "insufficient_quota",
  message,
  headers
})
