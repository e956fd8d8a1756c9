// The step after a failed attempt: the same target again after a wait, another target, or the end.
// It must not depend on how a call is made. Time, chance and the budget are arguments.
import type { RetryRule } from "../domain/config/GatewayConfig.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { type AttemptFailure, isClientFault } from "./failures.ts"
import type { FallbackEdge } from "./plan.ts"

/** What is looked at of a target. */
export interface Trying {
  /** Undefined: the usual retries, where the plan has no other target. */
  readonly retry: RetryRule | undefined
  readonly edges: ReadonlyArray<FallbackEdge>
}

export interface AttemptState {
  /** Place of the target in the plan. */
  readonly target: number
  /** Calls of this target beyond the first. */
  readonly retries: number
  /** Calls so far, whatever they went to. */
  readonly calls: number
  readonly targets: number
  readonly waitedMillis: number
  /**
   * Place of the target whose call was sent again on a new socket, at most one in a request. Undefined: none was yet; -1:
   * none may be.
   */
  readonly resent: number | undefined
}

export const firstAttempt: AttemptState = {
  target: 0,
  retries: 0,
  calls: 1,
  targets: 1,
  waitedMillis: 0,
  resent: undefined
}

export type Next =
  | { readonly _tag: "Attempt"; readonly state: AttemptState }
  /** A retry, after so many milliseconds. */
  | { readonly _tag: "Wait"; readonly millis: number; readonly state: AttemptState }
  | { readonly _tag: "Done" }

export interface RetryMoment {
  readonly nowMillis: number
  readonly deadlineMillis: number | undefined
  /** From 0 to 1, the latter excluded. */
  readonly random: number
  /** Whether traffic as it is leaves room for a retry. */
  readonly isAffordable: boolean
}

export type RetryLimits = Pick<
  LimitValues,
  "retries" | "retryBaseMillis" | "retryCapMillis" | "retryAfterMillis" | "retryWaitMillis"
>

const done: Next = { _tag: "Done" }

/** A rule with its own codes also covers failures that only another target avoids, but never errors of the client. */
const isRepeatable = (rule: RetryRule | undefined, failure: AttemptFailure): boolean =>
  rule?.codes === undefined
    ? failure.retry === "same"
    : failure.retry !== "never" && !isClientFault(failure) && failure.codes.some((code) => rule.codes?.has(code))

/** Full jitter beneath a doubling bound; what the upstream asks for, and up to a quarter more so that callers part. */
const waitOf = (state: AttemptState, { adviceMillis }: AttemptFailure, random: number, limits: RetryLimits): number =>
  adviceMillis === undefined
    ? Math.floor(random * Math.min(limits.retryCapMillis, limits.retryBaseMillis * 2 ** pausedRetries(state)))
    : Math.ceil(adviceMillis * (1 + random / 4))

/** The same call again, on a new socket and without a pause. It is not one of the retries that a config allows. */
const resent = (state: AttemptState, failure: AttemptFailure, isAffordable: boolean): Next | undefined =>
  failure.isStale === true && state.resent === undefined && isAffordable
    ? {
        _tag: "Wait",
        millis: 0,
        state: { ...state, retries: state.retries + 1, calls: state.calls + 1, resent: state.target }
      }
    : undefined

/** Retries of the target for which the config has a limit and a pause. */
const pausedRetries = ({ resent: place, retries, target }: AttemptState): number =>
  place === target ? retries - 1 : retries

const retried = (
  { retry, edges }: Trying,
  state: AttemptState,
  failure: AttemptFailure,
  { deadlineMillis, isAffordable, nowMillis, random }: RetryMoment,
  limits: RetryLimits
): Next | undefined => {
  // Another target is the second try, unless the config asks for retries as well.
  const most = retry?.attempts ?? (edges.length === 0 ? limits.retries : 0)
  if (pausedRetries(state) >= most || !isAffordable || !isRepeatable(retry, failure)) return undefined
  const patience = retry?.patient === true ? limits.retryWaitMillis : limits.retryAfterMillis
  if ((failure.adviceMillis ?? 0) > patience) return undefined
  const millis = waitOf(state, failure, random, limits)
  const waitedMillis = state.waitedMillis + millis
  if (waitedMillis > limits.retryWaitMillis) return undefined
  if (deadlineMillis !== undefined && nowMillis + millis >= deadlineMillis) return undefined
  return { _tag: "Wait", millis, state: { ...state, retries: state.retries + 1, calls: state.calls + 1, waitedMillis } }
}

const isFor = ({ answers, codes }: FallbackEdge, failure: AttemptFailure): boolean =>
  failure.answer !== undefined
    ? answers?.has(failure.answer) === true
    : codes === undefined
      ? failure.retry !== "never"
      : failure.codes.some((code) => codes.has(code))

/** A target whose circuit is open was not called, and is not counted as tried. */
const counted = ({ calls, targets }: AttemptState, { isUncalled }: AttemptFailure) =>
  isUncalled === true ? { calls, targets } : { calls: calls + 1, targets: targets + 1 }

/** Terminates: a target is retried a bounded number of times, and every edge leads to a later target. */
export const nextAttempt = (
  plan: ReadonlyArray<Trying>,
  state: AttemptState,
  failure: AttemptFailure,
  moment: RetryMoment,
  limits: RetryLimits
): Next => {
  const trying = plan[state.target]
  if (trying === undefined || (moment.deadlineMillis !== undefined && moment.nowMillis >= moment.deadlineMillis))
    return done
  const again = resent(state, failure, moment.isAffordable) ?? retried(trying, state, failure, moment, limits)
  if (again !== undefined) return again
  const edge = trying.edges.find((one) => isFor(one, failure))
  return edge === undefined || plan[edge.to] === undefined
    ? done
    : {
        _tag: "Attempt",
        state: { ...state, target: edge.to, retries: 0, ...counted(state, failure) }
      }
}
