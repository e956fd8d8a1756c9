// An error as an answer: from a cause to facts, from facts to a response.
// It must not know which handler failed.
import * as Cause from "effect/Cause"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import { Busy, type GatewayError, RouteUnknown, Unexpected } from "../../domain/GatewayError.ts"
import { contentTypeOf, envelopeOf, errorBody } from "./errorBody.ts"
import { type ErrorFacts, errorFacts, errorTag } from "../../api/errorFacts.ts"
import { addLimits } from "./limitHeaders.ts"
import type { Arrival, RequestIds } from "../request/RequestContexts.ts"

/** Every tag of the union; a new error does not compile without its name here. */
const tags: Record<GatewayError["_tag"], true> = {
  KeyMissing: true,
  KeyInvalid: true,
  ScopeMissing: true,
  ModelNotAllowed: true,
  ModelNotPriced: true,
  ObjectNotAllowed: true,
  ProviderMissing: true,
  SlugUnknown: true,
  RecordUnknown: true,
  RecordInvalid: true,
  RecordRefused: true,
  RecordChanged: true,
  CredentialsMissing: true,
  CredentialsInvalid: true,
  ContentTypeUnsupported: true,
  BodyTooLarge: true,
  BodyInvalid: true,
  UnsupportedParameter: true,
  UnsupportedOperation: true,
  RouteUnknown: true,
  MethodNotAllowed: true,
  Busy: true,
  ConcurrencyReached: true,
  RateLimitReached: true,
  BudgetSpent: true,
  StoreUnavailable: true,
  Unexpected: true,
  ProviderError: true,
  AllTargetsFailed: true
}

const isGatewayError = (error: unknown): error is GatewayError =>
  typeof error === "object" && error !== null && "_tag" in error && Object.hasOwn(tags, String(error._tag))

/** True when the only reason is that the caller went away: nobody is left to answer. */
export const isClientGone = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 &&
  cause.reasons.every(
    (reason) => Cause.isInterruptReason(reason) && reason.annotations.has(HttpServerError.ClientAbort.key)
  )

/** The error a cause stands for. Defects end here, and only here, as `Unexpected`. */
export const errorOf = (cause: Cause.Cause<unknown>): GatewayError => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason)) return failureOf(reason.error)
  }
  return cause.reasons.every(Cause.isInterruptReason)
    ? new Busy({ code: "server_shutting_down", retryAfterMillis: 1000 })
    : new Unexpected()
}

const failureOf = (error: unknown): GatewayError => {
  if (isGatewayError(error)) return error
  return HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
    ? new RouteUnknown({ method: error.reason.request.method, path: error.reason.request.url.slice(0, 256) })
    : new Unexpected()
}

/** Headers every answer carries, those of broken HTTP included. */
export const idHeaders = ({ requestId, traceId, usesAlias }: RequestIds): Record<string, string> => {
  const headers = {
    "x-request-id": requestId,
    "request-id": requestId,
    [answerHeaders.traceId]: traceId,
    "cache-control": "no-store"
  }
  return usesAlias ? addAliases(headers) : headers
}

/** The same, and what is left of the limits of the key. */
export const arrivalHeaders = (arrival: Arrival): Record<string, string> => {
  const headers = idHeaders(arrival)
  const limits = arrival.record?.limits
  if (limits === undefined) return headers
  const dialect = envelopeOf(arrival.path) === "anthropic" ? "anthropic" : "openai"
  return addLimits(headers, limits, dialect, arrival.startedMillis)
}

/** The facts in the envelope of the caller's dialect; `tag` names the error where errors are counted. */
export const refusal = (facts: ErrorFacts, tag: string, arrival: Arrival): HttpServerResponse.HttpServerResponse => {
  arrival.record?.failed(facts.status, tag, facts.code)
  const envelope = envelopeOf(arrival.path)
  const headers = Object.assign(arrivalHeaders(arrival), facts.headers)
  const { tried, upstream } = facts
  if (upstream !== undefined) headers[answerHeaders.provider] = upstream.provider
  if (tried !== undefined) {
    headers[answerHeaders.optionIndex] = String(tried.optionIndex)
    headers[answerHeaders.retryCount] = String(tried.retryCount)
    headers[answerHeaders.cacheStatus] = tried.cache
  }
  return HttpServerResponse.text(errorBody(facts, envelope, arrival.strict, arrival.requestId), {
    status: facts.status,
    contentType: contentTypeOf(envelope),
    headers: arrival.usesAlias ? addAliases(headers) : headers
  })
}

export const refuse = (error: GatewayError, arrival: Arrival): HttpServerResponse.HttpServerResponse =>
  refusal(errorFacts(error), errorTag(error), arrival)
