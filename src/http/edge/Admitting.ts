// Admits a request before any upstream is called: estimates its usage and reserves that under the limits of its key.
// It must not depend on how limits are kept. Answers from the cache need admission; keys without limits do not.
import * as Effect from "effect/Effect"
import { nearModel } from "../../catalog/models.ts"
import { Prices } from "../../catalog/Prices.ts"
import { type GatewayError, ModelNotPriced, type RateLimitReached } from "../../domain/GatewayError.ts"
import type { GatewayKey } from "../../domain/GatewayKey.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import { Limits } from "../../domain/Limits.ts"
import type { ModelTable } from "../../domain/models/modelTable.ts"
import type { CatalogView } from "../../domain/ProviderAccount.ts"
import type { RequestContext } from "../../domain/RequestContext.ts"
import { microDollars, type Usage } from "../../domain/Usage.ts"
import type { Operation } from "../../domain/operations.ts"
import { Admission, type Admitted, type Estimate } from "../../keys/Admission.ts"
import type { Operations } from "../../provider/Provider.ts"
import { type AdmitMore, ProviderRouter, type TargetName } from "../../router/ProviderRouter.ts"
import { noUsage } from "../../operations/usage.ts"
import { estimatedUsage, expectedPrompt, operationRules } from "../../operations/operationRules.ts"
import type { ExpectedPrompt } from "../../operations/rules.ts"
import type { IncomingRequest } from "../request/IncomingRequest.ts"

/**
 * Fails when the request may not run. The reserve is settled when the accounts of the request are closed. Succeeds with
 * what admits the later calls of its answer; undefined for a key without a budget.
 */
type Admit = <Op extends Operation>(
  operation: Op,
  request: Operations[Op]["request"],
  context: RequestContext,
  incoming: IncomingRequest
) => Effect.Effect<AdmitMore | undefined, GatewayError>

interface AdmittingServices {
  readonly prices: Prices["Service"]
  readonly router: ProviderRouter["Service"]
  /** The output tokens of a request without a bound. */
  readonly budgetOutputTokens: number
}

/** A target, and its probable usage. */
interface Expected {
  readonly target: TargetName
  readonly usage: Usage
}

const nothingEstimated: Estimate = { tokens: 0, costMicros: 0 }

/** Puts the outcome of an admission into the recorder of the request. */
const recordAdmission = ({ recorder }: IncomingRequest) => {
  let admitted: Admitted | undefined
  return {
    hold: (reserve: Admitted): void => {
      admitted = reserve
      if (recorder === undefined) return
      recorder.admitted = reserve
      recorder.limits = reserve.limits
    },
    refused: (error: GatewayError) =>
      Effect.sync(() => {
        if (recorder !== undefined && error._tag === "RateLimitReached")
          recorder.limits = { requests: error.requests, tokens: error.tokens }
      }),
    /** A further reserve, which is given back when the first one is settled. */
    holdMore: (release: Effect.Effect<void>): void => {
      if (recorder === undefined || admitted === undefined) return
      const { settle } = admitted
      admitted = { ...admitted, settle: (used) => Effect.ensuring(settle(used), release) }
      recorder.admitted = admitted
    },
    // Without accounting the estimate is the only figure, so the reserve is settled immediately.
    done: Effect.suspend(() =>
      recorder === undefined && admitted !== undefined ? admitted.settle(undefined) : Effect.void
    )
  }
}

/** Each target by its own body. A body that targets share is estimated once. */
const expectedUsage = (
  operation: Operation,
  targets: ReadonlyArray<TargetName>,
  budgetOutputTokens: number,
  models: ModelTable | undefined
): ReadonlyArray<Expected> => {
  const prompts = new Map<JsonObject, ExpectedPrompt>()
  return targets.map((target) => {
    const { modelId, params } = target
    const prompt = prompts.get(params) ?? expectedPrompt(operation, params)
    prompts.set(params, prompt)
    return { target, usage: estimatedUsage(operation, params, budgetOutputTokens, modelId, prompt, models) }
  })
}

const unpriced = ({ modelId, slug }: Pick<TargetName, "modelId" | "slug">, catalog: CatalogView | undefined) => {
  const kind = catalog?.resolve(slug)?.kind
  const near = catalog === undefined || kind === undefined ? undefined : nearModel(kind, modelId, catalog.models)
  return new ModelNotPriced({ slug, modelId, ...(near === undefined ? {} : { near }) })
}

