// The counters of rate limits: in this process, or in the state that several processes share.
// Must not know gateway keys or the limits themselves. Lost counters let a few more requests pass.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { SharedState } from "./SharedState.ts"

/** Counters of this process only. */
const layerMemory: Layer.Layer<RateLimiter.RateLimiterStore> = RateLimiter.layerStoreMemory

/** Counters shared by several processes; while the shared state does not answer, counters of this process. */
const layerShared: Layer.Layer<RateLimiter.RateLimiterStore, never, SharedState> = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const local = yield* RateLimiter.RateLimiterStore
    const { rates: shared } = yield* SharedState
    const orLocal = <A>(
      remote: Effect.Effect<A, RateLimiter.RateLimiterError>,
      fallback: Effect.Effect<A, RateLimiter.RateLimiterError>
    ): Effect.Effect<A, RateLimiter.RateLimiterError> =>
      Effect.catch(remote, (error) => (error.reason._tag === "RateLimitStoreError" ? fallback : Effect.fail(error)))
    return {
      fixedWindow: (options) => orLocal(shared.fixedWindow(options), local.fixedWindow(options)),
      tokenBucket: (options) => orLocal(shared.tokenBucket(options), local.tokenBucket(options)),
      adaptiveConsume: (options) => orLocal(shared.adaptiveConsume(options), local.adaptiveConsume(options)),
      adaptiveFeedback: (options) => orLocal(shared.adaptiveFeedback(options), local.adaptiveFeedback(options))
    }
  })
).pipe(Layer.provide(layerMemory))

export const RateStore = { layerMemory, layerShared }
