// Tests every error in the three envelopes: the status, type and code of each.
// Must not depend on how an error arises.
import { describe, expect, it } from "vitest"
import * as E from "../../src/domain/GatewayError.ts"
import { ProviderError, type Reason } from "../../src/domain/ProviderError.ts"
import { envelopeOf, errorBody } from "../../src/http/response/errorBody.ts"
import { errorFacts } from "../../src/api/errorFacts.ts"

const IRE = "invalid_request_error"
const AUTH = "authentication_error"
const NF = "not_found_error"
const API = "api_error"

type Row = readonly [
  error: E.GatewayError,
  status: number,
  type: string,
  code: string,
  param: string | null,
  anthropic: string,
  headers?: Record<string, string>
]

const by = (reason: Reason): ProviderError => new ProviderError({ slug: "gemini", reason, upstreamStatus: 400 })
const message = "What is wrong."
const noRetry = { "x-should-retry": "false" }

const rows: ReadonlyArray<Row> = [
  [new E.KeyMissing(), 401, AUTH, "missing_gateway_key", null, AUTH],
  [new E.KeyInvalid(), 401, AUTH, "invalid_gateway_key", null, AUTH],
  [new E.ModelNotAllowed({ message }), 403, "permission_error", "model_not_allowed", "model", "permission_error"],
  [
    new E.ModelNotPriced({ slug: "a", modelId: "b" }),
    403,
    "permission_error",
    "model_not_priced",
    "model",
    "permission_error"
  ],
  [new E.ProviderMissing({ known: ["a", "b"] }), 400, IRE, "provider_missing", "model", IRE],
  [
    new E.SlugUnknown({ slug: "x", param: "x-gateway-provider", known: [] }),
    404,
    NF,
    "provider_not_found",
    "x-gateway-provider",
    NF
  ],
  [new E.RecordUnknown({ kind: "model", id: "x" }), 404, NF, "model_not_found", "model", NF],
  [new E.RecordUnknown({ kind: "prompt", id: "x" }), 404, NF, "prompt_not_found", "id", NF],
  [new E.RecordUnknown({ kind: "config", id: "x" }), 404, NF, "config_not_found", "x-gateway-config", NF],
  [new E.RecordUnknown({ kind: "config", id: "x", ofKey: true }), 404, NF, "config_not_found", null, NF],
  [new E.CredentialsMissing({ message }), 401, AUTH, "provider_credentials_missing", "authorization", AUTH],
  [new E.CredentialsInvalid({ message }), 401, AUTH, "provider_credentials_invalid", "authorization", AUTH],
  [new E.ContentTypeUnsupported({ code: "unsupported_charset", message }), 415, IRE, "unsupported_charset", null, IRE],
  [
    new E.BodyTooLarge({ limitBytes: 5, param: "messages[0]" }),
    413,
    IRE,
    "request_too_large",
    "messages[0]",
    "request_too_large"
  ],
  [new E.BodyInvalid({ code: "invalid_value", param: "n", message }), 400, IRE, "invalid_value", "n", IRE],
  [new E.UnsupportedParameter({ param: "store", message }), 400, IRE, "unsupported_parameter", "store", IRE],
  [new E.UnsupportedOperation({ message }), 400, IRE, "unsupported_operation", "model", IRE],
  [new E.RouteUnknown({ method: "GET", path: "/" }), 404, NF, "unknown_url", null, NF],
  [
    new E.MethodNotAllowed({ method: "GET", allow: ["POST", "PUT"] }),
    405,
    IRE,
    "method_not_allowed",
    null,
    IRE,
    { allow: "POST, PUT" }
  ],
  [
    new E.Busy({ code: "overloaded", retryAfterMillis: 1500 }),
    503,
    API,
    "overloaded",
    null,
    "overloaded_error",
    { "retry-after": "2", "retry-after-ms": "1500" }
  ],
  [
    new E.Busy({ code: "server_shutting_down", retryAfterMillis: 1000 }),
    503,
    API,
    "server_shutting_down",
    null,
    "overloaded_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    new E.RateLimitReached({ kind: "tokens", limit: 100, retryMillis: 1500, requests: undefined, tokens: undefined }),
    429,
    "rate_limit_error",
    "rate_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "2", "retry-after-ms": "1500" }
  ],
  [
    new E.ConcurrencyReached({ resource: "requests", limit: 5 }),
    429,
    "rate_limit_error",
    "concurrency_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    new E.ConcurrencyReached({ resource: "requests", limit: undefined }),
    429,
    "rate_limit_error",
    "concurrency_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    new E.ConcurrencyReached({ resource: "bytes", limit: undefined }),
    429,
    "rate_limit_error",
    "concurrency_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    new E.BudgetSpent({
      usd: 0.5,
      per: "day",
      estimateUsd: 0.1,
      leftUsd: 0.05,
      resets: "2027-02-01T00:00:00.000Z",
      retryMillis: 7001,
      isReserved: false
    }),
    402,
    "insufficient_quota",
    "insufficient_quota",
    null,
    "billing_error",
    { "retry-after": "8", "retry-after-ms": "7001", ...noRetry }
  ],
  [
    new E.BudgetSpent({
      usd: 0.5,
      per: "day",
      estimateUsd: 0.1,
      leftUsd: 0.05,
      resets: "2027-02-01T00:00:00.000Z",
      retryMillis: 7001,
      isReserved: true
    }),
    429,
    "insufficient_quota",
    "insufficient_quota",
    null,
    "billing_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    new E.BudgetSpent({
      usd: 0.5,
      per: "day",
      estimateUsd: 0.6,
      leftUsd: 0.5,
      resets: "2027-02-01T00:00:00.000Z",
      retryMillis: 7001,
      isReserved: false
    }),
    402,
    "insufficient_quota",
    "insufficient_quota",
    null,
    "billing_error",
    noRetry
  ],
  [
    new E.StoreUnavailable({ reason: "unreachable" }),
    503,
    API,
    "dependency_unavailable",
    null,
    "overloaded_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [new E.StoreUnavailable({ reason: "full" }), 507, API, "storage_unavailable", null, API, noRetry],
  [new E.Unexpected(), 500, API, "internal_error", null, API],
  [by({ _tag: "InvalidRequest", message }), 400, IRE, "upstream_invalid_argument", null, IRE],
  [
    by({ _tag: "InvalidRequest", message, code: "upstream_failed_precondition", param: "contents[0]" }),
    400,
    IRE,
    "upstream_failed_precondition",
    "contents[0]",
    IRE
  ],
  [by({ _tag: "ToolMixRejected", message }), 400, IRE, "tools_cannot_be_mixed", "tools", IRE],
  [by({ _tag: "SignatureRejected", message }), 400, IRE, "thought_signature_invalid", "messages", IRE],
  [by({ _tag: "ContextTooLong", message }), 400, IRE, "context_length_exceeded", "messages", IRE],
  [by({ _tag: "PayloadTooLarge", message }), 413, IRE, "request_too_large", null, "request_too_large"],
  [
    by({ _tag: "CredentialsRejected", message, origin: "caller" }),
    401,
    AUTH,
    "provider_credentials_rejected",
    null,
    AUTH
  ],
  [
    by({ _tag: "CredentialsRejected", message, origin: "stored" }),
    502,
    API,
    "upstream_credentials_rejected",
    null,
    API,
    noRetry
  ],
  [
    by({ _tag: "PermissionDenied", message, permission: "aiplatform.endpoints.predict" }),
    403,
    "permission_error",
    "missing_permission_endpoints_predict",
    null,
    "permission_error"
  ],
  [
    by({ _tag: "PermissionDenied", message }),
    403,
    "permission_error",
    "upstream_permission_denied",
    null,
    "permission_error"
  ],
  [by({ _tag: "ModelNotFound", message }), 404, NF, "model_not_found", "model", NF],
  [by({ _tag: "RateLimited", message }), 429, "rate_limit_error", "rate_limit_exceeded", null, "rate_limit_error"],
  [
    by({ _tag: "RateLimited", message, retryAfterMillis: 7001 }),
    429,
    "rate_limit_error",
    "rate_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "8", "retry-after-ms": "7001" }
  ],
  [
    by({ _tag: "QuotaExhausted", message }),
    429,
    "rate_limit_error",
    "insufficient_quota",
    null,
    "rate_limit_error",
    noRetry
  ],
  [
    by({ _tag: "QuotaExhausted", message, retryAfterMillis: 7001 }),
    429,
    "rate_limit_error",
    "insufficient_quota",
    null,
    "rate_limit_error",
    { "retry-after": "8", "retry-after-ms": "7001", ...noRetry }
  ],
  [
    by({ _tag: "QuotaExhausted", message, isBilling: true }),
    402,
    "insufficient_quota",
    "insufficient_quota",
    null,
    "billing_error",
    noRetry
  ],
  [by({ _tag: "Overloaded", message, code: "upstream_unavailable" }), 503, API, "upstream_unavailable", null, API],
  [
    by({ _tag: "Overloaded", message, code: "upstream_overloaded" }),
    503,
    API,
    "upstream_overloaded",
    null,
    "overloaded_error"
  ],
  [by({ _tag: "Internal", message, status: 500 }), 502, API, "upstream_error", null, API],
  [by({ _tag: "Timeout", message, phase: "idle" }), 504, API, "upstream_timeout", null, "timeout_error"],
  [by({ _tag: "Transport", message, kind: "refused" }), 502, API, "upstream_unreachable", null, API],
  [by({ _tag: "Transport", message, kind: "tls" }), 502, API, "upstream_unreachable", null, API, noRetry],
  [
    by({ _tag: "CircuitOpen", message, retryAfterMillis: 1500 }),
    503,
    API,
    "upstream_unavailable",
    null,
    API,
    { "retry-after": "2", "retry-after-ms": "1500" }
  ],
  [
    by({ _tag: "NoRoom", message, shortage: "key" }),
    429,
    "rate_limit_error",
    "concurrency_limit_exceeded",
    null,
    "rate_limit_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [
    by({ _tag: "NoRoom", message, shortage: "all" }),
    503,
    API,
    "overloaded",
    null,
    "overloaded_error",
    { "retry-after": "1", "retry-after-ms": "1000" }
  ],
  [by({ _tag: "BadReply", message, kind: "empty" }), 502, API, "upstream_bad_response", null, API],
  [by({ _tag: "BadReply", message, kind: "too_large" }), 502, API, "upstream_bad_response", null, API, noRetry],
  [by({ _tag: "BadReply", message, kind: "redirect" }), 502, API, "upstream_bad_response", null, API, noRetry],
  [by({ _tag: "BadReply", message, kind: "truncated" }), 502, API, "upstream_truncated", null, API]
]

