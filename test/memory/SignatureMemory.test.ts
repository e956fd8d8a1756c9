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
