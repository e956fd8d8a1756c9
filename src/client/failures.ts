// Errors of the client as tagged classes, with the facts of the gateway's error answer.
// It must not know how calls are made.

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
