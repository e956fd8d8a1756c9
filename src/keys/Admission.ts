// Whether a key may ask now: its rate limits and its budget. What a request may use is reserved before it runs and settled when it has ended.
// It must not know HTTP, models or prices. A key without limits is nobody's business here.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { type BudgetSpent, RateLimitReached, type StoreUnavailable } from "../domain/GatewayError.ts"
import { type GatewayKey, periodOf } from "../domain/GatewayKey.ts"
import type { Allowance, LimitState } from "../domain/LimitState.ts"
import { Spending } from "../store/Spending.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { makeBudgets } from "./Budgets.ts"
import { type KeyBuckets, type LimitKind, rateBuckets } from "./RateBuckets.ts"
import { UsageLog } from "./UsageLog.ts"

/** What a request will probably use. */
export interface Estimate {
  readonly tokens: number
  readonly costMicros: number
}

/** What a request has used. */
export interface Used extends Estimate {
  /** The counts are incomplete: the greater of them and the estimate is charged. */
  readonly isPart?: boolean
}

/** A request that may run. */
export interface Admitted {
  /** What is left of the limits of its key. */
  readonly limits: LimitState
  /** To be run once, when it has ended: with what it used, or undefined where nobody counted and the estimate stands. */
  readonly settle: (used: Used | undefined) => Effect.Effect<unknown>
}

export interface KeySpending {
  /** In the period of the key's budget; of a key without one, in this month. */
  readonly spentMicros: number
  /** When the last request ended that is still listed. */
  readonly lastUsedMillis: number | undefined
}

export class Admission extends Context.Service<
  Admission,
  {
    /**
     * Gives `hold` the admitted request in the moment it is admitted. A key whose budget or minute is used up is refused;
     * StoreUnavailable means that its budget cannot be told while the store is gone.
     */
    readonly admit: (
      key: GatewayKey,
      estimate: Estimate,
      hold: (admitted: Admitted) => void
    ) => Effect.Effect<void, RateLimitReached | BudgetSpent | StoreUnavailable>
    /** The same for a request without an upstream call: it counts as a request only, whatever is left of tokens and budget. */
    readonly admitUncalled: (
      key: GatewayKey,
      hold: (admitted: Admitted) => void
    ) => Effect.Effect<void, RateLimitReached>
    /** What a key has spent, by all gateways on the store, and when it was used last. */
    readonly spent: (key: GatewayKey) => Effect.Effect<KeySpending, StoreUnavailable>
  }
>()("gateway/keys/Admission") {
  static readonly layer: Layer.Layer<Admission, never, RateLimiter.RateLimiterStore | Spending | UsageLog> =
    Layer.effect(
      Admission,
      Effect.suspend(() => make)
    )
}

const none: LimitState = { requests: undefined, tokens: undefined }

/** Incomplete counts do not reduce a reserve. */
const chargeOf = ({ isPart }: Used, counted: number, reserved: number): number =>
  isPart === true ? Math.max(counted, reserved) : counted

const uncalled = (requests: Allowance | undefined): Admitted => ({
  limits: { requests, tokens: undefined },
  settle: () => Effect.void
})

const make = Effect.gen(function* () {
  const spending = yield* Spending
  const log = yield* UsageLog
  const bucketsOf = rateBuckets(yield* RateLimiter.RateLimiterStore)
  const budgets = yield* makeBudgets
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  const count = (kind: LimitKind | "budget") => registry.counter(metrics.rateLimited, { scope: "key", kind }).add(1)

  const refused = Effect.fnUntraced(function* (
    buckets: KeyBuckets,
    kind: LimitKind,
    limit: number,
    retryMillis: number
  ) {
    count(kind)
    const requests = yield* buckets.requests?.adjust(0) ?? Effect.undefined
    const tokens = yield* buckets.tokens?.adjust(0) ?? Effect.undefined
    return yield* new RateLimitReached({ kind, limit, retryMillis, requests, tokens })
  })
  const take = (
    buckets: KeyBuckets,
    kind: LimitKind,
    tokens: number
  ): Effect.Effect<Allowance | undefined, RateLimitReached> => {
    const bucket = buckets[kind]
    return bucket === undefined
      ? Effect.undefined
      : Effect.catch(bucket.take(tokens), (retryMillis) => refused(buckets, kind, bucket.limit, retryMillis))
  }
  /** A refused request counts as one, so that who asks too often is not served for asking more. */
  const limitsOf = (buckets: KeyBuckets, tokens: number): Effect.Effect<LimitState, RateLimitReached> =>
    Effect.flatMap(take(buckets, "requests", 1), (requests) =>
      Effect.map(take(buckets, "tokens", tokens), (tokens) => ({ requests, tokens }))
    )

  const admit: Admission["Service"]["admit"] = Effect.fnUntraced(function* (key, { costMicros, tokens }, hold) {
    const { budget } = key
    const buckets = bucketsOf(key)
    const perMinute = buckets?.tokens
    // A request that is larger than a minute allows waits for a whole minute's; the excess is paid by those behind it.
    const taken = perMinute === undefined ? 0 : Math.min(tokens, perMinute.limit)
    const limits = buckets === undefined ? none : yield* limitsOf(buckets, taken)
    const settleTokens = (used: number): Effect.Effect<unknown> =>
      perMinute === undefined || used === taken ? Effect.void : perMinute.adjust(used - taken)
    const settleUsed = (used: Used | undefined) =>
      used === undefined ? Effect.void : settleTokens(chargeOf(used, used.tokens, taken))
    if (budget === undefined) return hold({ limits, settle: settleUsed })
    let isHeld = false
    const reserved = budgets.reserve(key.id, budget, costMicros, (settleCost) => {
      isHeld = true
      hold({
        limits,
        settle: (used) =>
          Effect.suspend(() => {
            settleCost(used === undefined ? costMicros : chargeOf(used, used.costMicros, costMicros))
            return settleUsed(used)
          })
      })
    })
    const counted = Effect.tapError(reserved, ({ _tag }) =>
      Effect.sync(() => {
        if (_tag === "BudgetSpent") count("budget")
      })
    )
    // Whoever is refused, or leaves while the store is asked, has used no tokens.
    yield* Effect.ensuring(
      counted,
      Effect.suspend(() => (isHeld ? Effect.void : settleTokens(0)))
    )
  })

  const admitUncalled: Admission["Service"]["admitUncalled"] = (key, hold) => {
    const buckets = bucketsOf(key)
    return buckets === undefined
      ? Effect.void
      : Effect.map(take(buckets, "requests", 1), (requests) => hold(uncalled(requests)))
  }
  const spent: Admission["Service"]["spent"] = Effect.fnUntraced(function* ({ budget, id }) {
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
  return Admission.of({ admit, admitUncalled, spent })
})
