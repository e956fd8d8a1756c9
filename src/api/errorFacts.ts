// The error table: HTTP status, type, code, message and headers of every error.
// It must not know envelopes, requests or how an answer is written. No other file maps errors to statuses.
import type {
  AllTargetsFailed,
  GatewayError,
  ModelNotPriced,
  RecordChanged,
  RecordInvalid,
  RecordRefused,
  RecordUnknown
} from "../domain/GatewayError.ts"
import { insteadOf } from "./clientRequests.ts"
import type { ProviderError, Reason, StatusDetail } from "../domain/ProviderError.ts"
import {
  apiErrorDraft,
  crowdedDraft,
  type Draft,
  type ErrorType,
  invalidRequestDraft,
  keyDraft,
  noHeaders,
  noRetry,
  notFoundDraft,
  pageDraft,
  quotaDraft,
  retryAfter,
  roomRetryMillis,
  sessionDraft,
  spentDraft,
  unableDraft,
  withRetrySignal
} from "./errorDrafts.ts"

/** An error in HTTP terms, before a client dialect renders it. */
export interface ErrorFacts {
  readonly status: number
  readonly type: ErrorType
  readonly code: string
  readonly param: string | null
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
  /** Every fault with its path, when an error may have several. */
  readonly faults?: ReadonlyArray<{ readonly path: string; readonly message: string }>
  /** The failed provider and its status, for bodies outside strict mode. */
  readonly upstream:
    | {
        readonly provider: string
        readonly status: number | undefined
        readonly quotaId?: string
        /** Parts of Google's own status that Google's clients decide by. */
        readonly details?: ReadonlyArray<StatusDetail>
      }
    | undefined
  /** The target called last, its number of retries, and its cache status; undefined when no target was called. */
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
  headers: withRetrySignal(draft.status, draft.headers ?? noHeaders),
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

const credentialsDraft = (code: string, message: string): Draft => ({
  status: 401,
  type: "authentication_error",
  code,
  message,
  param: "authorization"
})

const unpriced = ({ modelId, near, slug }: ModelNotPriced): string =>
  `The key has a budget, and "${modelId}" on ${slug} has no price: ${near === undefined ? "" : `did you mean ${near}? Else `}an operator states one under prices; 0 is a price.`

/** The facts of any error a request can end in. A new error does not compile without a row here. */
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
        message: `The gateway key is not valid.${error.looksLike === undefined ? "" : ` It looks like ${error.looksLike}: the gateway takes keys of its own, and a provider's credential next to x-gateway-api-key.`}`
      })
    case "ModelNotAllowed":
      return finished(modelForbidden("model_not_allowed", error.message))
    case "ModelNotPriced":
      return finished(modelForbidden("model_not_priced", unpriced(error)))
    case "ObjectNotAllowed":
      return finished({ status: 403, type: "permission_error", code: error.code, message: error.message })
    case "CredentialsMissing":
      return finished(credentialsDraft("provider_credentials_missing", error.message))
    case "CredentialsInvalid":
      return finished(credentialsDraft("provider_credentials_invalid", error.message))
    case "Busy":
    case "StoreUnavailable":
      return finished(unableDraft(error))
    case "ConcurrencyReached":
    case "RateLimitReached":
    case "BudgetSpent":
      return finished(keyDraft(error))
    case "Unexpected":
      return finished(
        apiErrorDraft(500, "internal_error", "The gateway failed unexpectedly; the request id names the log entry.")
      )
    case "SessionRefused":
    case "PageRefused":
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
    case "UpgradeRequired":
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

/** Errors of the request itself: its route, scope, provider and body. */
const requestDraft = (error: RequestSide): Draft => {
  switch (error._tag) {
    case "SessionRefused":
      return sessionDraft(error)
    case "PageRefused":
      return pageDraft(error)
    case "ScopeMissing":
      return {
        status: 403,
        type: "permission_error",
        code: "key_scope_missing",
        message: `The gateway key lacks the scope "${error.scope}"; an operator gives it one under "scopes" of the key.`
      }
    case "ProviderMissing":
      return invalidRequestDraft(
        "provider_missing",
        `No provider chosen: write the model as "@slug/model"${error.setting === undefined ? " or send x-gateway-provider" : `, send x-gateway-provider or have ${error.setting} set in the configuration`}; ${slugs(error.known)}.`,
        "model"
      )
    case "SlugUnknown":
      return notFoundDraft(
        "provider_not_found",
        `There is no provider "${error.slug}"; ${slugs(error.known)}.`,
        error.param
      )
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
      return invalidRequestDraft(error.code, error.message, error.param)
    case "UnsupportedParameter":
      return invalidRequestDraft("unsupported_parameter", error.message, error.param)
    case "UnsupportedOperation":
      return invalidRequestDraft("unsupported_operation", error.message, "model")
    case "RouteUnknown":
      return notFoundDraft("unknown_url", `There is no such URL here: ${insteadOf(error.path)}.`, null)
    case "MethodNotAllowed":
      return {
        status: 405,
        type: "invalid_request_error",
        code: "method_not_allowed",
        message: `This URL takes ${error.allow.join(", ")} only.`,
        headers: { allow: error.allow.join(", ") }
      }
    case "UpgradeRequired":
      return {
        status: 426,
        type: "invalid_request_error",
        code: "upgrade_required",
        message: "There are no WebSockets here; send the request by POST, and stream the answer as events.",
        headers: { connection: "close" }
      }
  }
}

