// Serves a request by the targets of its plan, one after the other, until one answers or no fallback edge is left.
// It must not depend on how a call is made, or on whether its answer is complete or a stream.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { AllTargetsFailed, type GatewayError } from "../domain/GatewayError.ts"
import type { Operation } from "../domain/operations.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { ResponseCache } from "../state/ResponseCache.ts"
import type { MediaFetch } from "../upstream/MediaFetch.ts"
import {
  type Asking,
  type Attempt,
  type AttemptServices,
  callAttempt,
  prepareAttempt,
  type Repeating
} from "./Attempts.ts"
import { attemptTimes, type TimesOf } from "./Deadline.ts"
import { type CacheAsk, cacheAsk, cached } from "./Cached.ts"
import { healRefused } from "./CallHealing.ts"
import { type CacheStatus, withFailureWords } from "./shownAttempt.ts"
import type { CallStrategy } from "./SendCall.ts"
import { circuitOf, failureOf, refusedBy, verdictOf } from "./failures.ts"
import { type Fetching, fetching, notFetching } from "./Fetching.ts"
import { type AttemptState, firstAttempt, nextAttempt } from "./nextAttempt.ts"
import type { Plan, Planned } from "./plan.ts"
import { Planning, type PlanningServices } from "./Planning.ts"
import { type RetryBudget, retryBudgets } from "./retryBudgets.ts"

/** The later calls of a long answer are retried after a pause only, because the log does not show each of them. */
const laterAttempt: AttemptState = { ...firstAttempt, resent: -1 }

/** The attempt that answered, and its answer. */
interface Answered<Op extends Operation, A> {
  readonly attempt: Attempt<Op>
  readonly value: A
  readonly retryCount: number
  readonly cache: CacheStatus
}

export interface ServingServices extends AttemptServices, PlanningServices {
  readonly cache: ResponseCache["Service"]
  /** Undefined: no media are fetched. */
  readonly media: MediaFetch | undefined
}

export class Serving {
  private readonly services: ServingServices
  private readonly planning: Planning
  private readonly fetch: Fetching | undefined
  private readonly budgetOf = retryBudgets()
  private readonly timesOf: TimesOf

  constructor(services: ServingServices) {
    this.services = services
    this.planning = new Planning(services)
    this.timesOf = attemptTimes(services.limits)
    this.fetch = services.media === undefined ? undefined : fetching(services.media, services.limits)
  }

  /** All targets that a request could be sent to. */
  possible<Op extends Operation>(asking: Asking<Op>): Result.Result<ReadonlyArray<Planned>, GatewayError> {
    return this.planning.possible(asking)
  }

  /** The first target, made ready and not called. */
  prepare<Op extends Operation>(asking: Asking<Op>): Effect.Effect<Attempt<Op>, GatewayError> {
    const fetch = this.fetch === undefined ? undefined : notFetching
    return Effect.suspend(() =>
      Effect.flatMapEager(this.planning.plan(asking), ([first]) => prepareAttempt(this.services, fetch, asking, first))
    )
  }

