// Asks whether the key of a request may have it run, before any upstream is called: estimates what it will use, and reserves that.
// It must not know how limits are kept. Requests of keys without limits do not come here; answers from the cache do.
import * as Effect from "effect/Effect"
import { Prices } from "../../catalog/Prices.ts"
import { type GatewayError, ModelNotPriced, type RateLimitReached } from "../../domain/GatewayError.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { Limits } from "../../domain/Limits.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import { microDollars, type Usage } from "../../domain/Usage.ts"
import { Admission, type Admitted, type Estimate } from "../../keys/Admission.ts"
import type { Operations } from "../../provider/Provider.ts"
import { bodies } from "../../router/bodies.ts"
import { ProviderRouter, type TargetName } from "../../router/ProviderRouter.ts"
import { estimatedInput, estimatedUsage } from "../../accounting/estimatedUsage.ts"
import type { Arrival } from "../request/RequestContexts.ts"

/** False: the request needs no admission. */
export const isLimited = ({ budget, rateLimit }: GatewayKey): boolean => rateLimit !== undefined || budget !== undefined

/** Fails when the request may not run. What was reserved for it is settled when its accounts are closed. */
export type Admitting = <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  context: RequestContext,
  arrival: Arrival
) => Effect.Effect<void, GatewayError>

/** A target, and what it would probably use. */
interface Expected {
  readonly target: TargetName
  readonly usage: Usage
}

const nothingEstimated: Estimate = { tokens: 0, costMicros: 0 }

/** Puts the outcome of an admission into the record of the request. */
const noting = ({ record }: Arrival) => {
  let admitted: Admitted | undefined
  return {
    hold: (one: Admitted): void => {
      admitted = one
      if (record === undefined) return
      record.admitted = one
      record.limits = one.limits
    },
    refused: (error: GatewayError) =>
      Effect.sync(() => {
        if (record !== undefined && error._tag === "RateLimitReached")
          record.limits = { requests: error.requests, tokens: error.tokens }
      }),
    // Without accounting the estimate is the only figure.
    done: Effect.suspend(() =>
      record === undefined && admitted !== undefined ? admitted.settle(undefined) : Effect.void
    )
  }
}

/** Built once per route. */
export const admitting: Effect.Effect<Admitting, never, Admission | Prices | ProviderRouter> = Effect.gen(function* () {
  const admission = yield* Admission
  const prices = yield* Prices
  const router = yield* ProviderRouter
  const { budgetOutputTokens } = yield* Limits

  /** Each target by its own body; a body that targets share is read once. */
  const expectedOf = (operation: keyof Operations, targets: ReadonlyArray<TargetName>): ReadonlyArray<Expected> => {
    const inputs = new Map<JsonObject, number>()
    return targets.map((target) => {
      const { modelId, params } = target
      const input = inputs.get(params) ?? estimatedInput(params)
      inputs.set(params, input)
      return { target, usage: estimatedUsage(operation, params, budgetOutputTokens, modelId, input) }
    })
  }

  /** Of the most expensive target, because any of them may answer; undefined until prices are loaded. */
  const costOf = (expected: ReadonlyArray<Expected>, nowMillis: number): number | ModelNotPriced | undefined => {
    let highest = 0
    for (const {
      target: { modelId, slug },
      usage
    } of expected) {
      const counted = prices.counted(slug, modelId, nowMillis)
      if (counted === undefined) return undefined
      if (counted.price === undefined) return new ModelNotPriced({ slug, modelId })
      highest = Math.max(highest, microDollars(usage, counted.price))
    }
    return highest
  }

  const loadedCostOf = (
    expected: ReadonlyArray<Expected>,
    nowMillis: number
  ): Effect.Effect<number, ModelNotPriced> => {
    const cost = costOf(expected, nowMillis)
    if (cost === undefined)
      return Effect.andThen(
        prices.load,
        Effect.suspend(() => loadedCostOf(expected, nowMillis))
      )
    return typeof cost === "number" ? Effect.succeed(cost) : Effect.fail(cost)
  }

  const estimated = <Op extends keyof Operations>(
    operation: Op,
    request: Operations[Op]["request"],
    context: RequestContext
  ): Effect.Effect<Estimate, GatewayError> => {
    const {
      config,
      key: { budget, rateLimit },
      startedMillis
    } = context
    if (budget === undefined && rateLimit?.tokensPerMinute === undefined) return Effect.succeed(nothingEstimated)
    // Without a config there are no edits, and without a budget the price of the target does not matter.
    if (budget === undefined && config === undefined) {
      const params = bodies[operation].params(request)
      return Effect.succeed({ tokens: estimatedUsage(operation, params, budgetOutputTokens).input, costMicros: 0 })
    }
    return Effect.flatMap(router.targets(operation, request, context), (targets) => {
      const expected = expectedOf(operation, targets)
      const tokens = Math.max(...expected.map(({ usage }) => usage.input))
      return budget === undefined
        ? Effect.succeed({ tokens, costMicros: 0 })
        : Effect.map(loadedCostOf(expected, startedMillis), (costMicros) => ({ tokens, costMicros }))
    })
  }

  return Effect.fnUntraced(function* (operation, request, context, arrival) {
    const { done, hold, refused } = noting(arrival)
    const estimate = yield* estimated(operation, request, context)
    yield* Effect.tapError(admission.admit(context.key, estimate, hold), refused)
    yield* done
  })
})

/** For requests without an upstream call: dry runs and rendered prompts. They count against the requests a minute only. */
export const admittingUncalled: Effect.Effect<
  (key: GatewayKey, arrival: Arrival) => Effect.Effect<void, RateLimitReached>,
  never,
  Admission
> = Effect.map(Admission, (admission) => (key, arrival) => {
  const { hold, refused } = noting(arrival)
  return Effect.tapError(admission.admitUncalled(key, hold), refused)
})