/** Errors of a change to a stored record. */
const recordDraft = (error: RecordInvalid | RecordRefused | RecordChanged): Draft => {
  switch (error._tag) {
    case "RecordInvalid": {
      const [first] = error.faults
      const rest = error.faults.length - 1
      return {
        ...invalidRequestDraft(
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
    return notFoundDraft(
      code,
      `This gateway key goes by the ${kind} "${id}", which does not exist any more: name another one, or ask those who run the gateway.`,
      null
    )
  }
  if (kind === "request_content") {
    return notFoundDraft(
      code,
      "No content of this request is kept: set log.content to errors or all, or log_content of its key, and send it again.",
      "id"
    )
  }
  return kind === "model"
    ? notFoundDraft(code, "There is no such model for this key; GET /v1/models lists what it may call.", "model")
    : notFoundDraft(
        code,
        `There is no such ${kind}.`,
        kind === "config" ? "x-gateway-config" : kind === "response" ? "response_id" : "id"
      )
}

/** Table 14 of the translation rules. */
const providerFacts = (error: ProviderError): ErrorFacts =>
  finished(
    reasonDraft(error.reason),
    { provider: error.slug, status: error.upstreamStatus, ...quotaOf(error.reason), ...detailsOf(error.reason) },
    onlyOnce
  )

/** T2304: the quota that is exhausted, when the upstream named it. */
const quotaOf = (reason: Reason): { readonly quotaId?: string } =>
  reason._tag === "QuotaExhausted" && reason.quotaId !== undefined ? { quotaId: reason.quotaId } : {}

const detailsOf = ({ details }: Reason): { readonly details?: ReadonlyArray<StatusDetail> } =>
  details === undefined ? {} : { details }

const onlyOnce: ErrorFacts["tried"] = { optionIndex: 0, retryCount: 0, cache: "DISABLED" }

/** The facts of the last attempt. The message mentions earlier targets when there were any. */
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
      return invalidRequestDraft(
        reason.code ?? reason.upstreamCode ?? "upstream_invalid_argument",
        message,
        reason.param ?? null
      )
    case "ToolMixRejected":
      return invalidRequestDraft("tools_cannot_be_mixed", message, "tools")
    case "SignatureRejected":
      return invalidRequestDraft("thought_signature_invalid", message, "messages")
    case "ContextTooLong":
      return invalidRequestDraft("context_length_exceeded", message, "messages")
    case "PayloadTooLarge":
      return { status: 413, type: "invalid_request_error", code: "request_too_large", message }
    case "CredentialsRejected":
      return reason.origin === "caller"
        ? { status: 401, type: "authentication_error", code: "provider_credentials_rejected", message }
        : apiErrorDraft(502, "upstream_credentials_rejected", message, noRetry)
    case "PermissionDenied":
      return {
        status: 403,
        type: "permission_error",
        code:
          reason.code ??
          (reason.permission?.endsWith("endpoints.predict") === true
            ? "missing_permission_endpoints_predict"
            : "upstream_permission_denied"),
        message
      }
    case "ModelNotFound":
      return notFoundDraft("model_not_found", message, "model")
    case "RateLimited":
      return {
        ...quotaDraft(message, retryAfter(reason.retryAfterMillis)),
        type: "rate_limit_error",
        code: "rate_limit_exceeded"
      }
    case "QuotaExhausted": {
      const delay = retryAfter(reason.retryAfterMillis)
      return reason.isBilling === true
        ? spentDraft(message, delay)
        : { ...quotaDraft(message, { ...delay, ...noRetry }), type: "rate_limit_error" }
    }
    case "Overloaded":
      return apiErrorDraft(503, reason.code, message, retryAfter(reason.retryAfterMillis))
    case "CircuitOpen":
      return apiErrorDraft(503, "upstream_unavailable", message, retryAfter(reason.retryAfterMillis))
    case "NoRoom":
      return reason.shortage === "key"
        ? crowdedDraft({ resource: "bytes", limit: undefined })
        : unableDraft({ _tag: "Busy", code: "overloaded", retryAfterMillis: roomRetryMillis })
    case "Internal":
      return apiErrorDraft(502, "upstream_error", message, retryAfter(reason.retryAfterMillis))
    case "Timeout":
      return apiErrorDraft(504, "upstream_timeout", message)
    case "Transport":
      return apiErrorDraft(502, "upstream_unreachable", message, reason.kind === "tls" ? noRetry : noHeaders)
    case "BadReply":
      return apiErrorDraft(
        502,
        reason.kind === "truncated" ? "upstream_truncated" : "upstream_bad_response",
        message,
        reason.kind === "too_large" || reason.kind === "redirect" ? noRetry : noHeaders
      )
  }
}
