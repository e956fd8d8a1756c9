// Reasons for failed answers of any dialect: error bodies of any shape by their status, unreadable events, cut streams.
// Must not depend on the gateway's own error responses or on error texts of a single dialect.
import * as Result from "effect/Result"
import { answerBounds } from "../../../domain/Limits.ts"
import type { Reason } from "../../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../../domain/text/json.ts"
import { upstreamText } from "../../../domain/text/publicText.ts"

type Headers = Readonly<Record<string, string>>

/**
 * The reason of an error response. It accepts every status and body: parsed JSON when it parses, else the text. `origin`
 * is the owner of the credential.
 */
export type ReadFailure = (status: number, headers: Headers, body: Json | string, origin: "caller" | "stored") => Reason

export interface UpstreamError {
  /** The unchanged upstream text: for matching only, never sent to a client. */
  readonly text: string
  /** The text for clients: cut, without control characters, credentials, projects, hosts and queries. */
  readonly message: string
  /** Google's status such as `NOT_FOUND`, or the `type` of other dialects. */
  readonly word: string | undefined
  /** The textual error code of OpenAI-compatible upstreams. */
  readonly code: string | undefined
  /** The invalid parameter in the upstream's spelling. */
  readonly param: string | undefined
  readonly details: ReadonlyArray<JsonObject>
}

/** Reads `{error}`, `[{error}]`, `{message}`, `{detail}`, an SSE frame of any of these, text, HTML or an empty body. */
export const readUpstreamError = (status: number, headers: Headers, body: Json | string): UpstreamError => {
  const outer = objectOf(body)
  const inner = outer?.["error"]
  const error = isJsonObject(inner) ? inner : outer
  const text = [inner, error?.["message"], detailOf(error?.["detail"])].find((value) => typeof value === "string") ?? ""
  const type = contentTypeOf(headers)
  const code = error?.["code"]
  return {
    text: text.slice(0, searchedLength),
    message: upstreamText(text) || `upstream returned ${status}${type === undefined ? "" : ` (${type})`}`,
    word: [error?.["status"], error?.["type"]].find((word) => typeof word === "string"),
    code: typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : undefined,
    param: paramOf(error),
    details: Array.isArray(error?.["details"]) ? error["details"].filter(isJsonObject) : []
  }
}

/** FastAPI, the framework of most model servers, sends `detail` as a sentence or as a list of faults. */
const detailOf = (detail: Json | undefined): Json | undefined => {
  const first = Array.isArray(detail) ? detail[0] : detail
  return isJsonObject(first) ? first["msg"] : first
}

const paramOf = (error: JsonObject | undefined): string | undefined => {
  const fields = membersOf(error?.["details"], "fieldViolations").map((violation) => violation["field"])
  const param = [error?.["param"], ...fields].find((name) => typeof name === "string" && name !== "")
  return typeof param === "string" ? upstreamText(param, 256) : undefined
}

/** The status of an error inside a 200: its code, else the status of its word. */
export const statusInside = (error: Json): number => {
  const codes = isJsonObject(error) ? [error["code"], error["status_code"]] : []
  const code = codes.find((one) => typeof one === "number" && one >= 300 && one <= 599)
  if (typeof code === "number") return code
  const words = isJsonObject(error) ? [error["status"], error["type"], error["code"]] : []
  return (
    words
      .map((word) => (typeof word === "string" ? statusOfWord.get(word) : undefined))
      .find((status) => status !== undefined) ?? 500
  )
}

const statusOfWord: ReadonlyMap<string, number> = new Map([
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["OUT_OF_RANGE", 400],
  ["invalid_request_error", 400],
  ["BadRequestError", 400],
  ["UNAUTHENTICATED", 401],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["PERMISSION_DENIED", 403],
  ["permission_error", 403],
  ["NOT_FOUND", 404],
  ["not_found_error", 404],
  ["ABORTED", 409],
  ["ALREADY_EXISTS", 409],
  ["request_too_large", 413],
  ["RESOURCE_EXHAUSTED", 429],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["CANCELLED", 499],
  ["INTERNAL", 500],
  ["UNKNOWN", 500],
  ["DATA_LOSS", 500],
  ["api_error", 500],
  ["UNIMPLEMENTED", 501],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
  ["timeout_error", 504],
  ["overloaded_error", 529]
])

