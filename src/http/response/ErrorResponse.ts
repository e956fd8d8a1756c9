// An error as an answer: from a cause to facts, from facts to a response.
// It must not depend on which handler failed.
import * as Cause from "effect/Cause"
import { ClientAbort } from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { addAliases, answerHeaders } from "../../api/Headers.ts"
import { Busy, type GatewayError, Unexpected } from "../../domain/GatewayError.ts"
import { contentTypeOf, envelopeOf, errorBody, nativeEnvelope, statusFor } from "./errorBody.ts"
import { type ErrorFacts, errorFacts } from "../../api/errorFacts.ts"
import { baseHeaders } from "./responseHeaders.ts"
import { inClientsWords } from "./clientWords.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"

/** Every tag of the union; a new error does not compile without its name here. */
const tags: Record<GatewayError["_tag"], true> = {
  KeyMissing: true,
  KeyInvalid: true,
  SessionRefused: true,
  PageRefused: true,
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
  UpgradeRequired: true,
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

/** True when the client closed the connection and nothing else failed; there is no answer to write. */
export const isClientGone = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.length > 0 &&
  cause.reasons.every((reason) => Cause.isInterruptReason(reason) && reason.annotations.has(ClientAbort.key))

/** The error of a cause. Only here a defect becomes `Unexpected`. */
export const errorOf = (cause: Cause.Cause<unknown>): GatewayError => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason)) return failureOf(reason.error)
  }
  return cause.reasons.every(Cause.isInterruptReason)
    ? new Busy({ code: "server_shutting_down", retryAfterMillis: 1000 })
    : new Unexpected()
}

const failureOf = (error: unknown): GatewayError => (isGatewayError(error) ? error : new Unexpected())

/** The facts in the envelope of the caller's dialect. */
export const refusal = (
  facts: ErrorFacts,
  incoming: IncomingRequest,
  error?: GatewayError
): HttpServerResponse.HttpServerResponse => {
  const { headers: asked, native, path } = incoming
  const envelope = native === undefined ? envelopeOf(path, asked) : nativeEnvelope(native, path, asked)
  const status = statusFor(facts, envelope)
  incoming.recorder?.failed(status, facts)
  const headers = Object.assign(baseHeaders(incoming), facts.headers)
  const { tried, upstream } = facts
  if (upstream !== undefined) headers[answerHeaders.provider] = upstream.provider
  if (tried !== undefined) {
    headers[answerHeaders.optionIndex] = String(tried.optionIndex)
    headers[answerHeaders.retryCount] = String(tried.retryCount)
    headers[answerHeaders.cacheStatus] = tried.cache
  }
  const text = errorBody(inClientsWords(facts, incoming), envelope, incoming.strict, incoming.requestId, error)
  incoming.recorder?.content?.answered(text)
  return HttpServerResponse.text(text, {
    status,
    contentType: contentTypeOf(envelope),
    headers: incoming.usesAlias ? addAliases(headers) : headers
  })
}

export const refuse = (error: GatewayError, incoming: IncomingRequest): HttpServerResponse.HttpServerResponse =>
  refusal(errorFacts(error), incoming, error)
