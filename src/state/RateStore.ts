// The counters of rate limits: in this process, or in the state that several processes share.
// Must not know gateway keys or the limits themselves. Lost counters let a few more requests pass.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateCounters } from "../store/RateCounters.ts"
import { SharedState } from "./SharedState.ts"

/** Counters of this process only. */
const { layerMemory } = RateCounters

/** Counters shared by several processes; while the shared state does not answer, counters of this process. */
const layerShared: Layer.Layer<RateCounters, never, SharedState> = Layer.effect(
  RateCounters,
  Effect.gen(function* () {
    const local = yield* RateCounters
    const { takeRates } = yield* SharedState
    return {
      take: (asks, isForced) => Effect.catch(takeRates(asks, isForced), () => local.take(asks, isForced))
    }
  })
).pipe(Layer.provide(layerMemory))

export const RateStore = { layerMemory, layerShared }
