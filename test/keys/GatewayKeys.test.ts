// Tests the look-up of gateway keys by digest: a known key gives its record, every other text the same refusal.
// Must not depend on HTTP.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { expect } from "vitest"
import { KeyInvalid } from "../../src/domain/GatewayError.ts"
import { GatewayKeys } from "../../src/keys/GatewayKeys.ts"

const layer = GatewayKeys.layerStatic([
  { name: "all", key: Redacted.make("mgk_all") },
  { name: "some", key: Redacted.make("mgk_some"), providers: ["a"], models: ["m*"], scopes: ["admin"] }
])

/** Beyond what a process remembers. */
const many = 1100

it.effect("gateway keys: a known key gives its record (TH1)", () =>
  Effect.gen(function* () {
    const keys = yield* GatewayKeys
    expect(yield* keys.find("mgk_all")).toEqual({
      id: "all",
      name: "all",
      models: undefined,
      scopes: ["inference"]
    })
    expect(yield* keys.find("mgk_some")).toEqual({
      id: "some",
      name: "some",
      providers: ["a"],
      models: ["m*"],
      scopes: ["admin"]
    })
  }).pipe(Effect.provide(layer))
)

it.effect("gateway keys: every other text is refused alike (B2)", () =>
  Effect.gen(function* () {
    const keys = yield* GatewayKeys
    for (const text of ["", "mgk_al", "mgk_all ", "MGK_ALL", "mgk_all\0", "\u{1f600}", "x".repeat(100_000)]) {
      expect(yield* Effect.flip(keys.find(text))).toBeInstanceOf(KeyInvalid)
    }
  }).pipe(Effect.provide(layer))
)

it.effect("gateway keys: keys evicted from the cache of digests are found again", () =>
  Effect.gen(function* () {
    const keys = yield* GatewayKeys
    for (let round = 0; round < 2; round++) {
      for (let at = 0; at < many; at++) expect((yield* keys.find(`mgk_${at}`)).id).toBe(`key ${at}`)
    }
  }).pipe(
    Effect.provide(
      GatewayKeys.layerStatic(
        Array.from({ length: many }, (_, at) => ({ name: `key ${at}`, key: Redacted.make(`mgk_${at}`) }))
      )
    )
  )
)