/** The cost at the most expensive target, because any of them may answer; undefined until prices are loaded. */
const highestCost = (
  expected: ReadonlyArray<Expected>,
  prices: Prices["Service"],
  nowMillis: number,
  catalog: CatalogView | undefined
): number | ModelNotPriced | undefined => {
  let highest = 0
  for (const { target, usage } of expected) {
    const { modelId, place, slug } = target
    const counted = prices.counted(slug, modelId, nowMillis)
    if (counted === undefined) return undefined
    if (counted.price === undefined) return unpriced(target, catalog)
    highest = Math.max(highest, microDollars(usage, counted.price, place))
  }
  return highest
}

const loadedCost = (
  expected: ReadonlyArray<Expected>,
  prices: Prices["Service"],
  nowMillis: number,
  catalog: CatalogView | undefined
): Effect.Effect<number, ModelNotPriced> => {
  const cost = highestCost(expected, prices, nowMillis, catalog)
  if (cost === undefined)
    return Effect.andThen(
      prices.load,
      Effect.suspend(() => loadedCost(expected, prices, nowMillis, catalog))
    )
  return typeof cost === "number" ? Effect.succeed(cost) : Effect.fail(cost)
}

/** Of a cached content nothing but the most that it may cost is known, so a limit of tokens leaves it out. */
const tokensOf = (usages: ReadonlyArray<Usage>): Pick<Estimate, "tokens" | "outputTokens"> => ({
  tokens: Math.max(...usages.map(({ cached, input }) => input - cached)),
  outputTokens: Math.max(...usages.map(({ output }) => output))
})

const estimateRequest = <Op extends Operation>(
  { budgetOutputTokens, prices, router }: AdmittingServices,
  operation: Op,
  request: Operations[Op]["request"],
  context: RequestContext
): Effect.Effect<Estimate, GatewayError> => {
  const { config, key, startedMillis } = context
  const { budget, rate_limit: rateLimit } = key
  if (budget === undefined && rateLimit?.tokens_per_minute === undefined) return Effect.succeed(nothingEstimated)
  // Without a config there are no edits, and without a budget the price of the target does not matter.
  if (budget === undefined && config === undefined) {
    const params = operationRules[operation].body.params(request)
    const usage = estimatedUsage(operation, params, budgetOutputTokens)
    return Effect.succeed({ ...tokensOf([usage]), costMicros: 0 })
  }
  return Effect.flatMap(router.targets(operation, request, context), (targets) => {
    const expected = expectedUsage(operation, targets, budgetOutputTokens, context.catalog?.models)
    const tokens = tokensOf(expected.map(({ usage }) => usage))
    return budget === undefined
      ? Effect.succeed({ ...tokens, costMicros: 0 })
      : Effect.map(loadedCost(expected, prices, startedMillis, context.catalog), (costMicros) => ({
          ...tokens,
          costMicros
        }))
  })
}

/** Built once per route. */
export const admitting: Effect.Effect<Admit, never, Admission | Prices | ProviderRouter> = Effect.gen(function* () {
  const admission = yield* Admission
  const { budgetOutputTokens } = yield* Limits
  const services = { prices: yield* Prices, router: yield* ProviderRouter, budgetOutputTokens }
  return Effect.fnUntraced(function* (operation, request, context, incoming) {
    const { done, hold, holdMore, refused } = recordAdmission(incoming)
    const estimate = yield* estimateRequest(services, operation, request, context)
    yield* Effect.tapError(admission.admit(context.key, estimate, hold), refused)
    yield* done
    const { key } = context
    if (key.budget === undefined || incoming.recorder === undefined) return undefined
    const admitMore: AdmitMore = (target, promptTokens) =>
      Effect.clockWith((clock) => {
        const expected = [{ target: { ...target, params: {} }, usage: { ...noUsage, input: promptTokens } }]
        const cost = loadedCost(expected, services.prices, clock.currentTimeMillisUnsafe(), context.catalog)
        return Effect.flatMap(cost, (costMicros) => admission.admitMore(key, costMicros, holdMore))
      })
    return admitMore
  })
})

/** For requests without an upstream call, which are dry runs and rendered prompts: only the requests a minute count. */
export const admittingUncalled: Effect.Effect<
  (key: GatewayKey, incoming: IncomingRequest) => Effect.Effect<void, RateLimitReached>,
  never,
  Admission
> = Effect.map(Admission, (admission) => (key, incoming) => {
  const { hold, refused } = recordAdmission(incoming)
  return Effect.tapError(admission.admitUncalled(key, hold), refused)
})