  /** Tries the targets of the plan until one answers. */
  serve<Op extends Operation, A, R>(
    asking: Asking<Op>,
    strategy: CallStrategy<Op, A, R>
  ): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    return Effect.suspend(() =>
      Effect.flatMapEager(this.planning.plan(asking), (plan) => {
        const { key, startedMillis } = asking.context
        const budget = this.budgetOf(key.id, plan[0].account.slug)
        budget.request(startedMillis)
        return this.attempt(asking, plan, budget, strategy, firstAttempt)
      })
    )
  }

  /** One attempt, and after a failure what follows it: a wait and the same target, another target, or the end. */
  private attempt<Op extends Operation, A, R>(
    asking: Asking<Op>,
    plan: Plan,
    budget: RetryBudget,
    strategy: CallStrategy<Op, A, R>,
    state: AttemptState
  ): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const planned = plan[state.target] ?? plan[0]
    return Effect.catch(this.callTarget(asking, planned, budget, state, strategy), (error) =>
      Effect.clockWith((clock) => {
        const { cacheSeconds } = this.services.limits
        const nowMillis = clock.currentTimeMillisUnsafe()
        const next = this.nextOf(asking, plan, budget, state, error, nowMillis)
        switch (next._tag) {
          case "Attempt":
            return this.attempt(asking, plan, budget, strategy, next.state)
          case "Wait":
            budget.retry(nowMillis)
            return Effect.flatMap(next.millis === 0 ? Effect.void : Effect.sleep(next.millis), () =>
              this.attempt(asking, plan, budget, strategy, next.state)
            )
          case "Done":
            return Effect.fail(
              endOf(error, state, plan, cacheAsk(asking.context.cache, planned.target?.cache, cacheSeconds))
            )
        }
      })
    )
  }

  private nextOf(
    { context: { deadlineMillis }, operation }: Asking<Operation>,
    plan: Plan,
    budget: RetryBudget,
    state: AttemptState,
    error: GatewayError,
    nowMillis: number
  ) {
    const { draw, limits } = this.services
    const targets = plan.map(({ edges, target }) => ({ retry: target?.retry, edges }))
    const moment = { nowMillis, deadlineMillis, random: draw(), isAffordable: budget.isAffordable(nowMillis) }
    return nextAttempt(targets, state, failureOf(error, operation), moment, limits)
  }

  /** Prepares a target and calls it. A call that is refused for a known reason is changed and made again. */
  private callTarget<Op extends Operation, A, R>(
    asking: Asking<Op>,
    planned: Planned,
    budget: RetryBudget,
    state: AttemptState,
    strategy: CallStrategy<Op, A, R>
  ): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const call = (attempt: Attempt<Op>) => this.callPrepared(asking, planned, attempt, budget, state, strategy)
    const { context } = asking
    const { learned, limits } = this.services
    const heals = context.unsupported === "reject" ? 0 : limits.heals
    return Effect.flatMapEager(prepareAttempt(this.services, this.fetch, asking, planned), (attempt) => {
      const { scope } = attempt
      return scope === undefined
        ? call(attempt)
        : Effect.catch(call(attempt), (error) => healRefused(learned, context, { attempt, scope, error }, call, heals))
    })
  }

  /** Calls a prepared target: within its circuit, and through the cache where the request or its config asks. */
  private callPrepared<Op extends Operation, A, R>(
    asking: Asking<Op>,
    planned: Planned,
    attempt: Attempt<Op>,
    budget: RetryBudget,
    { resent, retries: retryCount, target }: AttemptState,
    strategy: CallStrategy<Op, A, R>
  ): Effect.Effect<Answered<Op, A>, GatewayError, R> {
    const { cache, catalog, limits } = this.services
    const { context, stream } = asking
    const ask = cacheAsk(context.cache, planned.target?.cache, limits.cacheSeconds)
    const timesNow = this.timesOf(attempt.account, planned.target?.times, context, stream)
    const repeating: Repeating | undefined =
      attempt.prepared.hops === undefined
        ? undefined
        : { times: timesNow, retry: (later) => this.retryTarget(asking, planned, budget, later, laterAttempt) }
    return Effect.flatMapEager(timesNow, (now): Effect.Effect<Answered<Op, A>, GatewayError, R> => {
      const times = resent === target ? { ...now, isFresh: true } : now
      const failed = {
        account: attempt.account,
        modelId: attempt.prepared.target.modelId,
        models: (context.catalog ?? catalog).models,
        isOperator: context.key.scopes.includes("admin")
      }
      const guarded = this.guard(asking, planned, callAttempt(attempt, asking, times, strategy, repeating))
      const call = Effect.mapError(judgedBy(planned, strategy, asking.operation, guarded), (error) =>
        withFailureWords(error, failed)
      )
      return ask === undefined
        ? Effect.map(call, (value) => ({ attempt, value, retryCount, cache: "DISABLED" }))
        : Effect.map(
            cached(cache, ask, context, attempt, strategy.keeping(asking.operation), call),
            ([value, status]) => ({ attempt, value, retryCount, cache: status })
          )
    })
  }

  /** A later call of a long answer: retried at its own target, and never sent to another. */
  private retryTarget<A, R>(
    asking: Asking<Operation>,
    planned: Planned,
    budget: RetryBudget,
    call: Effect.Effect<A, ProviderError, R>,
    state: AttemptState
  ): Effect.Effect<A, ProviderError, R> {
    return Effect.catch(call, (error) =>
      Effect.clockWith((clock) => {
        const nowMillis = clock.currentTimeMillisUnsafe()
        const next = this.nextOf(asking, [{ ...planned, edges: [] }], budget, state, error, nowMillis)
        if (next._tag !== "Wait") return Effect.fail(error)
        budget.retry(nowMillis)
        return Effect.flatMap(Effect.sleep(next.millis), () =>
          this.retryTarget(asking, planned, budget, call, next.state)
        )
      })
    )
  }

  /** The call within the circuit of its target, or the call alone for a target without one. */
  private guard<A, R>(
    { context: { key, recorder } }: Asking<Operation>,
    planned: Planned,
    call: Effect.Effect<A, GatewayError, R>
  ): Effect.Effect<A, GatewayError, R> {
    const circuit = circuitOf(planned, key)
    if (circuit === undefined) return call
    return this.services.circuits.guard(
      circuit,
      call,
      (cause) => verdictOf(circuit.rule, Cause.findErrorOption(cause)),
      (why) => {
        if (planned.target !== undefined) recorder?.passedOver(planned.target.index)
        return refusedBy(planned.account.slug, why)
      }
    )
  }
}

/** Adds the facts that the headers of an answer need and a single failure lacks. A refusal before any call stays as it is. */
const endOf = (
  error: GatewayError,
  { calls, retries, target, targets }: AttemptState,
  plan: Plan,
  ask: CacheAsk | undefined
): GatewayError => {
  const last = plan[target]?.target
  if (error._tag === "AllTargetsFailed") return error
  if (calls === 1 && (error._tag !== "ProviderError" || (last === undefined && ask === undefined))) return error
  const cache = ask === undefined ? "DISABLED" : ask.refresh ? "REFRESH" : "MISS"
  return new AllTargetsFailed({ last: error, targets, optionIndex: last?.index ?? 0, retryCount: retries, cache })
}

const faultWords = { refusal: "The model refused to answer.", empty: "The model gave an empty answer." } as const

/** Fails with an answer that a fallback edge of the target gives to the next one; others pass. */
const judgedBy = <Op extends Operation, A, R>(
  { account, edges }: Planned,
  strategy: CallStrategy<Op, A, R>,
  operation: Op,
  call: Effect.Effect<A, GatewayError, R>
): Effect.Effect<A, GatewayError, R> =>
  edges.every(({ answers }) => answers === undefined)
    ? call
    : Effect.flatMap(call, (answer) =>
        Effect.flatMap(strategy.judge(operation, answer), ([value, fault]): Effect.Effect<A, ProviderError> =>
          fault === undefined || !edges.some(({ answers }) => answers?.has(fault) === true)
            ? Effect.succeed(value)
            : Effect.fail(
                new ProviderError({
                  slug: account.slug,
                  upstreamStatus: 200,
                  reason: {
                    _tag: "BadReply",
                    kind: fault === "refusal" ? "refusal" : "no_answer",
                    message: faultWords[fault]
                  }
                })
              )
        )
      )
