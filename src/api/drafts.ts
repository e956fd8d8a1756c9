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

/** Errors of the request itself that pass with time: a slow body, and a rate. */
const passing: ReadonlySet<number> = new Set([408, 429])

/**
 * The headers of an error, with the stop of retries where the same request fails again. Some clients retry a 401 for
 * minutes without it.
 */
export const withRetrySignal = (
  status: number,
  headers: Readonly<Record<string, string>>
): Readonly<Record<string, string>> => (status >= 500 || passing.has(status) ? headers : { ...headers, ...noRetry })

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

/** A limit that passes with time. */
export const quotaDraft = (message: string, headers: Readonly<Record<string, string>>): Draft => ({
  status: 429,
  type: "insufficient_quota",
  code: "insufficient_quota",
  message,
  headers
})

/** Spent money. Agents retry a 429 for minutes whatever its headers state, and stop at a 402. */
export const spentDraft = (message: string, headers = noHeaders): Draft => ({
  ...quotaDraft(message, headers),
  status: 402
})
