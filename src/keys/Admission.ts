// Admission of requests by gateway key: reserves rate limit and budget before a request, settles them after it.
// It must not know HTTP, models or prices. Keys without limits are admitted without a reservation.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type BudgetSpent, RateLimitReached, type StoreUnavailable } from "../domain/GatewayError.ts"
import { defaultBurst, type GatewayKey, periodOf } from "../domain/GatewayKey.ts"
import { type Allowance, type LimitState, minuteMillis, type RateAsk, roundingMillis } from "../domain/RateCounts.ts"
import { RateCounters, Spending } from "../store/Spending.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { type Budgets, makeBudgets } from "./Budgets.ts"
import { UsageLog } from "./UsageLog.ts"

/** The usage of a request. */
interface Amount {
  readonly tokens: number
  readonly costMicros: number
}

/** The expected usage of a request: `tokens` are those of its prompt. */
export interface Estimate extends Amount {
  readonly outputTokens?: number
}

/** The actual usage of a request. */
export interface ActualUsage extends Amount {
  /** The counts are incomplete, so the larger of them and the estimate is charged. */
  readonly isPart?: boolean
}

/** An admitted request. */
export interface Admitted {
  readonly estimate: Estimate
  /** The remaining limits of the key. */
  readonly limits: LimitState
  /** To be run once, after the request has ended: with its usage, or undefined when the estimate stays charged. */
  readonly settle: (used: ActualUsage | undefined) => Effect.Effect<unknown>
}

export interface KeySpending {
  /** Spending in the period of the key's budget; without a budget, in this month. */
  readonly spentMicros: number
  /** The end of the key's latest request that is still listed. */
  readonly lastUsedMillis: number | undefined
}

export class Admission extends Context.Service<
  Admission,
  {
    /**
     * Calls `hold` in the moment of admission. The effect fails when the key's rate limit or budget is exhausted. It
     * fails with StoreUnavailable when the budget is unknown because the store is unreachable.
     */
    readonly admit: (
      key: GatewayKey,
      estimate: Estimate,
      hold: (admitted: Admitted) => void
    ) => Effect.Effect<void, RateLimitReached | BudgetSpent | StoreUnavailable>
    /**
     * Reserves more of the budget of an admitted request, for a further call of its answer. `hold` receives the end of
     * the reservation, to be run when the request is settled: the request pays for all its calls together.
     */
    readonly admitMore: (
      key: GatewayKey,
      costMicros: number,
      hold: (release: Effect.Effect<void>) => void
    ) => Effect.Effect<void, BudgetSpent | StoreUnavailable>
    /** The same for a request without an upstream call: it counts against the request limit only. */
    readonly admitUncalled: (
      key: GatewayKey,
      hold: (admitted: Admitted) => void
    ) => Effect.Effect<void, RateLimitReached>
    /** The key's spending across all gateways on the store, and the end of its latest request. */
    readonly spent: (key: GatewayKey) => Effect.Effect<KeySpending, StoreUnavailable>
  }
>()("gateway/keys/Admission") {
  static readonly layer: Layer.Layer<Admission, never, RateCounters | Spending | UsageLog> = Layer.effect(
    Admission,
    Effect.suspend(() => make)
  )

  /** Limits of this process alone; they end with it. */
  static readonly layerMemory: Layer.Layer<Admission> = Layer.suspend(() => Admission.layer).pipe(
    Layer.provide([RateCounters.layerMemory, Spending.layerMemory, UsageLog.layerMemory])
  )
}

const none: LimitState = { requests: undefined, tokens: undefined }

/** Incomplete counts never reduce a reservation. */
const chargeOf = ({ isPart }: ActualUsage, counted: number, reserved: number): number =>
  isPart === true ? Math.max(counted, reserved) : counted

const nothingEstimated: Estimate = { tokens: 0, costMicros: 0 }

const uncalled = (requests: Allowance | undefined): Admitted => ({
  estimate: nothingEstimated,
  limits: { requests, tokens: undefined },
  settle: () => Effect.void
})

type RateLimitCounter = (kind: LimitKind | "budget") => void

