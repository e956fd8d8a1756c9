// Status, type, code, text and headers of every error; the only table of its kind.
// It must not know envelopes, requests or how an answer is written.
import type {
  AllTargetsFailed,
  GatewayError,
  ModelNotPriced,
  RecordChanged,
  RecordInvalid,
  RecordRefused,
  RecordUnknown
} from "../domain/GatewayError.ts"
import type { ProviderError, Reason } from "../domain/ProviderError.ts"
import {
  api,
  type Draft,
  type ErrorType,
  invalid,
  limited,
  noHeaders,
  noRetry,
  notFound,
  retryAfter
} from "./drafts.ts"
import { crowdedDraft, keyDraft, roomRetryMillis, unableDraft } from "./limitDrafts.ts"

/** The name of an error that no message or id can widen: its tag, of a failed call that of its reason. */
export const errorTag = (error: GatewayError): string =>
  error._tag === "AllTargetsFailed"
    ? errorTag(error.last)
    : error._tag === "ProviderError"
      ? error.reason._tag
      : error._tag

/** What an error is in HTTP, before any client dialect words it. */
export interface ErrorFacts {
  readonly status: number
  readonly type: ErrorType
  readonly code: string
  readonly param: string | null
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
  /** Every fault by itself, where there may be several. */
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
  /** Who failed and with what status, for bodies that are not strict. */
  readonly upstream:
    | { readonly provider: string; readonly status: number | undefined; readonly quotaId?: string }
    | undefined
  /** Which target was called last, how often again, and what the cache had to do with it; undefined when none was called. */
  readonly tried:
    | { readonly optionIndex: number; readonly retryCount: number; readonly cache: AllTargetsFailed["cache"] }
    | undefined
}

const finished = (draft: Draft, upstream?: ErrorFacts["upstream"], tried?: ErrorFacts["tried"]): ErrorFacts => ({
  status: draft.status,
  type: draft.type,
  code: draft.code,
  param: draft.param ?? null,
  message: draft.message,
  headers: draft.headers ?? noHeaders,
  ...(draft.faults === undefined ? {} : { faults: draft.faults }),
  upstream,
  tried
})

const slugs = (known: ReadonlyArray<string>): string =>
  known.length === 0 ? "no provider is configured for this key" : `known here: ${known.slice(0, 20).join(", ")}`

const modelForbidden = (code: string, message: string): Draft => ({
  status: 403,
  type: "permission_error",
  code,
  message,
  param: "model"
})

const unpriced = ({ modelId, slug }: ModelNotPriced): string =>
  `The key has a budget, and "${modelId}" on ${slug} has no price: an operator states one under prices; 0 is a price.`

/** Facts of any error a request can end in. Total: a new error does not compile without a row here. */
export const errorFacts = (error: GatewayError): ErrorFacts => {
  switch (error._tag) {
    case "ProviderError":
      return providerFacts(error)
    case "AllTargetsFailed":
      return lastFacts(error)
    case "KeyMissing":
      return finished({
        status: 401,
        type: "authentication_error",
        code: "missing_gateway_key",
        message: "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK."
      })
    case "KeyInvalid":
      return finished({
        status: 401,
        type: "authentication_error",
        code: "invalid_gateway_key",
        message: "The gateway key is not valid."
      })
    case "ModelNotAllowed":
      return finished(modelForbidden("model_not_allowed", error.message))
    case "ModelNotPriced":
      return finished(modelForbidden("model_not_priced", unpriced(error)))
    case "ObjectNotAllowed":
      return finished({ status: 403, type: "permission_error", code: error.code, message: error.message })
    case "CredentialsMissing":
      return finished({
        status: 401,
        type: "authentication_error",
        code: "provider_credentials_missing",
        message: error.message,
        param: "authorization"
      })
    case "CredentialsInvalid":
      return finished({
        status: 401,
        type: "authentication_error",
        code: "provider_credentials_invalid",
        message: error.message,
        param: "authorization"
      })
    case "Busy":
    case "StoreUnavailable":
      return finished(unableDraft(error))
    case "ConcurrencyReached":
    case "RateLimitReached":
    case "BudgetSpent":
      return finished(keyDraft(error))
    case "Unexpected":
      return finished(
        api(500, "internal_error", "The gateway failed unexpectedly; the request id names the log entry.")
      )
    case "ScopeMissing":
    case "ProviderMissing":
    case "SlugUnknown":
    case "RecordUnknown":
    case "RecordInvalid":
    case "RecordRefused":
    case "RecordChanged":
    case "ContentTypeUnsupported":
    case "BodyTooLarge":
    case "BodyInvalid":
    case "UnsupportedParameter":
    case "UnsupportedOperation":
    case "RouteUnknown":
    case "MethodNotAllowed":
      return finished(requestDraft(error))
  }
}

