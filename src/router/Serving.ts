// Serves a request by the targets of its plan, one after the other, as long as a failure leaves a way.
// It must not know how a call is made, nor whether it answers at once or as a stream.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AllTargetsFailed, type GatewayError } from "../domain/GatewayError.ts"
import type { Operations } from "../provider/Provider.ts"
import type { AttemptTimes } from "../upstream/Upstream.ts"
import { type Asking, type Attempt, type AttemptServices, preparing, timesOf } from "./Attempts.ts"
import { bodies } from "./bodies.ts"
import { failureOf } from "./failures.ts"
import { type AttemptState, firstAttempt, nextAttempt } from "./nextAttempt.ts"
import { type CatalogView, type Plan, planConfig, type PlanFault, planOne } from "./plan.ts"
import { type RetryBudget, retryBudgets } from "./RetryBudget.ts"

/** What an attempt came to. */
interface Answered<Op extends keyof Operations, A> {
  readonly attempt: Attempt<Op>
  readonly value: A
  readonly retryCount: number
}

/** How a prepared call is made. */
type Send<Op extends keyof Operations, A, R> = (attempt: Attempt<Op>, times: AttemptTimes) => Effect.Effect<A, GatewayError, R>

export interface ServingServices extends AttemptServices {
  readonly catalog: CatalogView
  /** From 0 to 1, the latter excluded. */
  readonly draw: () => number
}

interface Serving {
  readonly serve: <Op extends keyof Operations, A, R>(
    asking: Asking<Op>,
    send: Send<Op, A, R>
  ) => Effect.Effect<Answered<Op, A>, GatewayError, R>
  /** The first target, made ready and not called. */
  readonly prepared: <Op extends keyof Operations>(asking: Asking<Op>) => Effect.Effect<Attempt<Op>, GatewayError>
}

export const serving = (services: ServingServices): Serving => {
  const { catalog, draw, limits } = services
  const prepare = preparing(services)
  const budgetOf = retryBudgets()

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
      const next = nextAttempt(plan.map(({ target, ways }) => ({ retry: target?.retry, ways })), state, failureOf(error), {
        nowMillis,
        deadlineMillis: context.deadlineMillis,
        random: draw(),
        isAffordable: budget.isAffordable(nowMillis)
      }, limits)
      switch (next._tag) {
        case "Attempt":
          return again(next.state)
        case "Wait":
          budget.retry(nowMillis)
          return Effect.flatMap(Effect.sleep(next.millis), () => again(next.state))
        case "Done":
          return Effect.fail(endOf(error, state, plan))
      }
    })

  return {
    serve: (asking, send) => Effect.suspend(() => {
      const { context, stream } = asking
      const planned = planOf(asking, catalog, draw)
      if (Result.isFailure(planned)) return Effect.fail(planned.failure)
      const plan = planned.success
      const budget = budgetOf(context.key.id, plan[0].account.slug)
      budget.request(context.startedMillis)
      const attempted = (state: AttemptState): ReturnType<typeof called> =>
        Effect.catch(called(state), (error) => afterFailure(asking, plan, budget, state, error, attempted))
      const called = (state: AttemptState) => {
        const one = plan[state.target] ?? plan[0]
        return Effect.flatMap(prepare(asking, one), (attempt) =>
          Effect.flatMap(timesOf(attempt.account, one.target?.times, context, limits, stream), (times) =>
            Effect.map(send(attempt, times), (value) => ({ attempt, value, retryCount: state.retries }))))
      }
      return attempted(firstAttempt)
    }),
    prepared: (asking) => Effect.suspend(() => {
      const planned = planOf(asking, catalog, draw)
      return Result.isFailure(planned) ? Effect.fail(planned.failure) : prepare(asking, planned.success[0])
    })
  }
}

/** The targets of a request: one, or those of its config. */
const planOf = <Op extends keyof Operations>(
  { context, operation, request }: Asking<Op>,
  catalog: CatalogView,
  draw: () => number
): Result.Result<Plan, PlanFault> => {
  const { carried, config, key, metadata, providerHeader: header } = context
  const asked = { model: request.model, header, key, carried }
  if (config === undefined) return planOne(asked, catalog)
  const facts = () => ({ metadata, params: bodies[operation].params(request), path: bodies[operation].path })
  return planConfig({ asked, config, catalog, facts, draw, isOpen: () => false })
}

/** A failure that is not the first attempt's own tells which attempt it was. */
const endOf = (error: GatewayError, { calls, retries, target, targets }: AttemptState, plan: Plan): GatewayError => {
  const last = plan[target]?.target
  return error._tag === "AllTargetsFailed" || (calls === 1 && last === undefined)
    ? error
    : new AllTargetsFailed({ last: error, targets, optionIndex: last?.index ?? 0, retryCount: retries })
}
