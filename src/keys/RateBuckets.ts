// Rate limits of keys as token buckets: each holds the allowance of one minute and refills evenly.
// It must not know requests, or where the buckets are stored.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as RateLimiter from "effect/persistence/RateLimiter"
import type { GatewayKey } from "../domain/GatewayKey.ts"
import type { Allowance } from "../domain/LimitState.ts"

export type LimitKind = "requests" | "tokens"

type Store = RateLimiter.RateLimiterStore["Service"]

const minute = Duration.minutes(1)

/**
 * One limit of one key. It calls the store directly instead of Effect's `RateLimiter`, which computes in durations,
 * creates an error for each refusal, and so costs several times more. Without an answer of the store, requests pass,
 * and the allowance is undefined.
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
    // A changed limit gets a new bucket, because the content of a larger bucket would exceed the new limit.
    this.key = `${keyId}:${kind}:${limit}`
    this.refillRate = Duration.divideUnsafe(minute, limit)
    // The store counts in the same unit, with a resolution of one nanosecond.
    this.refillMillis = Duration.toMillis(this.refillRate)
  }

  /** Takes tokens, or fails with the milliseconds until they are available. */
  take(tokens: number): Effect.Effect<Allowance | undefined, number> {
    return Effect.matchEffect(this.asked(tokens, false), {
      onSuccess: ([left, elapsed]) =>
        left < 0 ? Effect.fail(this.untilThere(-left, elapsed)) : Effect.succeed(this.allowance(left, elapsed)),
      onFailure: () => Effect.succeed(undefined)
    })
  }

  /** Takes or returns tokens, even beyond the content of the bucket. */
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
      // Returned tokens may exceed the capacity of the bucket until the store refills it.
      remaining: Math.min(this.limit, Math.max(0, Math.floor(left))),
      resetMillis: Math.ceil(this.untilThere(this.limit - left, elapsedMillis))
    }
  }

  /** The bucket refills by whole tokens; `elapsedMillis` of the current one have passed. */
  private untilThere(tokens: number, elapsedMillis: number): number {
    return Math.max(0, Math.ceil(tokens) * this.refillMillis - elapsedMillis)
  }
}

/** A limit that the key does not have is absent. */
export interface KeyBuckets {
  readonly requests: RateBucket | undefined
  readonly tokens: RateBucket | undefined
}

/** The buckets of keys, cached per key record; undefined for a key without limits. */
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
