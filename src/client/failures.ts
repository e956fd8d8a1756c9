// Errors of the client as tagged classes, made of an error answer or of an error inside a stream.
// It must not know how calls are made, or dialects. The service's JSON parser would add a part of Effect to web pages.

/** Facts other than the message may be missing: no answer came, or a proxy in front of the gateway sent it. */
export interface FailureFacts {
  /** HTTP status. Undefined without an answer, and for an error inside a stream, whose status was 200. */
  readonly status: number | undefined
  /** OpenAI's or Anthropic's error type. */
  readonly type: string | undefined
  /** The gateway's error code, such as `model_not_found`. */
  readonly code: string | undefined
  /** The path in the request, such as `messages[0].content`. */
  readonly param: string | undefined
  readonly requestId: string | undefined
  /** How long to wait before the next attempt, in milliseconds. */
  readonly retryAfterMillis: number | undefined
  /** The answer's `x-should-retry` header. */
  readonly shouldRetry: boolean | undefined
  /** Slug of the provider that failed; only outside strict mode. */
  readonly provider: string | undefined
  readonly upstreamStatus: number | undefined
}

export const noFacts: FailureFacts = {
  status: undefined,
  type: undefined,
  code: undefined,
  param: undefined,
  requestId: undefined,
  retryAfterMillis: undefined,
  shouldRetry: undefined,
  provider: undefined,
  upstreamStatus: undefined
}

/** The base class of all failures; `_tag` distinguishes them. */
export abstract class GatewayFailure extends Error implements FailureFacts {
  abstract readonly _tag: string
  readonly status: number | undefined
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterMillis: number | undefined
  readonly shouldRetry: boolean | undefined
  readonly provider: string | undefined
  readonly upstreamStatus: number | undefined

  constructor(message: string, facts: FailureFacts = noFacts, options?: ErrorOptions) {
    super(message, options)
    this.status = facts.status
    this.type = facts.type
    this.code = facts.code
    this.param = facts.param
    this.requestId = facts.requestId
    this.retryAfterMillis = facts.retryAfterMillis
    this.shouldRetry = facts.shouldRetry
    this.provider = facts.provider
    this.upstreamStatus = facts.upstreamStatus
  }

  override get name(): string {
    return this._tag
  }
}

/** The request is invalid, too large, or has no equivalent; the message names the place. */
export class RequestInvalid extends GatewayFailure {
  readonly _tag = "RequestInvalid"
}
/** The gateway key, or the credential sent for the provider, is missing or wrong. */
export class AuthenticationFailed extends GatewayFailure {
  readonly _tag = "AuthenticationFailed"
}
/** The key, or the provider's account, lacks a permission. */
export class PermissionDenied extends GatewayFailure {
  readonly _tag = "PermissionDenied"
}
/** The provider, model, prompt, config or route does not exist. */
export class NotFound extends GatewayFailure {
  readonly _tag = "NotFound"
}
/** Too many requests or tokens for now. */
export class RateLimited extends GatewayFailure {
  readonly _tag = "RateLimited"
}
/** The budget or quota is exhausted. */
export class QuotaExhausted extends GatewayFailure {
  readonly _tag = "QuotaExhausted"
}
/** The gateway or the provider could not serve the request. */
export class ServiceFailed extends GatewayFailure {
  readonly _tag = "ServiceFailed"
}
/** No answer came: the gateway is unreachable, or the connection broke before an answer. */
export class ConnectionFailed extends GatewayFailure {
  readonly _tag = "ConnectionFailed"
}
/** The answer ended early, or cannot be read. */
export class AnswerBroken extends GatewayFailure {
  readonly _tag = "AnswerBroken"
}
/** The gateway was silent for longer than `timeoutMillis`. */
export class TimedOut extends GatewayFailure {
  readonly _tag = "TimedOut"
}
/** The caller aborted the call. */
export class Aborted extends GatewayFailure {
  readonly _tag = "Aborted"
}

/** An error answer of the gateway. */
export type Refusal =
  | RequestInvalid
  | AuthenticationFailed
  | PermissionDenied
  | NotFound
  | RateLimited
  | QuotaExhausted
  | ServiceFailed

/** Every failure of a call. */
export type ClientFailure = Refusal | ConnectionFailed | AnswerBroken | TimedOut | Aborted

// Maps an error answer, or an error inside a stream, to a client failure: by code and type, else by status.

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

// Parses JSON text without throwing, for answers that may be malformed.

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Undefined for malformed text; undefined is not a JSON value. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
