import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { SignatureMemory } from "../../src/memory/SignatureMemory.ts"

const layer = SignatureMemory.layerMemory.pipe(
  Layer.provide(Layer.succeed(Limits, { ...defaultLimits, signatureEntries: 2, signatureBytes: 8, signatureMillis: 1_000 }))
)
const recalled = (key: string, ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const memory = yield* SignatureMemory
    return [...(yield* memory.recall(key, ids))].map(([id, { issuer, signature }]) => [id, issuer, signature])
  })

it.effect("TH37 holds no more bytes than it may, counting each call once", () =>
  Effect.gen(function*() {
    const memory = yield* SignatureMemory
    const remember = (callId: string, signature: string) => memory.remember("a", "claude/vertex-ai", [{ callId, signature }])
    yield* remember("1", "12345678")
    yield* remember("1", "12345")
    yield* remember("2", "12345")
    expect(yield* recalled("a", ["1", "2"])).toEqual([["1", "claude/vertex-ai", "12345"], ["2", "claude/vertex-ai", "12345"]])
    yield* remember("3", "1")
    expect(yield* recalled("a", ["1", "2", "3"])).toEqual([["2", "claude/vertex-ai", "12345"], ["3", "claude/vertex-ai", "1"]])
  }).pipe(Effect.provide(SignatureMemory.layerMemory.pipe(
    Layer.provide(Layer.succeed(Limits, { ...defaultLimits, signatureBytes: 8, signatureTotalBytes: 10 }))
  ))))

it.effect("TH37 remembers per key, forgets the oldest, the expired and never keeps a large one", () =>
  Effect.gen(function*() {
    const memory = yield* SignatureMemory
    yield* memory.remember("a", "gemini/google", [{ callId: "1", signature: "s1" }, { callId: "big", signature: "123456789" }])
    expect(yield* recalled("a", ["1", "big", "unknown"])).toEqual([["1", "gemini/google", "s1"]])
    expect(yield* recalled("b", ["1"])).toEqual([])
    yield* memory.remember("a", "gemini/google", [{ callId: "2", signature: "s2" }, { callId: "3", signature: "s3" }])
    expect(yield* recalled("a", ["1", "2", "3"])).toEqual([["2", "gemini/google", "s2"], ["3", "gemini/google", "s3"]])
    yield* TestClock.adjust("1 second")
    expect(yield* recalled("a", ["2", "3"])).toEqual([])
  }).pipe(Effect.provide(layer)))
