// Whether a key may ask now: its rate limits and its budget. What a request may use is reserved before it runs and settled when it has ended.
// It must not know HTTP, models or prices. A key without limits is nobody's business here.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { type BudgetSpent, RateLimitReached, type StoreUnavailable } from "../domain/GatewayError.ts"
import { type GatewayKey, periodOf, type RateLimit } from "../domain/GatewayKey.ts"
import type { Allowance, LimitState } from "../domain/LimitState.ts"
import { Spending } from "../store/Spending.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { makeBudgets } from "./Budgets.ts"
import { UsageLog } from "./UsageLog.ts"

/** What a request will probably use. */
export interface Estimate {
  readonly tokens: number
  readonly costMicros: number
}

/** A request that may run. */
export interface Admitted {
  /** What is left of the limits of its key. */
  readonly limits: LimitState
  /** To be run once, when it has ended: with what it used, or undefined where nobody counted and the estimate stands. */
  readonly settle: (used: Estimate | undefined) => Effect.Effect<void>
}

export interface KeySpending {
  /** In the period of the key's budget; of a key without one, in this month. */
  readonly spentMicros: number
  /** When the last request ended that is still listed. */
  readonly lastUsedMillis: number | undefined
}

export class Admission extends Context.Service<Admission, {
  /**
   * Gives `hold` the admitted request in the moment it is admitted. A key whose budget or minute is used up is refused;
   * StoreUnavailable means that its budget cannot be told while the store is gone.
   */
  readonly admit: (
    key: GatewayKey,
    estimate: Estimate,
    hold: (admitted: Admitted) => void
  ) => Effect.Effect<void, RateLimitReached | BudgetSpent | StoreUnavailable>
  /** What a key has spent, by all gateways on the store, and when it was used last. */
  readonly spent: (key: GatewayKey) => Effect.Effect<KeySpending, StoreUnavailable>
}>()("gateway/keys/Admission") {
  static readonly layer: Layer.Layer<Admission, never, RateLimiter.RateLimiterStore | Spending | UsageLog> = Layer.effect(
    Admission,
    Effect.suspend(() => make)
  )
}

const minute = Duration.minutes(1)
const none: LimitState = { requests: undefined, tokens: undefined }

type Kind = "requests" | "tokens"

const allowanceOf = ({ limit, remaining, resetAfter }: RateLimiter.ConsumeResult): Allowance => ({
  limit,
  remaining: Math.max(0, Math.floor(remaining)),
  resetMillis: Math.ceil(Duration.toMillis(resetAfter))
})

/** A bucket for each limit: it holds what a minute allows, and fills evenly. */
const buckets = (limiter: RateLimiter.RateLimiter) => {
  const bucket = (keyId: string, kind: Kind, limit: number, tokens: number, onExceeded: "fail" | "delay") =>
    limiter.consume({ algorithm: "token-bucket", window: minute, key: `${keyId}:${kind}`, limit, tokens, onExceeded })

  /** Takes or gives back whatever is there. */
  const adjust = (keyId: string, kind: Kind, limit: number, tokens: number): Effect.Effect<Allowance | undefined> =>
    bucket(keyId, kind, limit, tokens, "delay").pipe(Effect.map(allowanceOf), Effect.catch(() => Effect.succeed(undefined)))

  /** Takes so much, or says when that will be there. Nobody is refused for want of a store. */
  const take = (keyId: string, kind: Kind, limit: number | undefined, tokens: number): Effect.Effect<Allowance | undefined, number> =>
    limit === undefined ? Effect.succeed(undefined) : Effect.matchEffect(bucket(keyId, kind, limit, tokens, "fail"), {
      onSuccess: (taken) => Effect.succeed(allowanceOf(taken)),
      onFailure: ({ reason }) =>
        reason._tag === "RateLimitExceeded" ? Effect.fail(Duration.toMillis(reason.retryAfter)) : Effect.succeed(undefined)
    })
  const look = (keyId: string, kind: Kind, limit: number | undefined) =>
    limit === undefined ? Effect.succeed(undefined) : adjust(keyId, kind, limit, 0)

  const refused = (keyId: string, kind: Kind, limit: number, rate: RateLimit, retryMillis: number) =>
    Effect.gen(function*() {
      const requests = yield* look(keyId, "requests", rate.requestsPerMinute)
      const tokens = yield* look(keyId, "tokens", rate.tokensPerMinute)
      return yield* new RateLimitReached({ kind, limit, retryMillis, requests, tokens })
    })
  return { adjust, take, refused }
}

const make = Effect.gen(function*() {
  const spending = yield* Spending
  const log = yield* UsageLog
  const { adjust, refused, take } = buckets(yield* RateLimiter.make)
  const budgets = yield* makeBudgets
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  const count = (kind: Kind | "budget") => registry.counter(metrics.rateLimited, { scope: "key", kind }).add(1)

  /** A refused request counts as one, so that who asks too often is not served for asking more. */
  const limitsOf = Effect.fnUntraced(function*(keyId: string, rate: RateLimit, tokens: number) {
    const failed = (kind: Kind, limit = 0) => (retryMillis: number) => {
      count(kind)
      return refused(keyId, kind, limit, rate, retryMillis)
    }
    const { requestsPerMinute: requests, tokensPerMinute } = rate
    return {
      requests: yield* Effect.catch(take(keyId, "requests", requests, 1), failed("requests", requests)),
      tokens: yield* Effect.catch(take(keyId, "tokens", tokensPerMinute, tokens), failed("tokens", tokensPerMinute))
    }
  })

  const admit: Admission["Service"]["admit"] = Effect.fnUntraced(function*({ budget, id, rateLimit }, estimate, hold) {
    const perMinute = rateLimit?.tokensPerMinute
    // A request that is larger than a minute allows waits for a whole minute's; the excess is paid by those behind it.
    const taken = perMinute === undefined ? 0 : Math.min(estimate.tokens, perMinute)
    const limits = rateLimit === undefined ? none : yield* limitsOf(id, rateLimit, taken)
    const settleTokens = (used: number): Effect.Effect<unknown> =>
      perMinute === undefined || used === taken ? Effect.void : adjust(id, "tokens", perMinute, used - taken)
    if (budget === undefined) {
      return hold({ limits, settle: (used) => used === undefined ? Effect.void : Effect.asVoid(settleTokens(used.tokens)) })
    }
    const { costMicros } = estimate
    yield* Effect.tapError(
      budgets.reserve(id, budget, costMicros, (settleCost) =>
        hold({
          limits,
          settle: (used) =>
            Effect.suspend(() => {
              settleCost(used?.costMicros ?? costMicros)
              return used === undefined ? Effect.void : Effect.asVoid(settleTokens(used.tokens))
            })
        })),
      (error) => {
        if (error._tag === "BudgetSpent") count("budget")
        return settleTokens(0)
      }
    )
  })

  const spent: Admission["Service"]["spent"] = Effect.fnUntraced(function*({ budget, id }) {
    const period = periodOf(budget?.per ?? "month", yield* Clock.currentTimeMillis)
    const lastUsedMillis = yield* log.lastUsed(id)
    if (budget !== undefined) {
      // The store knows of others what this process does not, and this process of itself what the store does not yet.
      const known = budgets.spent(id, period) ?? 0
      return { spentMicros: Math.max(known, yield* spending.spent(id, period)), lastUsedMillis }
    }
    const [sums] = yield* log.usage({ groupBy: [], from: `${period}-01`, key: id })
    return { spentMicros: sums?.costMicros ?? 0, lastUsedMillis }
  })
  return Admission.of({ admit, spent })
})