type RequestSide = Exclude<
  GatewayError,
  {
    readonly _tag:
      | "ProviderError"
      | "AllTargetsFailed"
      | "KeyMissing"
      | "KeyInvalid"
      | "ModelNotAllowed"
      | "ModelNotPriced"
      | "ObjectNotAllowed"
      | "CredentialsMissing"
      | "CredentialsInvalid"
      | "Busy"
      | "StoreUnavailable"
      | "ConcurrencyReached"
      | "RateLimitReached"
      | "BudgetSpent"
      | "Unexpected"
  }
>

/** What is wrong with the request itself: its route, its key for that route, its provider, its body. */
const requestDraft = (error: RequestSide): Draft => {
  switch (error._tag) {
    case "ScopeMissing":
      return {
        status: 403,
        type: "permission_error",
        code: "key_scope_missing",
        message: `The gateway key lacks the scope "${error.scope}"; an operator gives it one under "scopes" of the key.`
      }
    case "ProviderMissing":
      return invalid(
        "provider_missing",
        `No provider chosen: write the model as "@slug/model" or send x-gateway-provider; ${slugs(error.known)}.`,
        "model"
      )
    case "SlugUnknown":
      return notFound("provider_not_found", `There is no provider "${error.slug}"; ${slugs(error.known)}.`, error.param)
    case "RecordUnknown":
      return unknownDraft(error)
    case "RecordInvalid":
    case "RecordRefused":
    case "RecordChanged":
      return recordDraft(error)
    case "ContentTypeUnsupported":
      return { status: 415, type: "invalid_request_error", code: error.code, message: error.message }
    case "BodyTooLarge":
      return {
        status: 413,
        type: "invalid_request_error",
        code: "request_too_large",
        message: `The request is larger than ${error.limitBytes} bytes; send large media as a gs:// or Files API URL.`,
        param: error.param
      }
    case "BodyInvalid":
      return invalid(error.code, error.message, error.param)
    case "UnsupportedParameter":
      return invalid("unsupported_parameter", error.message, error.param)
    case "UnsupportedOperation":
      return invalid("unsupported_operation", error.message, "model")
    case "RouteUnknown":
      return notFound("unknown_url", "There is no such URL here; the API lives under /v1.", null)
    case "MethodNotAllowed":
      return {
        status: 405,
        type: "invalid_request_error",
        code: "method_not_allowed",
        message: `This URL takes ${error.allow.join(", ")} only.`,
        headers: { allow: error.allow.join(", ") }
      }
  }
}

/** A change of what operators keep that cannot be. */
const recordDraft = (error: RecordInvalid | RecordRefused | RecordChanged): Draft => {
  switch (error._tag) {
    case "RecordInvalid": {
      const [first] = error.faults
      const rest = error.faults.length - 1
      return {
        ...invalid(
          "invalid_value",
          first === undefined
            ? "The body is not valid."
            : `${first.path} ${first.message}${rest > 0 ? ` (and ${rest} more)` : ""}`.trim()
        ),
        faults: error.faults
      }
    }
    case "RecordRefused":
      return { status: 409, type: "invalid_request_error", code: error.code, message: error.message }
    case "RecordChanged":
      return {
        status: 412,
        type: "invalid_request_error",
        code: "version_mismatch",
        message: `It has changed since; version ${error.version} is there now. Read it again, and send its ETag as If-Match.`
      }
  }
}

