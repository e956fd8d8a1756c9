// Building blocks of the error table: common statuses, types and retry headers.
// It must not know any single error.

/** OpenAI's error types. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "insufficient_quota"
  | "api_error"

/** One row of the error table; omitted fields have the common value. */
export interface Draft {
  readonly status: number
  readonly type: ErrorType
  readonly code: string
  readonly message: string
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Every fault with its path, when an error may have several. */
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

export const noHeaders: Readonly<Record<string, string>> = {}

export const invalidRequestDraft = (code: string, message: string, param: string | null = null): Draft => ({
  status: 400,
  type: "invalid_request_error",
  code,
  message,
  param
})
export const apiErrorDraft = (status: number, code: string, message: string, headers = noHeaders): Draft => ({
  status,
  type: "api_error",
  code,
  message,
  headers
})

/** Stops the automatic retries of SDKs for a request that would fail again. */
export const noRetry = { "x-should-retry": "false" }

/** A delay in both headers: whole seconds rounded up, and milliseconds. */
export const retryAfter = (millis: number | undefined): Readonly<Record<string, string>> =>
  millis === undefined
    ? noHeaders
    : { "retry-after": String(Math.ceil(millis / 1000)), "retry-after-ms": String(Math.ceil(millis)) }

export const notFoundDraft = (code: string, message: string, param: string | null): Draft => ({
  status: 404,
  type: "not_found_error",
  code,
  message,
  param
})

export const quotaDraft = (message: string, headers: Readonly<Record<string, string>>): Draft => ({
  status: 429,
  type: "insufficient_quota",
  code: "insufficient_quota",
  message,
  headers
})
