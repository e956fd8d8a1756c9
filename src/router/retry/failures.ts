// The meaning of a failed attempt for the next one: what may help, which status codes it counts as, how long to wait.
// It must not depend on how the failure is answered.
import type { AnswerFault } from "../../domain/config/GatewayConfig.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import type { Operation } from "../../domain/operations.ts"
import { isStaleSocket, type ProviderError, type Reason, retryOf } from "../../domain/ProviderError.ts"

export interface AttemptFailure {
  /** What may help: the same target again (`same`), only another one (`next`), or no further call (`never`). */
  readonly retry: "same" | "next" | "never"
  /** A kept socket had closed: the upstream never had the request. */
  readonly isStale?: boolean
  /** The status codes of a config that it answers to. */
  readonly codes: ReadonlyArray<number>
  /** How long the upstream asks to wait. */
  readonly adviceMillis: number | undefined
  /** The target was passed over without a call. */
  readonly isUncalled?: true
  /** The answer was there, and a config gives the request to another target. */
  readonly answer?: AnswerFault
}

/** The codes of a reason: the upstream's where the reason keeps it, and the one our answer has. */
const codesOf = (reason: Reason): ReadonlyArray<number> => {
  switch (reason._tag) {
    case "InvalidRequest":
    case "ToolMixRejected":
    case "SignatureRejected":
    case "ContextTooLong":
      return [400]
    case "PayloadTooLarge":
      return [413]
    case "CredentialsRejected":
      return [401]
    case "PermissionDenied":
      return [403]
    case "ModelNotFound":
      return [404]
    case "RateLimited":
    case "QuotaExhausted":
      return [429]
    case "Overloaded":
    case "CircuitOpen":
      return [503]
    case "Internal":
      return [reason.status, 502]
    case "Timeout":
      // Portkey answers its own timers with 408, and configs written for it use that code.
      return [504, 408]
    case "NoRoom":
      return [reason.shortage === "key" ? 429 : 503]
    case "Transport":
    case "BadReply":
      return [502]
  }
}

const adviceOf = (reason: Reason): number | undefined =>
  "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined

const answerOf = (reason: Reason): AnswerFault | undefined => {
  if (reason._tag !== "BadReply") return undefined
  return reason.kind === "refusal" ? "refusal" : reason.kind === "no_answer" ? "empty" : undefined
}

const ofProvider = ({ reason, upstreamStatus }: ProviderError): AttemptFailure => {
  const answer = answerOf(reason)
  // No status code is that of an answer.
  return answer === undefined
    ? ofCall(reason, upstreamStatus)
    : { retry: "next", answer, codes: [], adviceMillis: undefined }
}

const ofCall = (reason: Reason, upstreamStatus: number | undefined): AttemptFailure => ({
  retry: retryOf(reason),
  isStale: isStaleSocket(reason),
  ...(reason._tag === "CircuitOpen" ? { isUncalled: true } : {}),
  codes: upstreamStatus === undefined || upstreamStatus < 400 ? codesOf(reason) : [upstreamStatus, ...codesOf(reason)],
  adviceMillis: adviceOf(reason)
})

/** A refusal before the call, by a target that cannot take the request; another one may. */
const refused = (code: number, retry: AttemptFailure["retry"]): AttemptFailure => ({
  retry,
  codes: [code],
  adviceMillis: undefined
})

/** An answer of pictures may be made and billed where its call failed, unless the upstream refused to begin (N603). */
const ofPictures = (failure: AttemptFailure): AttemptFailure =>
  failure.retry === "same" && !failure.codes.some((code) => code === 429 || code === 503)
    ? { ...failure, retry: "next" }
    : failure

export const failureOf = (error: GatewayError, operation?: Operation): AttemptFailure => {
  switch (error._tag) {
    case "ProviderError":
      return operation === "nativePredictions" ? ofPictures(ofProvider(error)) : ofProvider(error)
    case "CredentialsMissing":
      return refused(401, "next")
    case "ObjectNotAllowed":
      return refused(403, "next")
    case "BodyTooLarge":
      return refused(413, "never")
    default:
      return refused(400, "never")
  }
}

/** True for what the client did: no repetition of it can help. */
export const isClientFault = ({ codes }: AttemptFailure): boolean =>
  codes.some((code) => code >= 400 && code <= 413 && code !== 408 && code !== 409)