/**
 * Takes from the buckets of a key together, in one round trip to shared ones. A refusal for its tokens counts as a
 * request, so that frequent retries are not rewarded.
 */
const bucketTaker =
  (store: RateCounters["Service"], count: RateLimitCounter) =>
  ({ requests, tokens: tokenBucket }: KeyBuckets, tokens: number): Effect.Effect<LimitState, RateLimitReached> => {
    const taken: Array<readonly [bucket: RateBucket, tokens: number]> = []
    if (requests !== undefined) taken.push([requests, 1])
    if (tokenBucket !== undefined) taken.push([tokenBucket, tokens])
    const asks = taken.map(([bucket, most]) => bucket.ask(most))
    return Effect.flatMap(store.take(asks, false), ({ fullMillis, refusedAt }) => {
      const limits: { -readonly [Kind in LimitKind]: Allowance | undefined } = {
        requests: undefined,
        tokens: undefined
      }
      for (const [place, [bucket]] of taken.entries()) limits[bucket.kind] = bucket.allowance(fullMillis[place] ?? 0)
      const refused = taken[refusedAt]
      if (refused === undefined) return Effect.succeed(limits)
      const [{ kind, limit }, wanted] = refused
      count(kind)
      const retryMillis = refused[0].waitMillis(fullMillis[refusedAt] ?? 0, wanted)
      return Effect.fail(new RateLimitReached({ kind, limit, retryMillis, ...limits }))
    })
  }

/** The spending of a key: with a budget from the lease and the store, else from the usage sums. */
const spendingReader = (
  budgets: Budgets,
  spending: Spending["Service"],
  log: UsageLog["Service"]
): Admission["Service"]["spent"] =>
  Effect.fnUntraced(function* ({ budget, id }) {
    const period = periodOf(budget?.per ?? "month", yield* Clock.currentTimeMillis)
    const lastUsedMillis = yield* log.lastUsed(id)
    if (budget !== undefined) {
      // Either count can be ahead: the store includes other processes, this process includes unreported spending.
      const known = budgets.spent(id, period) ?? 0
      return { spentMicros: Math.max(known, yield* spending.spent(id, period)), lastUsedMillis }
    }
    const {
      groups: [sums]
    } = yield* log.usage({ groupBy: [], from: `${period}-01`, where: [["key", id]], limit: 1 })
    return { spentMicros: sums?.costMicros ?? 0, lastUsedMillis }
  })

