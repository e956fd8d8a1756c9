// Tests the signature memory of one process and of several on one Redis: per key, for a limited time, within bounds.
// Must not depend on a translator.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { TestClock } from "effect/testing"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import { SignatureMemory } from "../../src/state/SignatureMemory.ts"
import { RedisPrefix } from "../../src/store/SharedRedis.ts"
import { firstProcess } from "../support/firstProcess.ts"
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

describe("the signature memory of one process", () => {
  it.effect("signature memory: holds at most its byte limit, counting each call once (TH37)", () =>
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
    }).pipe(Effect.provide(inProcess({ signatureBytes: 8, signatureTotalBytes: 10 + 2 * 256 })))
  )

  it.effect("signature memory: drops the oldest and the expired signatures (TH37)", () =>
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

  it.effect("signature memory: keeps the signatures of one key when another key stores many or large ones (TH20)", () =>
    Effect.gen(function* () {
      const memory = yield* SignatureMemory
      yield* memory.remember("quiet", "gemini/google", [{ callId: "1", signature: "s1" }])
      for (let at = 0; at < 50; at++)
        yield* memory.remember("many", "gemini/google", [{ callId: `${at}`, signature: "s" }])
      for (let at = 0; at < 50; at++)
        yield* memory.remember("large", "gemini/google", [{ callId: `${at}`, signature: "12345678" }])
      expect(yield* recalled("quiet", ["1"])).toEqual([["1", "gemini/google", "s1"]])
    }).pipe(Effect.provide(inProcess({ signatureBytes: 8, signatureEntries: 9, signatureTotalBytes: 30 + 9 * 256 })))
  )
})

/** The memory that stores, and the memory that is read. */
type Pair = readonly [writer: Memory, reader: Memory]
const one = (layer: Layer.Layer<SignatureMemory>): Effect.Effect<Pair> =>
  Effect.map(Effect.provide(SignatureMemory, layer), (memory) => [memory, memory])

const rules = <R>(pair: Effect.Effect<Pair, never, R>) =>
  Effect.gen(function* () {
    const [writer, reader] = yield* pair
    yield* writer.remember("a", "gemini/google", [
      { callId: "1", signature: "s1" },
      { callId: "big", signature: "123456789" }
    ])
    expect(yield* recalledBy(reader, "a", ["1", "big", "unknown"])).toEqual([["1", "gemini/google", "s1"]])
    expect(yield* recalledBy(reader, "b", ["1"])).toEqual([])
    yield* writer.remember("a", "claude/vertex-ai", [
      { callId: "1", signature: "a\nb" },
      { callId: "2", signature: "" }
    ])
    expect(yield* recalledBy(reader, "a", ["2", "1"])).toEqual([
      ["2", "claude/vertex-ai", ""],
      ["1", "claude/vertex-ai", "a\nb"]
    ])
    yield* writer.remember("a/b", "gemini/google", [{ callId: "c", signature: "other" }])
    expect(yield* recalledBy(reader, "a", ["b/c"])).toEqual([])
  })

describe("the signature memory keeps the latest signature per key and drops large ones", () => {
  it.effect("signature memory: in one process keeps the latest signature per key and drops large ones (TH37)", () =>
    rules(one(inProcess({ signatureBytes: 8 })))
  )

  it.live(
    "signature memory: in one process whose Redis is gone keeps the latest signature per key and drops large ones (TH37)",
    () => Effect.scoped(rules(one(inRedis("redis://127.0.0.1:1"))))
  )

  it.effect(
    "signature memory: in two workers of one first process keeps the latest signature per key and drops large ones (TH37)",
    () =>
      Effect.gen(function* () {
        const first = yield* firstProcess
        const built = (worker: number) =>
          Effect.flatMap(first.worker(worker), ({ state }) =>
            Effect.provide(SignatureMemory, Layer.fresh(SignatureMemory.layerShared).pipe(Layer.provide(state)))
          )
        yield* rules(Effect.all([built(1), built(2)]))
      }).pipe(Effect.provideService(Limits, { ...defaultLimits, signatureBytes: 8 }))
  )

  it.live.runIf(saidWithoutRedis("signatures in Redis"))(
    "signature memory: in two processes on one Redis keeps the latest signature per key, for its lifetime (TH37)",
    () =>
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
