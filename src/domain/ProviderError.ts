// What can go wrong at an upstream: one error, a closed union of reasons.
// It must not know HTTP statuses of our own answers or how a client dialect words an error.
import * as Schema from "effect/Schema"

const common = {
  /** One or two sentences for the caller; upstream text is already cut and scrubbed. */
  message: Schema.String,
  /** A code word the upstream gave itself, kept when it is a string. */
  upstreamCode: Schema.optionalKey(Schema.String)
}
const retryable = { ...common, retryAfterMillis: Schema.optionalKey(Schema.Number) }

/** A request the upstream found invalid. `code` overrides the usual `upstream_invalid_argument`. */
export const InvalidRequest = Schema.TaggedStruct("InvalidRequest", {
  ...common,
  param: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(
    Schema.Literals(["upstream_failed_precondition", "content_policy_violation", "unsupported_operation"])
  )
})
/** Grounding and regular tools in one request, refused upstream. */
export const ToolMixRejected = Schema.TaggedStruct("ToolMixRejected", common)
/** A thought signature is missing, corrupted or of another issuer. */
export const SignatureRejected = Schema.TaggedStruct("SignatureRejected", common)
/** The prompt is longer than the model's context. */
export const ContextTooLong = Schema.TaggedStruct("ContextTooLong", common)
/** The upstream's own size limit. */
export const PayloadTooLarge = Schema.TaggedStruct("PayloadTooLarge", common)
/** The credential was refused; whose it was decides what the caller is told. */
export const CredentialsRejected = Schema.TaggedStruct("CredentialsRejected", {
  ...common,
  origin: Schema.Literals(["caller", "stored"])
})
/** `permission` is set when the upstream named the missing one. */
export const PermissionDenied = Schema.TaggedStruct("PermissionDenied", {
  ...common,
  permission: Schema.optionalKey(Schema.String)
})
/** The model or endpoint does not exist there. */
export const ModelNotFound = Schema.TaggedStruct("ModelNotFound", common)
/** Too many requests; the delay is the upstream's own, never invented. */
export const RateLimited = Schema.TaggedStruct("RateLimited", retryable)
/** A quota that a short wait does not cure. `isBilling`: the upstream account has not been paid, a 402 instead of a 429. */
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
/** The upstream failed inside: 500, 502, 409, 499. */
export const Internal = Schema.TaggedStruct("Internal", { ...retryable, status: Schema.Number })
/** One of our four timers, or the upstream's own deadline. */
export const Timeout = Schema.TaggedStruct("Timeout", {
  ...common,
  phase: Schema.Literals(["connect", "first_byte", "idle", "total", "upstream"])
})
/** No connection, or it broke before an answer. `permanent` marks certificate faults. */
export const Transport = Schema.TaggedStruct("Transport", {
  ...common,
  kind: Schema.Literals(["refused", "reset", "dns", "tls", "other"])
})
/** A 2xx answer that cannot be used. `truncated` is a stream that ended without a finish. */
export const BadReply = Schema.TaggedStruct("BadReply", {
  ...common,
  kind: Schema.Literals(["unreadable", "empty", "malformed_call", "no_content", "redirect", "too_large", "truncated"])
})

/** It failed so often of late that it was not called; the delay is ours. */
export const CircuitOpen = Schema.TaggedStruct("CircuitOpen", retryable)

/** The gateway has no memory left for the call: the key holds more than its share, or all keys together hold everything. */
export const NoRoom = Schema.TaggedStruct("NoRoom", {
  ...common,
  shortage: Schema.Literals(["key", "all"]),
  /** Memory lacked for the request already, so the upstream was not called. */
  isUncalled: Schema.optionalKey(Schema.Literal(true))
})

/** Every reason an upstream call can fail for. */
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

/** A failed upstream call: why, at which slug, and what HTTP said. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  slug: Schema.String,
  reason: Reason,
  upstreamStatus: Schema.optionalKey(Schema.Number),
  /** One of several calls of a request; others were answered, and are billed. */
  isPartial: Schema.optionalKey(Schema.Literal(true))
}) {}

/** Whether the upstream may bill a call that failed: its answer cannot be used or kept, or a timer of ours ended the call. */
export const mayHaveWorked = ({ isPartial, reason }: ProviderError): boolean => {
  if (isPartial === true) return true
  if (reason._tag === "Timeout") return reason.phase !== "connect" && reason.phase !== "upstream"
  if (reason._tag === "NoRoom") return reason.isUncalled !== true
  return reason._tag === "BadReply" && reason.kind !== "redirect"
}

/** The same error with every text it has through `shown`. */
export const withTexts = (
  { reason, slug, upstreamStatus }: ProviderError,
  shown: (text: string) => string
): ProviderError => {
  const { message, upstreamCode } = reason
  const texts = {
    message: shown(message),
    ...(upstreamCode === undefined ? {} : { upstreamCode: shown(upstreamCode) }),
    ...("param" in reason && reason.param !== undefined ? { param: shown(reason.param) } : {}),
    ...("quotaId" in reason && reason.quotaId !== undefined ? { quotaId: shown(reason.quotaId) } : {})
  }
  return new ProviderError({
    slug,
    reason: { ...reason, ...texts },
    ...(upstreamStatus === undefined ? {} : { upstreamStatus })
  })
}

/** Whether the same target may be tried again (`same`), only another one (`next`), or none (`never`). */
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
    case "QuotaExhausted":
    case "CircuitOpen":
      return "next"
    case "InvalidRequest":
    case "ToolMixRejected":
    case "SignatureRejected":
    case "ContextTooLong":
    case "PayloadTooLarge":
    case "PermissionDenied":
    case "NoRoom":
      return "never"
  }
}
