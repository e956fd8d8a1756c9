// Tests the response cache of one process and of several on one Redis: entries, lifetimes and eviction.
// Must not depend on the content of responses.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { ResponseCache } from "../../src/state/ResponseCache.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { firstProcess } from "../support/firstProcess.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const layer = (limits: Partial<LimitValues> = {}) =>
  ResponseCache.layerMemory.pipe(Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...limits })))
const second = 1_000

const shared = (url?: string, limits: Partial<LimitValues> = {}) =>
  ResponseCache.layerShared.pipe(
    Layer.provide([redisLayer(url), Layer.succeed(Limits, { ...defaultLimits, ...limits })])
  )

type Cache = ResponseCache["Service"]
/** The writer and the reader are one process, or two. */
const rules: ReadonlyArray<readonly [name: string, test: (one: Cache, other: Cache) => Effect.Effect<void>]> = [
  [
    "is returned while it is younger than the reader's maximum age and its own lifetime",
    ({ set }, { get }) =>
      Effect.gen(function* () {
        yield* set("a", "text\n\u0000\u00ff€", 60 * second, "k")
        yield* TestClock.adjust("10 seconds")
        expect([yield* get("a", 11 * second), yield* get("a", 10 * second), yield* get("b", 11 * second)]).toEqual([
          "text\n\u0000\u00ff€",
          undefined,
          undefined
        ])
        yield* TestClock.adjust("49 seconds")
        expect(yield* get("a", 3_600 * second)).toBe("text\n\u0000\u00ff€")
        yield* TestClock.adjust("1 second")
        expect(yield* get("a", 3_600 * second)).toBe(undefined)
      })
  ],
  [
    "is replaced by a newer one under its key, from either process",
    (one, other) =>
      Effect.gen(function* () {
        yield* one.set("a", "old", 60 * second, "k")
        yield* other.set("a", "new", 120 * second, "k")
        yield* TestClock.adjust(60 * second)
        expect([yield* one.get("a", 3_600 * second), yield* other.get("a", 3_600 * second)]).toEqual(["new", "new"])
      })
  ],
  [
    "is not kept when it is too large",
    (one, other) =>
      Effect.gen(function* () {
        yield* one.set("a", "x".repeat(2_000), 60 * second, "k")
        expect([yield* one.get("a", second), yield* other.get("a", second), one.longest]).toEqual([
          undefined,
          undefined,
          3_000
        ])
      })
  ]
]

describe.each(rules)("a cached response %s", (_name, test) => {
  it.effect("cached response of one process: follows the rule", () =>
    Effect.flatMap(ResponseCache, (one) => test(one, one)).pipe(Effect.provide(layer({ cacheEntryBytes: 3_000 })))
  )
  it.effect("cached response of one process whose Redis is gone: follows the rule", () =>
    Effect.flatMap(ResponseCache, (one) => test(one, one)).pipe(
      Effect.provide(shared("redis://127.0.0.1:1", { cacheEntryBytes: 3_000 }))
    )
  )
  it.effect("cached response of two workers of one first process: follows the rule", () =>
    Effect.gen(function* () {
      const first = yield* firstProcess
      const built = (worker: number) =>
        Effect.flatMap(first.worker(worker), ({ state }) =>
          Effect.provide(ResponseCache, Layer.fresh(ResponseCache.layerShared).pipe(Layer.provide(state)))
        )
      yield* test(yield* built(1), yield* built(2))
    }).pipe(Effect.provideService(Limits, { ...defaultLimits, cacheEntryBytes: 3_000 }))
  )
  it.effect.runIf(saidWithoutRedis("cached answers in Redis"))(
    "cached response of two processes on one Redis: follows the rule",
    () =>
      Effect.gen(function* () {
        const built = Effect.flatMap(
          Layer.build(Layer.fresh(shared(undefined, { cacheEntryBytes: 3_000 }))),
          (context) => Effect.provide(ResponseCache, context)
        )
        yield* test(yield* built, yield* built)
      }).pipe(Effect.provide(ownPrefix()))
  )
})

