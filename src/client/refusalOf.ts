// From an error answer, or an error inside a stream, to a failure: by the word for its kind, else by its status.
// It must not know who asked.
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

/** OpenAI's words and Anthropic's. */
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

/** A spent quota of the provider has the type of every 429; its code separates it. */
const byCode: Readonly<Record<string, Made>> = { insufficient_quota: QuotaExhausted }

const byStatus: Readonly<Record<number, Made>> = {
  401: AuthenticationFailed,
  403: PermissionDenied,
  404: NotFound,
  429: RateLimited
}

const named = (table: Readonly<Record<string, Made>>, name: string | undefined): Made | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined

const kindOf = (code: string | undefined, type: string | undefined, status: number | undefined): Made => {
  const known = named(byCode, code) ?? named(byType, type)
  if (known !== undefined) return known
  return status === undefined ? ServiceFailed : (byStatus[status] ?? (status < 500 ? RequestInvalid : ServiceFailed))
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Milliseconds, or seconds, or a date; undefined when none is said. `now` is the time at which the answer came. */
const retryAfterOf = (headers: Headers, now: number): number | undefined => {
  const millis = Number.parseFloat(headers.get("retry-after-ms") ?? "")
  if (millis >= 0) return millis
  const text = headers.get("retry-after") ?? ""
  const seconds = Number.parseFloat(text)
  if (seconds >= 0) return seconds * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const wishOf = (headers: Headers): boolean | undefined => {
  const said = headers.get("x-should-retry")
  return said === "true" ? true : said === "false" ? false : undefined
}

/** The first words of an answer that is not the gateway's own. */
const excerpt = (body: string): string => (body.trim() === "" ? "" : `: ${body.trim().slice(0, 200)}`)

interface Told {
  readonly message: string
  readonly facts: Pick<FailureFacts, "type" | "code" | "param" | "provider" | "upstreamStatus" | "requestId">
}

/** An error object of either dialect; undefined when it is none. */
const toldBy = (body: unknown): Told | undefined => {
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

/** An answer with a status that is no success. */
export const refusalOf = (status: number, headers: Headers, text: string, now: number): Refusal => {
  const told = toldBy(readJson(text))
  const message = told?.message ?? `The gateway answered ${status}${excerpt(text)}`
  const facts: FailureFacts = {
    status,
    type: undefined,
    code: undefined,
    param: undefined,
    provider: undefined,
    upstreamStatus: undefined,
    ...told?.facts,
    requestId: headers.get("x-request-id") ?? told?.facts.requestId,
    retryAfterMillis: retryAfterOf(headers, now),
    shouldRetry: wishOf(headers)
  }
  return new (kindOf(facts.code, facts.type, status))(message, facts)
}

/** An error inside a stream; undefined when the event is none. */
export const refusalInside = (event: unknown, requestId: string | undefined): Refusal | undefined => {
  const told = toldBy(event)
  return told === undefined
    ? undefined
    : new (kindOf(told.facts.code, told.facts.type, undefined))(told.message, {
        ...told.facts,
        status: undefined,
        requestId: told.facts.requestId ?? requestId,
        retryAfterMillis: undefined,
        shouldRetry: undefined
      })
}
