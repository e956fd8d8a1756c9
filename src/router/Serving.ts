// Serves a request by the targets of its plan, one after the other, as long as a failure leaves a way.
// It must not know how a call is made, nor whether it answers at once or as a stream.
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { AllTargetsFailed, type GatewayError } from "../domain/GatewayError.ts"
import type { ResponseCache } from "../state/ResponseCache.ts"
import type { Operations } from "../provider/Provider.ts"
import type { MediaFetch } from "../upstream/MediaFetch.ts"
import type { AttemptTimes } from "../upstream/Upstream.ts"
import { type Asking, type Attempt, type AttemptServices, preparing, timesOf } from "./Attempts.ts"
import { type CacheAsk, cacheAsk } from "./cacheKey.ts"
import { cached, type CacheStatus, type Keeping } from "./Cached.ts"
import { circuitOf, refusedBy, verdictOf } from "./circuit.ts"
import { failureOf } from "./failures.ts"
import { fetching, notFetching } from "./Fetching.ts"
import { type AttemptState, firstAttempt, nextAttempt } from "./nextAttempt.ts"
import type { Plan, Planned } from "./plan.ts"
import { planning, type PlanningServices } from "./Planning.ts"
import { type RetryBudget, retryBudgets } from "./RetryBudget.ts"

/** What an attempt came to. */
interface Answered<Op extends keyof Operations, A> {
  readonly attempt: Attempt<Op>
  readonly value: A
  readonly retryCount: number
  readonly cache: CacheStatus
}

/** How a prepared call is made, and how its answer is kept for others. */
export interface Sending<Op extends keyof Operations, A, R> extends Keeping<A> {
  readonly call: (attempt: Attempt<Op>, times: AttemptTimes) => Effect.Effect<A, GatewayError, R>
}

export interface ServingServices extends AttemptServices, PlanningServices {
  readonly cache: ResponseCache["Service"]
  /** Undefined: no media are fetched. */
  readonly media: MediaFetch | undefined
}

interface Serving {
  /** All targets that a request could be sent to. */
  readonly possible: <Op extends keyof Operations>(
    asking: Asking<Op>
  ) => Result.Result<ReadonlyArray<Planned>, GatewayError>
  readonly serve: <Op extends keyof Operations, A, R>(
    asking: Asking<Op>,
    sending: Sending<Op, A, R>
  ) => Effect.Effect<Answered<Op, A>, GatewayError, R>
  /** The first target, made ready and not called. */
  readonly prepared: <Op extends keyof Operations>(asking: Asking<Op>) => Effect.Effect<Attempt<Op>, GatewayError>
}

export const serving = (services: ServingServices): Serving => {
  const { cache, circuits, draw, limits, media } = services
  const prepare = preparing(services, media === undefined ? undefined : fetching(media, limits))
  const show = preparing(services, media === undefined ? undefined : notFetching)
  const budgetOf = retryBudgets()
  const { plan, possible } = planning(services)

  const attempted = <Op extends keyof Operations, A, R>(
    asking: Asking<Op>,
    planned: Planned,
    retryCount: number,
    sending: Sending<Op, A, R>
  ): Effect.Effect<Answered<Op, A>, GatewayError, R> => {
    const { context, stream } = asking
    const circuit = circuitOf(planned, context.key)
    const ask = cacheAsk(context.cache, planned.target?.cache, limits.cacheSeconds)
    return Effect.flatMapEager(prepare(asking, planned), (attempt) =>
      Effect.flatMapEager(timesOf(attempt.account, planned.target?.times, context, limits, stream), (times) => {
        const call = sending.call(attempt, times)
        const guarded =
          circuit === undefined
            ? call
            : circuits.guard(
                circuit,
                call,
                (cause) => verdictOf(circuit.rule, Cause.findErrorOption(cause)),
                (why) => refusedBy(attempt.account.slug, why)
              )
        if (ask === undefined)
          return Effect.map(guarded, (value) => ({ attempt, value, retryCount, cache: "DISABLED" }))
        return Effect.map(cached(cache, ask, context, attempt, sending, guarded), ([value, status]) => ({
          attempt,
          value,
          retryCount,
          cache: status
        }))
      })
    )
  }

  /** What follows a failure: a wait and the same target, another target, or the end. */
  const afterFailure = <A, R>(
    { context }: Asking<keyof Operations>,
    plan: Plan,
    budget: RetryBudget,
    state: AttemptState,
    error: GatewayError,
    again: (state: AttemptState) => Effect.Effect<A, GatewayError, R>
  ): Effect.Effect<A, GatewayError, R> =>
    Effect.clockWith((clock) => {
      const nowMillis = clock.currentTimeMillisUnsafe()
      const next = nextAttempt(
        plan.map(({ target, ways }) => ({ retry: target?.retry, ways })),
        state,
        failureOf(error),
        {
          nowMillis,
          deadlineMillis: context.deadlineMillis,
          random: draw(),
          isAffordable: budget.isAffordable(nowMillis)
        },
        limits
      )
      switch (next._tag) {
        case "Attempt":
          return again(next.state)
        case "Wait":
          budget.retry(nowMillis)
          return Effect.flatMap(Effect.sleep(next.millis), () => again(next.state))
        case "Done":
          return Effect.fail(
            endOf(error, state, plan, cacheAsk(context.cache, plan[state.target]?.target?.cache, limits.cacheSeconds))
          )
      }
    })

  return {
    possible,
    serve: <Op extends keyof Operations, A, R>(asking: Asking<Op>, sending: Sending<Op, A, R>) =>
      Effect.suspend(() =>
        Effect.flatMapEager(plan(asking), (targets) => {
          const { key, startedMillis } = asking.context
          const budget = budgetOf(key.id, targets[0].account.slug)
          budget.request(startedMillis)
          const trying = (state: AttemptState): Effect.Effect<Answered<Op, A>, GatewayError, R> =>
            Effect.catch(attempted(asking, targets[state.target] ?? targets[0], state.retries, sending), (error) =>
              afterFailure(asking, targets, budget, state, error, trying)
            )
          return trying(firstAttempt)
        })
      ),
    prepared: (asking) => Effect.suspend(() => Effect.flatMapEager(plan(asking), ([first]) => show(asking, first)))
  }
}

/** Adds what the headers of an answer need and a single failure lacks; a refusal before any call stays as it is. */
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
