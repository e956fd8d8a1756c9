// What is remembered of tool calls: per key, for a while, within bounds; by one process or by several on one Redis.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { TestClock } from "effect/testing"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { SignatureMemory } from "../../src/state/SignatureMemory.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { ownPrefix, redisLayer, saidWithoutRedis } from "../support/redis.ts"

const limited = (limits: Partial<LimitValues>) => Layer.succeed(Limits, { ...defaultLimits, ...limits })
const inProcess = (limits: Partial<LimitValues>) => SignatureMemory.layerMemory.pipe(Layer.provide(limited(limits)))
const inRedis = (url?: string) =>
  SignatureMemory.layerShared.pipe(
    Layer.provide([redisLayer(url), limited({ signatureBytes: 8, signatureMillis: 60_000 })])
  )

type Memory = SignatureMemory["Service"]
const recalledBy = (memory: Memory, key: string, ids: ReadonlyArray<string>) =>
  Effect.map(memory.recall(key, ids), (known) =>
    [...known].map(([id, { issuer, signature }]) => [id, issuer, signature])
  )
const recalled = (key: string, ids: ReadonlyArray<string>) =>
  Effect.flatMap(SignatureMemory, (memory) => recalledBy(memory, key, ids))

describe("in one process", () => {
  it.effect("TH37 holds no more bytes than it may, counting each call once", () =>
    Effect.gen(function* () {
      const memory = yield* SignatureMemory
      const remember = (callId: string, signature: string) =>
        memory.remember("a", "claude/vertex-ai", [{ callId, signature }])
      yield* remember("1", "12345678")
      yield* remember("1", "12345")
      yield* remember("2", "12345")
      expect(yield* recalled("a", ["1", "2"])).toEqual([
        ["1", "claude/vertex-ai", "12345"],
        ["2", "claude/vertex-ai", "12345"]
      ])
      yield* remember("3", "1")
      expect(yield* recalled("a", ["1", "2", "3"])).toEqual([
        ["2", "claude/vertex-ai", "12345"],
        ["3", "claude/vertex-ai", "1"]
      ])
    }).pipe(Effect.provide(inProcess({ signatureBytes: 8, signatureTotalBytes: 10 })))
  )

  it.effect("TH37 forgets the oldest and the expired", () =>
    Effect.gen(function* () {
      const memory = yield* SignatureMemory
      for (const callId of ["1", "2", "3"])
        yield* memory.remember("a", "gemini/google", [{ callId, signature: `s${callId}` }])
      expect(yield* recalled("a", ["1", "2", "3"])).toEqual([
        ["2", "gemini/google", "s2"],
        ["3", "gemini/google", "s3"]
      ])
      yield* TestClock.adjust("1 second")
      expect(yield* recalled("a", ["2", "3"])).toEqual([])
    }).pipe(Effect.provide(inProcess({ signatureEntries: 2, signatureMillis: 1_000 })))
  )

  it.effect("calls of one key do not drive out those of another, be they many or large (TH20)", () =>
    Effect.gen(function* () {
      const memory = yield* SignatureMemory
      yield* memory.remember("quiet", "gemini/google", [{ callId: "1", signature: "s1" }])
      for (let at = 0; at < 50; at++)
        yield* memory.remember("many", "gemini/google", [{ callId: `${at}`, signature: "s" }])
      for (let at = 0; at < 50; at++)
        yield* memory.remember("large", "gemini/google", [{ callId: `${at}`, signature: "12345678" }])
      expect(yield* recalled("quiet", ["1"])).toEqual([["1", "gemini/google", "s1"]])
    }).pipe(Effect.provide(inProcess({ signatureBytes: 8, signatureEntries: 9, signatureTotalBytes: 30 })))
  )
})

/** The memory that is told, and the one that is asked. */
type Pair = readonly [told: Memory, asked: Memory]
const one = (layer: Layer.Layer<SignatureMemory>): Effect.Effect<Pair> =>
  Effect.map(Effect.provide(SignatureMemory, layer), (memory) => [memory, memory])

const rules = <R>(pair: Effect.Effect<Pair, never, R>) =>
  Effect.gen(function* () {
    const [told, asked] = yield* pair
    yield* told.remember("a", "gemini/google", [
      { callId: "1", signature: "s1" },
      { callId: "big", signature: "123456789" }
    ])
    expect(yield* recalledBy(asked, "a", ["1", "big", "unknown"])).toEqual([["1", "gemini/google", "s1"]])
    expect(yield* recalledBy(asked, "b", ["1"])).toEqual([])
    yield* told.remember("a", "claude/vertex-ai", [
      { callId: "1", signature: "a\nb" },
      { callId: "2", signature: "" }
    ])
    expect(yield* recalledBy(asked, "a", ["2", "1"])).toEqual([
      ["2", "claude/vertex-ai", ""],
      ["1", "claude/vertex-ai", "a\nb"]
    ])
    yield* told.remember("a/b", "gemini/google", [{ callId: "c", signature: "other" }])
    expect(yield* recalledBy(asked, "a", ["b/c"])).toEqual([])
  })

describe("TH37 remembers per key, the latest, and nothing large", () => {
  it.effect("in one process", () => rules(one(inProcess({ signatureBytes: 8 }))))

  it.live("in one process whose Redis is gone", () => Effect.scoped(rules(one(inRedis("redis://127.0.0.1:1")))))

  it.live.runIf(saidWithoutRedis("signatures in Redis"))("in two processes on one Redis, for as long as it may", () =>
    Effect.gen(function* () {
      const built = Effect.map(Layer.build(Layer.fresh(inRedis())), (context) =>
        Effect.provide(SignatureMemory, context)
      )
      const pair = Effect.all([Effect.flatten(built), Effect.flatten(built)])
      yield* rules(pair)
      const redis = yield* Effect.provide(Redis.Redis, yield* Layer.build(redisLayer()))
      const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", `${yield* RedisPrefix}signature:*`)
      const lives = yield* Effect.forEach(keys, (key) => redis.send<number>("PTTL", key))
      expect(lives.map((life) => life > 0 && life <= 60_000)).toEqual([true, true, true])
    }).pipe(Effect.provide(ownPrefix()))
  )
})