const named = rows.map((row) => {
  const [error] = row
  const name = error._tag === "ProviderError" ? `ProviderError ${error.reason._tag}` : error._tag
  return { name: `${name} ${row[3]}`, row }
})

it("errors: a named quota appears in the details of a non-strict answer only (T2304)", () => {
  const facts = errorFacts(by({ _tag: "QuotaExhausted", message, quotaId: "GenerateRequestsPerDayPerProject" }))
  const published = { message: facts.message, type: "rate_limit_error", param: null, code: "insufficient_quota" }
  expect(JSON.parse(errorBody(facts, "openai", true, "r1"))).toEqual({ error: published })
  expect(JSON.parse(errorBody(facts, "openai", false, "r1"))).toEqual({
    error: {
      ...published,
      provider: "gemini",
      upstream_status: 400,
      details: { quota_id: "GenerateRequestsPerDayPerProject" }
    }
  })
})

describe("errors of table 14 (B102-B110)", () => {
  it.each(named)(
    "errors: the table row holds in every envelope: $name",
    ({ row: [error, status, type, code, param, anthropic, headers] }) => {
      const facts = errorFacts(error)
      const upstream = error._tag === "ProviderError" ? { provider: "gemini", status: 400 } : undefined
      const tried = error._tag === "ProviderError" ? { optionIndex: 0, retryCount: 0, cache: "DISABLED" } : undefined
      expect(facts).toStrictEqual({
        status,
        type,
        code,
        param,
        message: facts.message,
        // Of the request's own faults only a rate passes with time.
        headers: { ...headers, ...(status < 500 && status !== 429 ? noRetry : {}) },
        upstream,
        tried
      })
      expect(facts.message).toMatch(/^[\x20-\x7e]{10,500}$/)
      expect(errorBody(facts, "openai", true, "r1")).toBe(
        JSON.stringify({ error: { message: facts.message, type, param, code } })
      )
      expect(errorBody(facts, "openai", false, "r1")).toBe(
        JSON.stringify({
          error: {
            message: facts.message,
            type,
            param,
            code,
            ...(upstream === undefined ? {} : { provider: "gemini", upstream_status: 400 })
          }
        })
      )
      expect(errorBody(facts, "anthropic", true, "r1")).toBe(
        JSON.stringify({
          type: "error",
          error: { type: anthropic, message: facts.message },
          request_id: "r1"
        })
      )
      expect(errorBody(facts, "problem", true, "r1")).toBe(
        JSON.stringify({
          type: `urn:model-gateway:error:${code}`,
          title: code.replaceAll("_", " "),
          status,
          detail: facts.message,
          instance: "r1"
        })
      )
    }
  )
})

