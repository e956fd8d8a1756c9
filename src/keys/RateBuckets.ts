// Rate limits of keys as token buckets: each holds the burst of its limit and refills evenly.
// It must not know requests, or where the buckets are stored.
import type * as Effect from "effect/Effect"
import { defaultBurst, type GatewayKey } from "../domain/GatewayKey.ts"
import type { Allowance } from "../domain/LimitState.ts"
import { minuteMillis, type RateAsk, roundingMillis } from "../domain/RateCounts.ts"
import type { RateCounters } from "../store/RateCounters.ts"

export type LimitKind = "requests" | "tokens"

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
export interface KeyBuckets {
  readonly requests: RateBucket | undefined
  readonly tokens: RateBucket | undefined
}

/** Takes or returns tokens, whatever the bucket holds. */
export const adjust = (store: RateCounters["Service"], bucket: RateBucket, tokens: number): Effect.Effect<unknown> =>
  store.take([bucket.ask(tokens)], true)

/** The buckets of keys, cached per key record; undefined for a key without limits. */
export const rateBuckets = () => {
  const known = new WeakMap<GatewayKey, KeyBuckets>()
  return (key: GatewayKey): KeyBuckets | undefined => {
    const { id, rateLimit } = key
    if (rateLimit === undefined) return undefined
    const before = known.get(key)
    if (before !== undefined) return before
    const bucket = (kind: LimitKind, limit: number | undefined, burst: number | undefined) =>
      limit === undefined ? undefined : new RateBucket(id, kind, limit, burst ?? defaultBurst(limit))
    const made = {
      requests: bucket("requests", rateLimit.requestsPerMinute, rateLimit.requestsBurst),
      tokens: bucket("tokens", rateLimit.tokensPerMinute, rateLimit.tokensBurst)
    }
    known.set(key, made)
    return made
  }
}
