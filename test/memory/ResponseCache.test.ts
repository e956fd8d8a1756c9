// The cache of answers: what it keeps, how long, and what leaves first.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { ResponseCache } from "../../src/memory/ResponseCache.ts"

const layer = (limits: Partial<LimitValues> = {}) =>
  ResponseCache.layerMemory.pipe(Layer.provide(Layer.succeed(Limits, { ...defaultLimits, ...limits })))
const second = 1_000

describe("a cached answer", () => {
  it.effect("is given while it is young enough for who asks, and no longer than it was kept for", () =>
    Effect.gen(function*() {
      const { get, set } = yield* ResponseCache
      yield* set("a", "text", 60 * second)
      yield* TestClock.adjust("10 seconds")
      expect([yield* get("a", 11 * second), yield* get("a", 10 * second), yield* get("b", 11 * second)]).toEqual(["text", undefined, undefined])
      yield* TestClock.adjust("49 seconds")
      expect(yield* get("a", 3_600 * second)).toBe("text")
      yield* TestClock.adjust("1 second")
      expect(yield* get("a", 3_600 * second)).toBe(undefined)
    }).pipe(Effect.provide(layer())))
  it.effect("leaves for a newer one under its key", () =>
    Effect.gen(function*() {
      const { get, set } = yield* ResponseCache
      yield* set("a", "old", second)
      yield* set("a", "new", 2 * second)
      yield* TestClock.adjust(second)
      expect(yield* get("a", 9 * second)).toBe("new")
    }).pipe(Effect.provide(layer())))
  it.effect("leaves when there are too many, that first which was not asked for the longest", () =>
    Effect.gen(function*() {
      const { get, set } = yield* ResponseCache
      for (const key of ["a", "b"]) yield* set(key, key, second)
      yield* get("a", second)
      yield* set("c", "c", second)
      expect([yield* get("a", second), yield* get("b", second), yield* get("c", second)]).toEqual(["a", undefined, "c"])
    }).pipe(Effect.provide(layer({ cacheEntries: 2 }))))
  it.effect("leaves when all are too large together, and is not kept when it is too large alone", () =>
    Effect.gen(function*() {
      const { get, set } = yield* ResponseCache
      const large = "x".repeat(1_000)
      for (const key of ["a", "b"]) yield* set(key, large, second)
      yield* set("c", "x".repeat(2_000), second)
      expect([yield* get("a", second), yield* get("b", second), yield* get("c", second)]).toEqual([undefined, large, undefined])
    }).pipe(Effect.provide(layer({ cacheBytes: 4_000, cacheEntryBytes: 3_000 }))))
  it.effect("has a key of all parts, however they are cut", () =>
    Effect.gen(function*() {
      const { keyOf } = yield* ResponseCache
      const keys = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["a", "b", "c"]].map(keyOf)
      expect(new Set(keys).size).toBe(5)
      expect(keyOf([Buffer.from("é"), "c"])).toBe(keyOf(["é", "c"]))
    }).pipe(Effect.provide(layer())))
})
