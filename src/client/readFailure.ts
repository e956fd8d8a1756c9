// Maps an error answer, or an error inside a stream, to a client failure: by code and type, else by status.
// It must not know which call failed.
import {
  AuthenticationFailed,
  type FailureFacts,
  NotFound,
  PermissionDenied,
  QuotaExhausted,
  RateLimited,
  type Refusal,
  RequestInvalid,
  ServiceFailed
} from "./failures.ts"
import { isObject, readJson } from "./readJson.ts"

type Made = new (message: string, facts: FailureFacts) => Refusal

/** OpenAI's and Anthropic's error types. */
const byType: Readonly<Record<string, Made>> = {
  invalid_request_error: RequestInvalid,
  request_too_large: RequestInvalid,
  authentication_error: AuthenticationFailed,
  permission_error: PermissionDenied,
  not_found_error: NotFound,
  rate_limit_error: RateLimited,
  insufficient_quota: QuotaExhausted,
  billing_error: QuotaExhausted,
  api_error: ServiceFailed,
  overloaded_error: ServiceFailed,
  timeout_error: ServiceFailed
}

/** An exhausted provider quota has the type of every 429; only its code differs. */
const byCode: Readonly<Record<string, Made>> = { insufficient_quota: QuotaExhausted }

const byStatus: Readonly<Record<number, Made>> = {
  401: AuthenticationFailed,
  403: PermissionDenied,
  404: NotFound,
  429: RateLimited
}

const named = (table: Readonly<Record<string, Made>>, name: string | undefined): Made | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined

const failureClass = (code: string | undefined, type: string | undefined, status: number | undefined): Made => {
  const known = named(byCode, code) ?? named(byType, type)
  if (known !== undefined) return known
  return status === undefined ? ServiceFailed : (byStatus[status] ?? (status < 500 ? RequestInvalid : ServiceFailed))
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/**
 * The retry delay from milliseconds, seconds or a date; undefined without one. `now` is the arrival time of the answer.
 */
const readRetryAfter = (headers: Headers, now: number): number | undefined => {
  const millis = Number.parseFloat(headers.get("retry-after-ms") ?? "")
  if (millis >= 0) return millis
  const text = headers.get("retry-after") ?? ""
  const seconds = Number.parseFloat(text)
  if (seconds >= 0) return seconds * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const readShouldRetry = (headers: Headers): boolean | undefined => {
  const value = headers.get("x-should-retry")
  return value === "true" ? true : value === "false" ? false : undefined
}

/** The first 200 characters of an answer that is not in the gateway's format. */
const excerpt = (body: string): string => (body.trim() === "" ? "" : `: ${body.trim().slice(0, 200)}`)

interface ErrorDetails {
  readonly message: string
  readonly facts: Pick<FailureFacts, "type" | "code" | "param" | "provider" | "upstreamStatus" | "requestId">
}

/** The error object of either dialect; undefined for any other body. */
const readErrorDetails = (body: unknown): ErrorDetails | undefined => {
  const error = isObject(body) ? body["error"] : undefined
  if (!isObject(body) || !isObject(error) || typeof error["message"] !== "string") return undefined
  const status = error["upstream_status"]
  return {
    message: error["message"],
    facts: {
      type: textOf(error["type"]),
      code: textOf(error["code"]),
      param: textOf(error["param"]),
      provider: textOf(error["provider"]),
      upstreamStatus: typeof status === "number" ? status : undefined,
      requestId: textOf(body["request_id"])
    }
  }
}

/** The failure of an answer with an error status. */
export const readFailure = (status: number, headers: Headers, text: string, now: number): Refusal => {
  const details = readErrorDetails(readJson(text))
  const message = details?.message ?? `The gateway answered ${status}${excerpt(text)}`
  const facts: FailureFacts = {
    status,
    type: undefined,
    code: undefined,
    param: undefined,
    provider: undefined,
    upstreamStatus: undefined,
    ...details?.facts,
    requestId: headers.get("x-request-id") ?? details?.facts.requestId,
    retryAfterMillis: readRetryAfter(headers, now),
    shouldRetry: readShouldRetry(headers)
  }
  return new (failureClass(facts.code, facts.type, status))(message, facts)
}

/** The failure of an error event inside a stream; undefined for any other event. */
export const readStreamFailure = (event: unknown, requestId: string | undefined): Refusal | undefined => {
  const details = readErrorDetails(event)
  return details === undefined
    ? undefined
    : new (failureClass(details.facts.code, details.facts.type, undefined))(details.message, {
        ...details.facts,
        status: undefined,
        requestId: details.facts.requestId ?? requestId,
        retryAfterMillis: undefined,
        shouldRetry: undefined
      })
}