/** The reason for any status from 100 to 599; `hint` is appended to the upstream's text. */
export const reasonOfStatus = (
  status: number,
  headers: Headers,
  error: UpstreamError,
  origin: "caller" | "stored",
  hint?: string
): Reason => {
  const common = {
    message: hint === undefined ? error.message : `${error.message} ${hint}`,
    ...(error.code === undefined ? {} : { upstreamCode: error.code })
  }
  const retry = { ...common, ...retryAfterOf(headers, error.details) }
  if (status < 300) return { _tag: "BadReply", kind: "unreadable", ...common }
  if (status < 400) return { _tag: "BadReply", kind: "redirect", ...common }
  switch (status) {
    case 401:
      return { _tag: "CredentialsRejected", origin, ...common }
    case 402:
      return { _tag: "QuotaExhausted", isBilling: true, ...common }
    case 403:
      return error.text.includes(predictPermission)
        ? {
            _tag: "PermissionDenied",
            permission: predictPermission,
            ...common,
            message: `${error.message} ${predictHint}`
          }
        : { _tag: "PermissionDenied", ...common }
    case 404:
      return { _tag: "ModelNotFound", ...common }
    case 405:
    case 501:
      return { _tag: "InvalidRequest", code: "unsupported_operation", ...common }
    case 408:
    case 504:
      return { _tag: "Timeout", phase: "upstream", ...common }
    case 413:
      return { _tag: "PayloadTooLarge", ...common }
    case 429:
      return rateLimited(error, retry)
    case 409:
    case 499:
      return { _tag: "Internal", status, ...common }
    case 503:
      return { _tag: "Overloaded", code: "upstream_unavailable", ...retry }
    case 529:
      return { _tag: "Overloaded", code: "upstream_overloaded", ...retry }
  }
  if (status >= 500) return { _tag: "Internal", status, ...retry }
  return {
    _tag: "InvalidRequest",
    ...common,
    ...(ofTarget.test(error.text) ? { isOfTarget: true as const } : {}),
    ...(error.word === "FAILED_PRECONDITION" ? { code: "upstream_failed_precondition" } : {}),
    ...(error.param === undefined ? {} : { param: error.param })
  }
}

/** Refusals of a place, a policy or a model, which another account or place may not have. */
const ofTarget =
  /\b(location|region|country|territory)\b[^\n]{0,40}\bis not (supported|available|allowed)\b|\b(not|un)[ -]?(supported|available|allowed)\b[^\n]{0,40}\b(location|region|country|territory)\b|\borg(anization)?[ _]policy\b|\bmodel\b[^\n]{0,120}\b(not found|does not exist|is not available|is unknown|was not found)\b|\b(unknown|invalid|unrecognized) (publisher )?model( name)?\b/i

const predictPermission = "aiplatform.endpoints.predict"
const predictHint =
  "Grant it to the service account, for example by the role Vertex AI User; a credential of project id and region alone may lack it."

/** The members of one list in all details, e.g. the violations of BadRequest and QuotaFailure. */
const membersOf = (details: Json | undefined, list: string): ReadonlyArray<JsonObject> =>
  (Array.isArray(details) ? details : []).flatMap((detail) => {
    const members = isJsonObject(detail) ? detail[list] : undefined
    return Array.isArray(members) ? members.filter(isJsonObject) : []
  })

/** The `reason` values of ErrorInfo. */
export const errorInfoReasons = (error: UpstreamError): ReadonlyArray<string> =>
  error.details.flatMap((detail) => (typeof detail["reason"] === "string" ? [detail["reason"]] : []))

/** A daily quota, or a limit of zero, needs more than a short wait. */
const rateLimited = (
  error: UpstreamError,
  retry: { readonly message: string; readonly upstreamCode?: string; readonly retryAfterMillis?: number }
): Reason => {
  const failures = membersOf(error.details, "violations")
  const metadata = error.details.map((detail) => detail["metadata"]).filter(isJsonObject)
  const ids = [...failures.map((failure) => failure["quotaId"]), ...metadata.map((data) => data["quota_limit"])].filter(
    (id) => typeof id === "string"
  )
  const limits = [
    ...failures.map((failure) => failure["quotaValue"]),
    ...metadata.map((data) => data["quota_limit_value"])
  ]
  const spent = ids.some((id) => /per_?day/i.test(id)) || limits.some((limit) => limit === "0" || limit === 0)
  if (!spent) return { _tag: "RateLimited", ...retry }
  return {
    _tag: "QuotaExhausted",
    ...retry,
    ...(ids[0] === undefined ? {} : { quotaId: upstreamText(ids[0]).slice(0, 128) })
  }
}