const unknownDraft = ({ id, kind, ofKey }: RecordUnknown): Draft => {
  const code = `${kind}_not_found`
  if (ofKey === true) {
    return notFound(
      code,
      `This gateway key goes by the ${kind} "${id}", which does not exist any more: name another one, or ask those who run the gateway.`,
      null
    )
  }
  return kind === "model"
    ? notFound(code, "There is no such model for this key; GET /v1/models lists what it may call.", "model")
    : notFound(code, `There is no such ${kind}.`, kind === "config" ? "x-gateway-config" : "id")
}

/** Table 14 of the translation rules. */
const providerFacts = (error: ProviderError): ErrorFacts =>
  finished(
    reasonDraft(error.reason),
    { provider: error.slug, status: error.upstreamStatus, ...quotaOf(error.reason) },
    onlyOnce
  )

/** T2304: which quota is spent, where the upstream named it. */
const quotaOf = (reason: Reason): { readonly quotaId?: string } =>
  reason._tag === "QuotaExhausted" && reason.quotaId !== undefined ? { quotaId: reason.quotaId } : {}

const onlyOnce: ErrorFacts["tried"] = { optionIndex: 0, retryCount: 0, cache: "DISABLED" }

/** The last attempt's own facts; that others failed before it is said where it is so. */
const lastFacts = ({ cache, last, optionIndex, retryCount, targets }: AllTargetsFailed): ErrorFacts => {
  const facts = errorFacts(last)
  return {
    ...facts,
    message:
      targets === 1 ? facts.message : `All ${targets} targets that were tried failed. The last one: ${facts.message}`,
    tried: { optionIndex, retryCount, cache }
  }
}

const reasonDraft = (reason: Reason): Draft => {
  const message = reason.message
  switch (reason._tag) {
    case "InvalidRequest":
      return invalid(reason.code ?? reason.upstreamCode ?? "upstream_invalid_argument", message, reason.param ?? null)
    case "ToolMixRejected":
      return invalid("tools_cannot_be_mixed", message, "tools")
    case "SignatureRejected":
      return invalid("thought_signature_invalid", message, "messages")
    case "ContextTooLong":
      return invalid("context_length_exceeded", message, "messages")
    case "PayloadTooLarge":
      return { status: 413, type: "invalid_request_error", code: "request_too_large", message }
    case "CredentialsRejected":
      return reason.origin === "caller"
        ? { status: 401, type: "authentication_error", code: "provider_credentials_rejected", message }
        : api(502, "upstream_credentials_rejected", message, noRetry)
    case "PermissionDenied":
      return {
        status: 403,
        type: "permission_error",
        code:
          reason.permission?.endsWith("endpoints.predict") === true
            ? "missing_permission_endpoints_predict"
            : "upstream_permission_denied",
        message
      }
    case "ModelNotFound":
      return notFound("model_not_found", message, "model")
    case "RateLimited":
      return {
        ...limited(message, retryAfter(reason.retryAfterMillis)),
        type: "rate_limit_error",
        code: "rate_limit_exceeded"
      }
    case "QuotaExhausted":
      return {
        ...limited(message, { ...retryAfter(reason.retryAfterMillis), ...noRetry }),
        type: reason.isBilling === true ? "insufficient_quota" : "rate_limit_error"
      }
    case "Overloaded":
      return api(503, reason.code, message, retryAfter(reason.retryAfterMillis))
    case "CircuitOpen":
      return api(503, "upstream_unavailable", message, retryAfter(reason.retryAfterMillis))
    case "NoRoom":
      return reason.shortage === "key"
        ? crowdedDraft({ resource: "bytes", limit: undefined })
        : unableDraft({ _tag: "Busy", code: "overloaded", retryAfterMillis: roomRetryMillis })
    case "Internal":
      return api(502, "upstream_error", message, retryAfter(reason.retryAfterMillis))
    case "Timeout":
      return api(504, "upstream_timeout", message)
    case "Transport":
      return api(502, "upstream_unreachable", message, reason.kind === "tls" ? noRetry : noHeaders)
    case "BadReply":
      return api(
        502,
        reason.kind === "truncated" ? "upstream_truncated" : "upstream_bad_response",
        message,
        reason.kind === "too_large" || reason.kind === "redirect" ? noRetry : noHeaders
      )
  }
}
