// Where the counts behind rate limits are kept: in this process, or in the Redis that several share.
// It must not know who is limited or how. What it forgets lets a few requests more pass.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Redis from "effect/persistence/Redis"
import { RedisPrefix } from "../store/SharedRedis.ts"

/** A limit holds for this process alone. */
const layerMemory: Layer.Layer<RateLimiter.RateLimiterStore> = RateLimiter.layerStoreMemory

/** A limit holds for all on one Redis, and for this process alone while that is gone. It never fails for want of a store. */
const layerShared: Layer.Layer<RateLimiter.RateLimiterStore, never, Redis.Redis> = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const own = yield* RateLimiter.RateLimiterStore
    const shared = yield* RateLimiter.makeStoreRedis({ prefix: `${yield* RedisPrefix}limit:` })
    const orElse = <A>(
      there: Effect.Effect<A, RateLimiter.RateLimiterError>,
      here: Effect.Effect<A, RateLimiter.RateLimiterError>
    ): Effect.Effect<A, RateLimiter.RateLimiterError> =>
      Effect.catch(there, (error) => (error.reason._tag === "RateLimitStoreError" ? here : Effect.fail(error)))
    return {
      fixedWindow: (options) => orElse(shared.fixedWindow(options), own.fixedWindow(options)),
      tokenBucket: (options) => orElse(shared.tokenBucket(options), own.tokenBucket(options)),
      adaptiveConsume: (options) => orElse(shared.adaptiveConsume(options), own.adaptiveConsume(options)),
      adaptiveFeedback: (options) => orElse(shared.adaptiveFeedback(options), own.adaptiveFeedback(options))
    }
  })
).pipe(Layer.provide(layerMemory))

export const RateStore = { layerMemory, layerShared }
