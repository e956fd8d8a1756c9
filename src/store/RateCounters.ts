// The counters of rate limits as a service: buckets from which requests take, here those of this process.
// Must not know gateway keys or the limits themselves.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { monotonicMillis } from "../domain/usage/monotonicMillis.ts"
import { type RateAnswer, type RateAsk, RateCounts } from "../domain/usage/RateCounts.ts"

export class RateCounters extends Context.Service<
  RateCounters,
  {
    /**
     * Takes from several buckets together, in their order, until one of them refuses. `isForced` takes or returns
     * whatever the buckets hold.
     */
    readonly take: (asks: ReadonlyArray<RateAsk>, isForced: boolean) => Effect.Effect<RateAnswer>
  }
>()("gateway/domain/RateCounters") {
  /** Buckets of this process only. */
  static readonly layerMemory: Layer.Layer<RateCounters> = Layer.sync(RateCounters, () => {
    const counts = new RateCounts()
    return {
      take: (asks, isForced) =>
        Effect.clockWith((clock) => Effect.sync(() => counts.take(asks, isForced, monotonicMillis(clock))))
    }
  })
}