describe.runIf(saidWithoutRedis("cached answers when Redis forgets"))("a cached response that Redis dropped", () => {
  it.effect(
    "cached response dropped by Redis: the storing process serves it; malformed entries are misses, and each entry expires",
    () =>
      Effect.gen(function* () {
        const { get, set } = yield* ResponseCache
        const redis = yield* Effect.provide(Redis.Redis, yield* Layer.build(redisLayer()))
        const keys = Effect.flatMap(RedisPrefix, (prefix) =>
          redis.send<ReadonlyArray<string>>("KEYS", `${prefix}cache:*`)
        )
        yield* set("a", "text", 60 * second, "k")
        const [key = ""] = yield* keys
        const life = yield* redis.send<number>("PTTL", key)
        expect([life > 0, life <= 60 * second]).toEqual([true, true])
        yield* redis.send("DEL", key)
        expect(yield* get("a", 60 * second)).toBe("text")
        yield* redis.send("SET", key, "something else")
        expect(yield* get("a", 60 * second)).toBe("text")
      }).pipe(Effect.provide(shared()), Effect.provide(ownPrefix()))
  )
})

describe("a cached response", () => {
  it.effect("cached responses: live as long as set when the wall clock is set back (F34)", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(3_600 * second)
      const { get, set } = yield* ResponseCache
      yield* set("a", "text", 5 * second, "k")
      yield* TestClock.adjust(4 * second)
      yield* TestClock.setTime(0)
      expect([yield* get("a", 60 * second), yield* get("a", 4 * second)]).toEqual(["text", undefined])
      yield* TestClock.adjust(1 * second)
      expect(yield* get("a", 60 * second)).toBe(undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("cached responses: are evicted beyond the entry limit, the least recently used first", () =>
    Effect.gen(function* () {
      const { get, set } = yield* ResponseCache
      for (const key of ["a", "b"]) yield* set(key, key, second, "k")
      yield* get("a", second)
      yield* set("c", "c", second, "k")
      expect([yield* get("a", second), yield* get("b", second), yield* get("c", second)]).toEqual(["a", undefined, "c"])
    }).pipe(Effect.provide(layer({ cacheEntries: 2 })))
  )
  it.effect("cached responses: are evicted beyond the total size, and one that is too large alone is not stored", () =>
    Effect.gen(function* () {
      const { get, set } = yield* ResponseCache
      const large = "x".repeat(1_000)
      for (const key of ["a", "b"]) yield* set(key, large, second, "k")
      yield* set("c", "x".repeat(2_000), second, "k")
      expect([yield* get("a", second), yield* get("b", second), yield* get("c", second)]).toEqual([
        undefined,
        large,
        undefined
      ])
    }).pipe(Effect.provide(layer({ cacheBytes: 4_000, cacheEntryBytes: 3_000 })))
  )
  it.effect("cached responses: of one gateway key stay when another key stores many or large ones (TH20)", () =>
    Effect.gen(function* () {
      const { get, set } = yield* ResponseCache
      yield* set("a", "a", second, "quiet")
      for (let at = 0; at < 50; at++) yield* set(`many ${at}`, "b", second, "many")
      for (let at = 0; at < 50; at++) yield* set(`large ${at}`, "x".repeat(1_000), second, "large")
      expect(yield* get("a", second)).toBe("a")
    }).pipe(Effect.provide(layer({ cacheEntries: 9, cacheBytes: 8_000 })))
  )
  it.effect("cached responses: have a key that depends on all parts and on their boundaries", () =>
    Effect.gen(function* () {
      const { keyOf } = yield* ResponseCache
      const keys = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["a", "b", "c"]].map(keyOf)
      expect(new Set(keys).size).toBe(5)
      expect(keyOf([Buffer.from("é"), "c"])).toBe(keyOf(["é", "c"]))
    }).pipe(Effect.provide(layer()))
  )
})
