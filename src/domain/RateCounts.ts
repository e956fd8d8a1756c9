// The arithmetic of rate limits: each bucket is the time until it is full again; and the allowance that answers report.
// It must not know gateway keys, header names or the limits themselves. The caller has the clock.
import * as Schema from "effect/Schema"

/** What is taken from one bucket. Tokens are given as times, so that a bucket needs no rate of its own. */
export interface RateAsk {
  readonly key: string
  /** The time in which the bucket refills what is taken; a negative one returns it. */
  readonly costMillis: number
  /** The time in which an empty bucket fills. */
  readonly capacityMillis: number
}

export interface RateAnswer {
  /** The place of the first ask that was refused; -1 when none was. */
  readonly refusedAt: number
  /** The milliseconds until each bucket is full. More than its capacity is a debt. */
  readonly fullMillis: ReadonlyArray<number>
}

/** Limits count by the minute. */
export const minuteMillis = 60_000

/** Sums of fractions of milliseconds are off by less. */
export const roundingMillis = 1e-6

/** Buckets that are full again are dropped when there are so many, then at twice the number that is left. */
const leastSweep = 1024

/**
 * Buckets of this process. An ask passes when its bucket holds its cost, or is full where the cost exceeds the capacity;
 * the excess is a debt. Asks after a refused one take nothing. `isForced` takes without a look.
 */
export class RateCounts {
  private readonly buckets = new Map<string, { fullMillis: number; atMillis: number }>()
  private sweepAt = leastSweep

  take(asks: ReadonlyArray<RateAsk>, isForced: boolean, nowMillis: number): RateAnswer {
    let refusedAt = -1
    const fullMillis = asks.map(({ capacityMillis, costMillis, key }, place) => {
      const bucket = this.buckets.get(key)
      const full = bucket === undefined ? 0 : Math.max(0, bucket.fullMillis - Math.max(0, nowMillis - bucket.atMillis))
      if (refusedAt >= 0) return full
      if (!isForced && full + Math.min(costMillis, capacityMillis) > capacityMillis + roundingMillis) {
        refusedAt = place
        return full
      }
      if (costMillis === 0) return full
      const next = Math.max(0, full + costMillis)
      if (bucket === undefined) this.add(key, next, nowMillis)
      else {
        bucket.fullMillis = next
        // A clock that is set back does not refill the bucket twice.
        bucket.atMillis = Math.max(bucket.atMillis, nowMillis)
      }
      return next
    })
    return { refusedAt, fullMillis }
  }

  /** Sets a bucket to what another place has counted. */
  put(key: string, fullMillis: number, nowMillis: number): void {
    if (fullMillis <= 0) this.buckets.delete(key)
    else {
      const bucket = this.buckets.get(key)
      if (bucket === undefined) this.add(key, fullMillis, nowMillis)
      else {
        bucket.fullMillis = fullMillis
        bucket.atMillis = nowMillis
      }
    }
  }

  private add(key: string, fullMillis: number, atMillis: number): void {
    if (this.buckets.size >= this.sweepAt) {
      for (const [name, bucket] of this.buckets)
        if (bucket.atMillis + bucket.fullMillis <= atMillis) this.buckets.delete(name)
      this.sweepAt = Math.max(leastSweep, 2 * this.buckets.size)
    }
    this.buckets.set(key, { fullMillis, atMillis })
  }
}

// The remaining allowance of a key's rate limits, as reported in answers.

/** One limit: requests or tokens per minute, how many are left now, and the time until all are available again. */
export const Allowance = Schema.Struct({ limit: Schema.Number, remaining: Schema.Number, resetMillis: Schema.Number })
export type Allowance = typeof Allowance.Type

/** A limit that the key does not have is absent. */
export interface LimitState {
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
}
