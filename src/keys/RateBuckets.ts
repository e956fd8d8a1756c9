// The rate limits of keys as buckets: each holds what a minute allows, and fills evenly.
// It must not know requests, or where the buckets are kept.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { Allowance } from "../domain/LimitState.ts"

export type LimitKind = "requests" | "tokens"

type Store = RateLimiter.RateLimiterStore["Service"]

const minute = Duration.minutes(1)

/**
 * One limit of one key. The store is asked past Effect's `RateLimiter`, which costs several times what it guards, for it
 * reckons in durations and makes an error for each refusal. Nobody is refused for want of a store: what it cannot tell is undefined.
 */
export class RateBucket {
  readonly limit: number
  private readonly store: Store
  private readonly key: string
  private readonly refillMillis: number
  private readonly refillRate: Duration.Duration

  constructor(store: Store, keyId: string, kind: LimitKind, limit: number) {
    this.store = store
    this.limit = limit
    // A limit that was changed has a bucket of its own: what is left of a larger one would pass by it.
    this.key = `${keyId}:${kind}:${limit}`
    this.refillRate = Duration.divideUnsafe(minute, limit)
    // As the store counts, which knows no less than a nanosecond.
    this.refillMillis = Duration.toMillis(this.refillRate)
  }

  /** Takes so much, or fails with the milliseconds until that will be there. */
  take(tokens: number): Effect.Effect<Allowance | undefined, number> {
    return Effect.matchEffect(this.asked(tokens, false), {
      onSuccess: ([left, elapsed]) =>
        left < 0 ? Effect.fail(this.untilThere(-left, elapsed)) : Effect.succeed(this.allowance(left, elapsed)),
      onFailure: () => Effect.succeed(undefined)
    })
  }

  /** Takes, or gives back, whatever is there. */
  adjust(tokens: number): Effect.Effect<Allowance | undefined> {
    return Effect.match(this.asked(tokens, true), {
      onSuccess: ([left, elapsed]) => this.allowance(left, elapsed),
      onFailure: () => undefined
    })
  }

  private asked(tokens: number, allowOverflow: boolean) {
    const { key, limit, refillRate } = this
    return this.store.tokenBucket({ key, tokens, limit, refillRate, allowOverflow })
  }

  private allowance(left: number, elapsedMillis: number): Allowance {
    return {
      limit: this.limit,
      // What comes back to a bucket that has filled meanwhile is more than it holds, until it is asked again.
      remaining: Math.min(this.limit, Math.max(0, Math.floor(left))),
      resetMillis: Math.ceil(this.untilThere(this.limit - left, elapsedMillis))
    }
  }

  /** The bucket fills by whole tokens; `elapsedMillis` of the present one are over. */
  private untilThere(tokens: number, elapsedMillis: number): number {
    return Math.max(0, Math.ceil(tokens) * this.refillMillis - elapsedMillis)
  }
}

/** A limit that the key does not have is absent. */
export interface KeyBuckets {
  readonly requests: RateBucket | undefined
  readonly tokens: RateBucket | undefined
}

/** The buckets of keys, made once for as long as a key stays as it is; undefined for a key without limits. */
export const rateBuckets = (store: Store) => {
  const known = new WeakMap<GatewayKey, KeyBuckets>()
  return (key: GatewayKey): KeyBuckets | undefined => {
    const { id, rateLimit } = key
    if (rateLimit === undefined) return undefined
    const before = known.get(key)
    if (before !== undefined) return before
    const bucket = (kind: LimitKind, limit: number | undefined) =>
      limit === undefined ? undefined : new RateBucket(store, id, kind, limit)
    const made = {
      requests: bucket("requests", rateLimit.requestsPerMinute),
      tokens: bucket("tokens", rateLimit.tokensPerMinute)
    }
    known.set(key, made)
    return made
  }
}
