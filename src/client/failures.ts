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
  declare readonly status: number | undefined
  declare readonly type: string | undefined
  declare readonly code: string | undefined
  declare readonly param: string | undefined
  declare readonly requestId: string | undefined
  declare readonly retryAfterMillis: number | undefined
  declare readonly shouldRetry: boolean | undefined
  declare readonly provider: string | undefined
  declare readonly upstreamStatus: number | undefined

  constructor(message: string, facts: Partial<FailureFacts> = noFacts, options?: ErrorOptions) {
    super(message, options)
    Object.assign(this, noFacts, facts)
  }

  override get name(): string {
    return this._tag
  }
}

type FailureClass<Tag> = abstract new (
  ...facts: ConstructorParameters<typeof GatewayFailure>
) => GatewayFailure & { readonly _tag: Tag }

const failureOf = <Tag extends string>(tag: Tag): FailureClass<Tag> => {
  abstract class Tagged extends GatewayFailure {
    readonly _tag = tag
  }
  return Tagged
}

/** The request is invalid, too large, or has no equivalent; the message names the place. */
export class RequestInvalid extends failureOf("RequestInvalid") {}
/** The gateway key, or the credential sent for the provider, is missing or wrong. */
export class AuthenticationFailed extends failureOf("AuthenticationFailed") {}
/** The key, or the provider's account, lacks a permission. */
export class PermissionDenied extends failureOf("PermissionDenied") {}
/** The provider, model, prompt, config or route does not exist. */
export class NotFound extends failureOf("NotFound") {}
/** Too many requests or tokens for now. */
export class RateLimited extends failureOf("RateLimited") {}
/** The budget or quota is exhausted. */
export class QuotaExhausted extends failureOf("QuotaExhausted") {}
/** The gateway or the provider could not serve the request. */
export class ServiceFailed extends failureOf("ServiceFailed") {}
/** No answer came: the gateway is unreachable, or the connection broke before an answer. */
export class ConnectionFailed extends failureOf("ConnectionFailed") {}
/** The answer ended early, or cannot be read. */
export class AnswerBroken extends failureOf("AnswerBroken") {}
/** The gateway was silent for longer than `timeoutMillis`. */
export class TimedOut extends failureOf("TimedOut") {}
/** The caller aborted the call. */
export class Aborted extends failureOf("Aborted") {}

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

/** What means a failure: an error code, the error types of OpenAI and Anthropic, a status. */
interface FailureRow {
  readonly failure: new (message: string, facts: Partial<FailureFacts>) => Refusal
  readonly codes?: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
  readonly status?: number
}

const failureRows: ReadonlyArray<FailureRow> = [
  { failure: RequestInvalid, types: ["invalid_request_error", "request_too_large"] },
  { failure: AuthenticationFailed, types: ["authentication_error"], status: 401 },
  { failure: PermissionDenied, types: ["permission_error"], status: 403 },
  { failure: NotFound, types: ["not_found_error"], status: 404 },
  { failure: RateLimited, types: ["rate_limit_error"], status: 429 },
  // An exhausted provider quota has the type of every 429; only its code differs.
  { failure: QuotaExhausted, codes: ["insufficient_quota"], types: ["insufficient_quota", "billing_error"] },
  { failure: ServiceFailed, types: ["api_error", "overloaded_error", "timeout_error"] }
]

const failureClass = (
  code: string | undefined,
  type: string | undefined,
  status: number | undefined
): FailureRow["failure"] => {
  const row =
    failureRows.find(({ codes }) => code !== undefined && codes?.includes(code)) ??
    failureRows.find(({ types }) => type !== undefined && types.includes(type)) ??
    failureRows.find((one) => status !== undefined && one.status === status)
  return row?.failure ?? (status !== undefined && status < 500 ? RequestInvalid : ServiceFailed)
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
  readonly facts: Partial<FailureFacts>
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

const failureFrom = (message: string, facts: Partial<FailureFacts>): Refusal =>
  new (failureClass(facts.code, facts.type, facts.status))(message, facts)

/** The failure of an answer with an error status. */
export const readFailure = (status: number, headers: Headers, text: string, now: number): Refusal => {
  const details = readErrorDetails(readJson(text))
  return failureFrom(details?.message ?? `The gateway answered ${status}${excerpt(text)}`, {
    ...details?.facts,
    status,
    requestId: headers.get("x-request-id") ?? details?.facts.requestId,
    retryAfterMillis: readRetryAfter(headers, now),
    shouldRetry: readShouldRetry(headers)
  })
}

/** The failure of an error event inside a stream; undefined for any other event. */
export const readStreamFailure = (event: unknown, requestId: string | undefined): Refusal | undefined => {
  const details = readErrorDetails(event)
  return details === undefined
    ? undefined
    : failureFrom(details.message, { ...details.facts, requestId: details.facts.requestId ?? requestId })
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
