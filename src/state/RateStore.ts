// The counters of rate limits: in this process, or in the state that several processes share.
// Must not know gateway keys or the limits themselves. Lost counters let a few more requests pass.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { monotonicMillis } from "../domain/usage/monotonicMillis.ts"
import { RateCounts } from "../domain/usage/RateCounts.ts"
import { RateCounters } from "../store/RateCounters.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { SharedState } from "./SharedState.ts"

/** Counters of this process only. */
const { layerMemory } = RateCounters

/**
 * Counters shared by several processes; while the shared state does not answer, counters of this process, which begin with
 * the last answer of the shared state. So an answer that is late once opens no full bucket.
 */
const layerShared: Layer.Layer<RateCounters, never, SharedState> = Layer.effect(
  RateCounters,
  Effect.gen(function* () {
    const { takeRates } = yield* SharedState
    const counts = new RateCounts()
    const alone = SeriesRegistry.of(yield* Effect.context<never>()).counter(metrics.rateFallbacks, {})
    return {
      take: (asks, isForced) =>
        Effect.clockWith((clock) =>
          Effect.match(takeRates(asks, isForced), {
            onSuccess: (answer) => {
              const now = monotonicMillis(clock)
              for (const [at, { key }] of asks.entries()) counts.put(key, answer.fullMillis[at] ?? 0, now)
              return answer
            },
            onFailure: () => {
              alone.add(1)
              return counts.take(asks, isForced, monotonicMillis(clock))
            }
          })
        )
    }
  })
)

export const RateStore = { layerMemory, layerShared }
