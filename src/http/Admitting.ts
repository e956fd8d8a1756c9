// Asks whether the key of a request may have it run, before any upstream is called: estimates what it will use, and reserves that.
// It must not know how limits are kept. Requests of keys without limits do not come here; answers from the cache do.
import * as Effect from "effect/Effect"
import { Prices } from "../catalog/Prices.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { Limits } from "../domain/Limits.ts"
import type { RequestContext } from "../domain/RequestContext.ts"
import { microDollars, type Usage } from "../domain/Usage.ts"
import { Admission, type Admitted } from "../keys/Admission.ts"
import type { Operations } from "../provider/Provider.ts"
import { bodies } from "../router/bodies.ts"
import { ProviderRouter, type TargetName } from "../router/ProviderRouter.ts"
import { estimatedUsage } from "./estimatedUsage.ts"
import type { Arrival } from "./RequestContexts.ts"

/** False: nobody needs to be asked. */
export const isLimited = ({ budget, rateLimit }: GatewayKey): boolean => rateLimit !== undefined || budget !== undefined

/** Fails when the request may not run. What was reserved for it is settled when its accounts are closed. */
export type Admitting = <Op extends keyof Operations>(
  operation: Op,
  request: Operations[Op]["request"],
  context: RequestContext,
  arrival: Arrival
) => Effect.Effect<void, GatewayError>

/** Built once per route. */
export const admitting: Effect.Effect<Admitting, never, Admission | Prices | ProviderRouter> = Effect.gen(function*() {
  const admission = yield* Admission
  const prices = yield* Prices
  const router = yield* ProviderRouter
  const { budgetOutputTokens } = yield* Limits

  /** By the dearest of its targets; one without a price costs nothing. */
  const costOf = (usage: Usage, targets: ReadonlyArray<TargetName>, nowMillis: number): number | undefined => {
    let dearest = 0
    for (const { modelId, slug } of targets) {
      const counted = prices.counted(slug, modelId, nowMillis)
      if (counted === undefined) return undefined
      if (counted.price !== undefined) dearest = Math.max(dearest, microDollars(usage, counted.price))
    }
    return dearest
  }

  return Effect.fnUntraced(function*(operation, request, context, arrival) {
    const { key, startedMillis } = context
    const { record } = arrival
    const usage = estimatedUsage(operation, bodies[operation].params(request), budgetOutputTokens)
    let costMicros = 0
    if (key.budget !== undefined) {
      const targets = yield* router.targets(operation, request, context)
      const cost = costOf(usage, targets, startedMillis)
      if (cost === undefined) yield* prices.load
      costMicros = cost ?? costOf(usage, targets, startedMillis) ?? 0
    }
    let admitted: Admitted | undefined
    const hold = (one: Admitted): void => {
      admitted = one
      if (record === undefined) return
      record.admitted = one
      record.limits = one.limits
    }
    yield* Effect.tapError(admission.admit(key, { tokens: usage.input, costMicros }, hold), (error) =>
      Effect.sync(() => {
        if (record !== undefined && error._tag === "RateLimitReached") record.limits = { requests: error.requests, tokens: error.tokens }
      }))
    // Where nobody accounts, nobody will know more than this.
    if (record === undefined && admitted !== undefined) yield* admitted.settle(undefined)
  })
})
