// Upstream errors: one `ProviderError` with a closed union of reasons, and the rules of retry and fallback.
// It must not know the HTTP statuses of the gateway's answers or how a client dialect words an error.
import * as Schema from "effect/Schema"

/** A part of a google.rpc.Status, as JSON. */
export type StatusDetail = Readonly<Record<string, unknown>>
const isDetail = (value: unknown): value is StatusDetail => typeof value === "object" && value !== null

const common = {
  /** One or two sentences for the caller; upstream text is already cut and redacted. */
  message: Schema.String,
  /** The upstream's own error code, when it is a string. */
  upstreamCode: Schema.optionalKey(Schema.String),
  /** Scrubbed details of a google.rpc.Status, by which Google's clients decide; only native routes return them. */
  details: Schema.optionalKey(Schema.Array(Schema.declare(isDetail)))
}
const retryable = { ...common, retryAfterMillis: Schema.optionalKey(Schema.Number) }

/** The upstream rejected the request as invalid. `code` overrides the usual `upstream_invalid_argument`. */
export const InvalidRequest = Schema.TaggedStruct("InvalidRequest", {
  ...common,
  param: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(
    Schema.Literals(["upstream_failed_precondition", "content_policy_violation", "unsupported_operation"])
  ),
  /** The refusal is about the account, its place or its models, so that another target may serve. */
  isOfTarget: Schema.optionalKey(Schema.Literal(true))
})
/** The upstream rejects grounding and regular tools in one request. */
export const ToolMixRejected = Schema.TaggedStruct("ToolMixRejected", common)
/** A thought signature is missing, corrupted or of another issuer. */
export const SignatureRejected = Schema.TaggedStruct("SignatureRejected", common)
/** The prompt is longer than the model's context. */
export const ContextTooLong = Schema.TaggedStruct("ContextTooLong", common)
/** The request exceeds the upstream's own size limit. */
export const PayloadTooLarge = Schema.TaggedStruct("PayloadTooLarge", common)
/** The upstream rejected the credential; `origin` decides the error that the caller gets. */
export const CredentialsRejected = Schema.TaggedStruct("CredentialsRejected", {
  ...common,
  origin: Schema.Literals(["caller", "stored"])
})
/** `permission` is set when the upstream named the missing one; `code` when a setting excludes the model. */
export const PermissionDenied = Schema.TaggedStruct("PermissionDenied", {
  ...common,
  permission: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(Schema.Literal("model_not_permitted"))
})
/** The upstream has no such model or endpoint. */
export const ModelNotFound = Schema.TaggedStruct("ModelNotFound", common)
/** Too many requests. The retry delay is the upstream's own; the gateway never invents one. */
export const RateLimited = Schema.TaggedStruct("RateLimited", retryable)
/** A quota that a short wait does not restore. `isBilling`: the upstream account is unpaid, a 402 instead of a 429. */
export const QuotaExhausted = Schema.TaggedStruct("QuotaExhausted", {
  ...retryable,
  isBilling: Schema.optionalKey(Schema.Literal(true)),
  quotaId: Schema.optionalKey(Schema.String)
})
/** The upstream is up but has no capacity: 503 or 529. */
export const Overloaded = Schema.TaggedStruct("Overloaded", {
  ...retryable,
  code: Schema.Literals(["upstream_unavailable", "upstream_overloaded"])
})
/** An internal error of the upstream: 500, 502, 409, 499. */
export const Internal = Schema.TaggedStruct("Internal", { ...retryable, status: Schema.Number })
/** One of the gateway's four timers ended the call, or the upstream's own deadline did. */
export const Timeout = Schema.TaggedStruct("Timeout", {
  ...common,
  phase: Schema.Literals(["connect", "first_byte", "idle", "total", "upstream"])
})
/** No connection, or it broke before an answer. `stale`: an idle one was closed before the upstream had the request. */
export const Transport = Schema.TaggedStruct("Transport", {
  ...common,
  kind: Schema.Literals(["refused", "reset", "stale", "dns", "tls", "proxy", "other"])
})
/**
 * A 2xx answer that cannot be used. `truncated` is a stream that ended without a finish; `refusal` and `no_answer` are
 * answers that a config gives to the next target.
 */
export const BadReply = Schema.TaggedStruct("BadReply", {
  ...common,
  kind: Schema.Literals([
    "unreadable",
    "empty",
    "malformed_call",
    "no_content",
    "redirect",
    "too_large",
    "truncated",
    "refusal",
    "no_answer"
  ])
})

/** The circuit is open after repeated failures, so the upstream was not called. The delay is the gateway's. */
export const CircuitOpen = Schema.TaggedStruct("CircuitOpen", retryable)

