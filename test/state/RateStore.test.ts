// Tests the counters of rate limits in the process and in Redis: the same rules in both, and during a Redis outage.
// Must not depend on keys or on HTTP.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { RateStore } from "../../src/state/RateStore.ts"
import { firstProcess } from "../support/firstProcess.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const shared = RateStore.layerShared.pipe(Layer.provide(redisLayer()))
/** An address without a server. */
const orphaned = RateStore.layerShared.pipe(Layer.provide(redisLayer("redis://127.0.0.1:1")))
const stores: ReadonlyArray<readonly [name: string, layer: Layer.Layer<RateLimiter.RateLimiterStore>]> = [
  ["of the process", RateStore.layerMemory],
  ["of a Redis that is gone", orphaned],
  ...(saidWithoutRedis("rate limits in Redis") ? ([["in Redis", Layer.provide(shared, ownPrefix())]] as const) : [])
]

/** The remaining count of a limit of three, or that the limit is reached. */
const take = (key: string, tokens: number, algorithm: "fixed-window" | "token-bucket") =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.make
    return yield* limiter.consume({ key, tokens, limit: 3, window: "1 minute", algorithm }).pipe(
      Effect.map(({ remaining }) => remaining),
      Effect.catch(({ reason }) => Effect.succeed(reason._tag))
    )
  })

describe.each(stores)("rate counters %s", (_name, layer) => {
  it.effect.each(["fixed-window", "token-bucket"] as const)(
    "rate counters: allow the limit per key by a %s and refuse the rest",
    (algorithm) =>
      Effect.gen(function* () {
        expect([
          yield* take("a", 2, algorithm),
          yield* take("a", 2, algorithm),
          yield* take("a", 1, algorithm),
          yield* take("a", 1, algorithm)
        ]).toEqual([1, "RateLimitExceeded", 0, "RateLimitExceeded"])
        expect(yield* take("b", 3, algorithm)).toBe(0)
      }).pipe(Effect.provide(layer))
  )
})

describe("rate counters of two workers of one first process", () => {
  it.effect.each(["fixed-window", "token-bucket"] as const)(
    "rate counters: count the requests of both workers by a %s",
    (algorithm) =>
      Effect.gen(function* () {
        const first = yield* firstProcess
        const [one, other] = [yield* first.worker(1), yield* first.worker(2)].map(({ state }) =>
          Layer.fresh(RateStore.layerShared).pipe(Layer.provide(state))
        )
        if (one === undefined || other === undefined) return
        const taken = [one, other, one, other].map((store) => Effect.provide(take("a", 1, algorithm), store))
        expect(yield* Effect.all(taken)).toEqual([2, 1, 0, "RateLimitExceeded"])
      })
  )
})

describe.runIf(saidWithoutRedis("rate limits of two processes"))("rate counters of two processes on one Redis", () => {
  it.effect("rate counters: count the requests of both processes", () =>
    Effect.gen(function* () {
      const one = yield* Layer.build(Layer.fresh(shared))
      const other = yield* Layer.build(Layer.fresh(shared))
      const taken = [one, other, one, other].map((store) => Effect.provide(take("a", 1, "fixed-window"), store))
      expect(yield* Effect.all(taken)).toEqual([2, 1, 0, "RateLimitExceeded"])
    }).pipe(Effect.provide(ownPrefix()))
  )
})