const dayMillis = 86_400_000

/**
 * Reads `retry-after-ms`, then `retry-after` in seconds or as a date, then RetryInfo; undefined without any of them.
 */
export const retryAfterOf = (
  headers: Headers,
  details: ReadonlyArray<JsonObject>
): { readonly retryAfterMillis?: number } => {
  const delay = details.map((detail) => detail["retryDelay"]).find((value) => typeof value === "string")
  const millis = [
    numberOf(headers["retry-after-ms"]),
    secondsOf(headers["retry-after"]),
    untilOf(headers["retry-after"], headers["date"]),
    secondsOf(delay?.replace(/s$/, ""))
  ].find((value) => value !== undefined)
  return millis === undefined ? {} : { retryAfterMillis: Math.min(millis, dayMillis) }
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}(\.\d{1,9})?$/.test(text.trim()) ? Math.ceil(Number(text)) : undefined

const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}(\.\d{1,9})?$/.test(text.trim())
    ? Math.ceil(Number((Number(text) * 1_000).toFixed(6)))
    : undefined

/** Measures the date against the response's own `date` header, so no clock is needed. */
const untilOf = (until: string | undefined, date: string | undefined): number | undefined => {
  const millis = Date.parse(until ?? "") - Date.parse(date ?? "")
  return Number.isNaN(millis) ? undefined : Math.max(0, millis)
}

const objectOf = (body: Json | string): JsonObject | undefined => {
  if (isJsonObject(body)) return body
  if (Array.isArray(body)) return body.find(isJsonObject)
  if (typeof body !== "string") return undefined
  const text = body.replace(/^\uFEFF?\s*(event:[^\n]*\n)?(data:)?/, "")
  const parsed = parseJsonText(text)
  return Result.isSuccess(parsed) && typeof parsed.success !== "string" ? objectOf(parsed.success) : undefined
}

const contentTypeOf = (headers: Headers): string | undefined =>
  /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})/.exec(headers["content-type"] ?? "")?.[1]?.toLowerCase()

const searchedLength = 16_384

// Error reasons for malformed answers of any dialect: unreadable events, cut streams, malformed tool calls.

export const unreadableEvent: Reason = {
  _tag: "BadReply",
  kind: "unreadable",
  message: "The upstream sent an event that does not have the shape of an answer."
}

export const largeEvent: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: "The upstream sent an event over the size limit."
}

export const tooSilent: Reason = {
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent more than ${answerBounds.silentBytes} bytes of comments without an event.`
}

const tooMany = (most: number, what: string): Reason => ({
  _tag: "BadReply",
  kind: "too_large",
  message: `The upstream sent an answer with more than ${most} ${what}.`
})

export const tooManyEvents = tooMany(answerBounds.events, "events")
export const tooManyChoices = tooMany(answerBounds.choices, "choices")
const tooManyParts = tooMany(answerBounds.parts, "parts")
const tooManyCalls = tooMany(answerBounds.calls, "tool calls")

/** What is wrong with a choice of so many parts and calls; undefined for nothing. */
export const excessOf = (parts: number, calls: number): Reason | undefined =>
  parts > answerBounds.parts ? tooManyParts : calls > answerBounds.calls ? tooManyCalls : undefined

export const cutAnswer: Reason = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream ended its answer without a finish reason; it is not complete."
}

/** A call that no client could execute: it has no tool name, or its arguments are not an object. */
export const malformedCall: Reason = {
  _tag: "BadReply",
  kind: "malformed_call",
  message: "The upstream answered with a tool call that has no name, or whose arguments are not an object. Try again."
}

/** Translators do not know the owner of the credential: they word an error inside a 200 as if it were the gateway's. */
export const withOrigin = (reason: Reason, origin: "caller" | "stored"): Reason =>
  reason._tag === "CredentialsRejected" ? { ...reason, origin } : reason