describe("errors after several targets", () => {
  const last = by({ _tag: "RateLimited", message, retryAfterMillis: 7001 })
  const facts = errorFacts(last)
  it("errors: the failure of all targets has the last one's facts and states that there were others", () =>
    expect(
      errorFacts(new E.AllTargetsFailed({ last, targets: 3, optionIndex: 4, retryCount: 1, cache: "MISS" }))
    ).toStrictEqual({
      ...facts,
      message: "All 3 targets that were tried failed. The last one: What is wrong.",
      tried: { optionIndex: 4, retryCount: 1, cache: "MISS" }
    }))
  it("errors: a single target called several times answers with its own failure", () =>
    expect(
      errorFacts(new E.AllTargetsFailed({ last, targets: 1, optionIndex: 0, retryCount: 2, cache: "DISABLED" }))
    ).toStrictEqual({ ...facts, tried: { optionIndex: 0, retryCount: 2, cache: "DISABLED" } }))
})

it("errors: the path alone decides the envelope", () => {
  expect(
    ["/v1/chat/completions", "/v1/messages/count_tokens", "/v1/messages", "/admin/v1/keys", "/x"].map((path) =>
      envelopeOf(path, {})
    )
  ).toEqual(["openai", "anthropic", "anthropic", "problem", "openai"])
})
