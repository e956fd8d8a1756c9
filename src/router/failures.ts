// The meaning of a failed attempt: what may help, which status codes it counts as, how long to wait, and its verdict for the circuit.
// It must not depend on how the failure is answered, or on how a circuit opens.
import type * as Option from "effect/Option"
import type { AnswerFault, CircuitRule } from "../domain/config/GatewayConfig.ts"
import { renderPath } from "../domain/faults.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { modelIdOf } from "../domain/ModelRef.ts"
import type { Operation } from "../domain/operations.ts"
import { isStaleSocket, ProviderError, type Reason, retryOf } from "../domain/ProviderError.ts"
import { operationRules } from "../operations/operationRules.ts"
import type { Refused, Verdict } from "../state/Breakers.ts"
import type { Circuit } from "../state/Circuits.ts"
import type { Planned } from "./plan.ts"

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
const refusedBefore = (code: number, retry: AttemptFailure["retry"]): AttemptFailure => ({
  retry,
  codes: [code],
  adviceMillis: undefined
})

/** An answer that may be made and billed is not asked for again, unless the upstream refused to begin (N603). */
const perhapsBilled = (failure: AttemptFailure): AttemptFailure =>
  failure.retry === "same" && !failure.codes.some((code) => code === 429 || code === 503)
    ? { ...failure, retry: "next" }
    : failure

export const failureOf = (error: GatewayError, operation?: Operation): AttemptFailure => {
  switch (error._tag) {
    case "ProviderError":
      return operation !== undefined && operationRules[operation].billsFailed === true
        ? perhapsBilled(ofProvider(error))
        : ofProvider(error)
    case "CredentialsMissing":
      return refusedBefore(401, "next")
    case "ObjectNotAllowed":
      return refusedBefore(403, "next")
    case "BodyTooLarge":
      return refusedBefore(413, "never")
    default:
      return refusedBefore(400, "never")
  }
}

/**
 * How the call of the same attempt may still be answered: with a new token in the place of one that the upstream refuses, or without
 * signatures of the other product's model where they are refused (N506). Each helps once.
 */
export const resendOf = <Unsigned>(
  { reason, upstreamStatus }: ProviderError,
  { unsigned }: { readonly unsigned?: Unsigned },
  isRenewed: boolean
): "renewed" | { readonly unsigned: Unsigned } | undefined => {
  if (reason._tag === "CredentialsRejected" && upstreamStatus === 401) return isRenewed ? undefined : "renewed"
  return reason._tag === "SignatureRejected" && unsigned !== undefined ? { unsigned } : undefined
}

/** True for what the client did: no repetition of it can help. */
export const isClientFault = ({ codes }: AttemptFailure): boolean =>
  codes.some((code) => code >= 400 && code <= 413 && code !== 408 && code !== 409)

/**
 * One circuit per caller, so that a caller cannot open it for others (TH20). Targets with the same account, place, model and rule share it,
 * but for those with credentials of their own.
 */
export const circuitOf = ({ account, modelId: written, target }: Planned, key: GatewayKey): Circuit | undefined => {
  if (target?.circuit === undefined) return undefined
  const modelId = modelIdOf(written)
  const credential = target.credentials === undefined ? "" : renderPath(target.at) || "own"
  const parts = [
    key.id,
    account.slug,
    account.project_id ?? "",
    account.region ?? "",
    modelId,
    credential,
    target.circuit.id
  ]
  return { name: JSON.stringify(parts), owner: key.id, slug: account.slug, modelId, rule: target.circuit }
}

const leastFailing = 500

/** The gateway itself gave up the call, or sent it on a socket that had been closed. */
const isOwnFailure = ({ reason }: ProviderError): boolean =>
  reason._tag === "CircuitOpen" || reason._tag === "NoRoom" || isStaleSocket(reason)

/** Only an answer of the target itself, or its silence, counts for or against the target. */
export const verdictOf = ({ codes }: CircuitRule, failed: Option.Option<GatewayError>): Verdict => {
  if (failed._tag === "None" || failed.value._tag !== "ProviderError" || isOwnFailure(failed.value)) return "Ignored"
  const failure = failureOf(failed.value)
  if (
    codes === undefined
      ? failure.codes.some((code) => code >= leastFailing)
      : failure.codes.some((code) => codes.has(code))
  )
    return "Failure"
  return failed.value.upstreamStatus === undefined ? "Ignored" : "Success"
}

/** The failure of a call that was not made. */
export const refusedBy = (slug: string, { retryAfterMillis }: Refused): ProviderError =>
  new ProviderError({
    slug,
    reason: {
      _tag: "CircuitOpen",
      message: "The upstream was not called: it failed too often of late.",
      ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
    }
  })