/**
 * The gateway has no memory left for the call: the key holds more than its share, or all keys together hold everything.
 */
export const NoRoom = Schema.TaggedStruct("NoRoom", {
  ...common,
  shortage: Schema.Literals(["key", "all"]),
  /** The request itself did not fit into memory, so the upstream was not called. */
  isUncalled: Schema.optionalKey(Schema.Literal(true))
})

/** Every reason for which an upstream call can fail. */
export const Reason = Schema.Union([
  InvalidRequest,
  ToolMixRejected,
  SignatureRejected,
  ContextTooLong,
  PayloadTooLarge,
  CredentialsRejected,
  PermissionDenied,
  ModelNotFound,
  RateLimited,
  QuotaExhausted,
  Overloaded,
  Internal,
  Timeout,
  Transport,
  BadReply,
  CircuitOpen,
  NoRoom
])
export type Reason = typeof Reason.Type

/** A failed upstream call: the reason, the account's slug, and the upstream's HTTP status. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  slug: Schema.String,
  reason: Reason,
  upstreamStatus: Schema.optionalKey(Schema.Number),
  /** The request made several calls. Others succeeded, and are billed. */
  isPartial: Schema.optionalKey(Schema.Literal(true))
}) {}

/** The same failure with another reason. */
export const withReason = ({ isPartial, slug, upstreamStatus }: ProviderError, reason: Reason): ProviderError =>
  new ProviderError({
    slug,
    reason,
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(isPartial === undefined ? {} : { isPartial })
  })

/**
 * Whether the upstream may bill the failed call: its answer cannot be used or kept, or a timer of the gateway ended it.
 */
export const mayHaveWorked = ({ isPartial, reason }: ProviderError): boolean => {
  if (isPartial === true) return true
  if (reason._tag === "Timeout") return reason.phase !== "connect" && reason.phase !== "upstream"
  if (reason._tag === "NoRoom") return reason.isUncalled !== true
  return reason._tag === "BadReply" && reason.kind !== "redirect"
}

/** The same JSON with `shown` applied to each of its texts. */
const textsThrough = (value: unknown, shown: (text: string) => string): unknown => {
  if (typeof value === "string") return shown(value)
  if (Array.isArray(value)) return value.map((inner: unknown) => textsThrough(inner, shown))
  return isDetail(value) ? detailThrough(value, shown) : value
}

const detailThrough = (detail: StatusDetail, shown: (text: string) => string): StatusDetail =>
  Object.fromEntries(Object.entries(detail).map(([name, inner]) => [name, textsThrough(inner, shown)]))

/** The same error with `shown` applied to each of its texts. */
export const withTexts = (error: ProviderError, shown: (text: string) => string): ProviderError => {
  const { reason } = error
  const { details, message, upstreamCode } = reason
  const texts = {
    message: shown(message),
    ...(upstreamCode === undefined ? {} : { upstreamCode: shown(upstreamCode) }),
    ...(details === undefined ? {} : { details: details.map((detail) => detailThrough(detail, shown)) }),
    ...("param" in reason && reason.param !== undefined ? { param: shown(reason.param) } : {}),
    ...("quotaId" in reason && reason.quotaId !== undefined ? { quotaId: shown(reason.quotaId) } : {})
  }
  return withReason(error, { ...reason, ...texts })
}

/** A kept socket closed as the request was sent on it, so the upstream has not worked. */
export const isStaleSocket = (reason: Reason): boolean => reason._tag === "Transport" && reason.kind === "stale"

/** Whether to retry the same target (`same`), try only another one (`next`), or give up (`never`). */
export const retryOf = (reason: Reason): "same" | "next" | "never" => {
  switch (reason._tag) {
    case "RateLimited":
    case "Overloaded":
    case "Internal":
      return "same"
    case "Transport":
      return reason.kind === "tls" ? "never" : "same"
    case "Timeout":
      return reason.phase === "connect" ? "same" : "next"
    case "CredentialsRejected":
      return reason.origin === "stored" ? "next" : "never"
    case "BadReply":
      return reason.kind === "too_large" || reason.kind === "redirect" ? "never" : "next"
    case "ModelNotFound":
    case "PermissionDenied":
    case "QuotaExhausted":
    case "CircuitOpen":
      return "next"
    case "InvalidRequest":
      return reason.isOfTarget === true || reason.code === "upstream_failed_precondition" ? "next" : "never"
    case "ToolMixRejected":
    case "SignatureRejected":
    case "ContextTooLong":
    case "PayloadTooLarge":
    case "NoRoom":
      return "never"
  }
}