const make = Effect.gen(function* () {
  const spending = yield* Spending
  const log = yield* UsageLog
  const rates = yield* RateCounters
  const bucketsOf = rateBuckets()
  const budgets = yield* makeBudgets
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  const count = (kind: LimitKind | "budget") => registry.counter(metrics.rateLimited, { scope: "key", kind }).add(1)
  const take = bucketTaker(rates, count)

  const admit: Admission["Service"]["admit"] = Effect.fnUntraced(function* (key, estimate, hold) {
    const { costMicros, tokens } = estimate
    const { budget } = key
    const buckets = bucketsOf(key)
    const perMinute = buckets?.tokens
    // A request above the tokens of a minute takes a full minute's allowance. The excess is charged when the request
    // ends, which delays later requests.
    const taken = perMinute === undefined ? 0 : Math.min(tokens, perMinute.most)
    const limits = buckets === undefined ? none : yield* take(buckets, taken)
    const settleTokens = (used: number): Effect.Effect<unknown> =>
      perMinute === undefined || used === taken ? Effect.void : adjust(rates, perMinute, used - taken)
    const settleUsed = (used: ActualUsage | undefined) =>
      used === undefined ? Effect.void : settleTokens(chargeOf(used, used.tokens, taken))
    if (budget === undefined) return hold({ estimate, limits, settle: settleUsed })
    let isHeld = false
    const reserved = budgets.reserve(key.id, budget, costMicros, (settleCost) => {
      isHeld = true
      hold({
        estimate,
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
    // A request that is refused, or interrupted during the store query, has used no tokens.
    yield* Effect.ensuring(
      counted,
      Effect.suspend(() => (isHeld ? Effect.void : settleTokens(0)))
    )
  })

  const admitMore: Admission["Service"]["admitMore"] = ({ budget, id }, costMicros, hold) =>
    budget === undefined
      ? Effect.void
      : Effect.tapError(
          budgets.reserve(id, budget, costMicros, (settleCost) => hold(Effect.sync(() => settleCost(0)))),
          ({ _tag }) =>
            Effect.sync(() => {
              if (_tag === "BudgetSpent") count("budget")
            })
        )

  const admitUncalled: Admission["Service"]["admitUncalled"] = (key, hold) => {
    const buckets = bucketsOf(key)
    return buckets === undefined
      ? Effect.void
      : Effect.map(take({ requests: buckets.requests, tokens: undefined }, 0), ({ requests }) =>
          hold(uncalled(requests))
        )
  }
  return Admission.of({ admit, admitMore, admitUncalled, spent: spendingReader(budgets, spending, log) })
})

// Rate limits of keys as token buckets: each holds the burst of its limit and refills evenly.

type LimitKind = "requests" | "tokens"

/** One limit of one key. Any minute's count is at most the limit and the burst together. */
export class RateBucket {
  readonly kind: LimitKind
  readonly limit: number
  private readonly burst: number
  private readonly key: string
  private readonly refillMillis: number
  private readonly capacityMillis: number

  constructor(keyId: string, kind: LimitKind, limit: number, burst: number) {
    this.kind = kind
    this.limit = limit
    this.burst = burst
    // A changed limit gets a new bucket, because the content of a larger bucket would exceed the new limit.
    this.key = `${keyId}:${kind}:${limit}:${burst}`
    this.refillMillis = minuteMillis / limit
    this.capacityMillis = burst * this.refillMillis
  }

  /** The most that one request reserves. What it needs beyond that delays later requests once it is counted. */
  get most(): number {
    return Math.max(this.limit, this.burst)
  }

  ask(tokens: number): RateAsk {
    return { key: this.key, costMillis: tokens * this.refillMillis, capacityMillis: this.capacityMillis }
  }

  /** What is left of a bucket that is full in `fullMillis`. */
  allowance(fullMillis: number): Allowance {
    return {
      limit: this.limit,
      remaining: Math.max(0, Math.floor((this.capacityMillis - fullMillis + roundingMillis) / this.refillMillis)),
      resetMillis: Math.max(0, Math.ceil(fullMillis - roundingMillis))
    }
  }

  /** The milliseconds until the bucket gives these tokens. */
  waitMillis(fullMillis: number, tokens: number): number {
    const { capacityMillis, refillMillis } = this
    return Math.max(
      0,
      Math.ceil(fullMillis + Math.min(tokens * refillMillis, capacityMillis) - capacityMillis - roundingMillis)
    )
  }
}

/** A limit that the key does not have is absent. */
interface KeyBuckets {
  readonly requests: RateBucket | undefined
  readonly tokens: RateBucket | undefined
}

/** Takes or returns tokens, whatever the bucket holds. */
const adjust = (store: RateCounters["Service"], bucket: RateBucket, tokens: number): Effect.Effect<unknown> =>
  store.take([bucket.ask(tokens)], true)

/** The buckets of keys, cached per key record; undefined for a key without limits. */
const rateBuckets = () => {
  const known = new WeakMap<GatewayKey, KeyBuckets>()
  return (key: GatewayKey): KeyBuckets | undefined => {
    const { id, rate_limit: rateLimit } = key
    if (rateLimit === undefined) return undefined
    const before = known.get(key)
    if (before !== undefined) return before
    const bucket = (kind: LimitKind, limit: number | undefined, burst: number | undefined) =>
      limit === undefined ? undefined : new RateBucket(id, kind, limit, burst ?? defaultBurst(limit))
    const made = {
      requests: bucket("requests", rateLimit.requests_per_minute, rateLimit.requests_burst),
      tokens: bucket("tokens", rateLimit.tokens_per_minute, rateLimit.tokens_burst)
    }
    known.set(key, made)
    return made
  }
}
