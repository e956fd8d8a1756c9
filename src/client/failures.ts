// What a call of the client can end in: tagged errors with the facts the gateway gave.
// It must not know how calls are made.

/** All but the message may be unknown: nobody answered, or somebody in front of the gateway did. */
export interface FailureFacts {
  /** HTTP status; undefined where there was no answer, and inside a stream, whose answer had begun with 200. */
  readonly status: number | undefined
  /** OpenAI's or Anthropic's word for the kind of error. */
  readonly type: string | undefined
  /** The gateway's word for the error, such as `model_not_found`. */
  readonly code: string | undefined
  /** Where in the request, such as `messages[0].content`. */
  readonly param: string | undefined
  readonly requestId: string | undefined
  /** How long to wait before the next try, in milliseconds. */
  readonly retryAfterMillis: number | undefined
  /** What the answer itself says about trying again. */
  readonly shouldRetry: boolean | undefined
  /** Slug of the provider that failed; with strict schema compliance off only. */
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

/** What all failures have; `_tag` tells them apart. */
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

/** The request is wrong, too large, or has no equivalent; the message says where. */
export class RequestInvalid extends GatewayFailure {
  readonly _tag = "RequestInvalid"
}
/** The gateway key, or the credential sent for the provider, is missing or wrong. */
export class AuthenticationFailed extends GatewayFailure {
  readonly _tag = "AuthenticationFailed"
}
/** The key, or the provider's account, may not do this. */
export class PermissionDenied extends GatewayFailure {
  readonly _tag = "PermissionDenied"
}
/** No such provider, model, prompt, config or route. */
export class NotFound extends GatewayFailure {
  readonly _tag = "NotFound"
}
/** Too many requests or tokens for now. */
export class RateLimited extends GatewayFailure {
  readonly _tag = "RateLimited"
}
/** The budget or quota is spent. */
export class QuotaExhausted extends GatewayFailure {
  readonly _tag = "QuotaExhausted"
}
/** The gateway or the provider could not serve the request. */
export class ServiceFailed extends GatewayFailure {
  readonly _tag = "ServiceFailed"
}
/** No answer came: the gateway cannot be reached, or the connection broke before one. */
export class ConnectionFailed extends GatewayFailure {
  readonly _tag = "ConnectionFailed"
}
/** The answer broke off, or cannot be read. */
export class AnswerBroken extends GatewayFailure {
  readonly _tag = "AnswerBroken"
}
/** Nothing came for as long as the caller wanted to wait. */
export class TimedOut extends GatewayFailure {
  readonly _tag = "TimedOut"
}
/** The caller broke the call off. */
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
