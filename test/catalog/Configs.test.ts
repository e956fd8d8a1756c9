// Tests the cache of inline configs: the configs it keeps, and their eviction.
// Must not depend on HTTP.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { Configs } from "../../src/catalog/Catalog.ts"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"

const reader = (limits: Partial<typeof defaultLimits>) =>
  Effect.runSync(
    Effect.map(
      Configs,
      ({ read }) =>
        (text: string) =>
          Result.getOrThrow(read(text, "key-1"))
    ).pipe(
      Effect.provide(
        Layer.provideMerge(Configs.layerMemory({}), Layer.succeed(Limits, { ...defaultLimits, ...limits }))
      )
    )
  )

const configOf = (name: string, targets: number): string =>
  JSON.stringify({
    labels: { name },
    strategy: { mode: "fallback" },
    targets: Array.from({ length: targets }, () => ({ provider: "google" }))
  })

describe("inline configs", () => {
  it("inline config: is read once while the cache has room, counted by its length for each of its targets", () => {
    const [one, two, three] = [configOf("1", 3), configOf("2", 3), configOf("3", 3)]
    const read = reader({ configBytes: 2 * 3 * one.length })
    const first = read(one)
    const second = read(two)
    expect([read(one) === first, read(two) === second]).toEqual([true, true])
    read(three)
    expect([read(two) === second, read(one) === first]).toEqual([true, false])
  })

  it("inline config above the cache size: is read every time, and evicts none of the others", () => {
    const small = configOf("small", 1)
    const large = configOf("large", 3)
    const read = reader({ configBytes: 2 * large.length })
    const first = read(small)
    expect([read(large) === read(large), read(small) === first]).toEqual([false, true])
  })

  it("inline config: is evicted when there are too many", () => {
    const read = reader({ configEntries: 2 })
    const first = read(configOf("1", 1))
    read(configOf("2", 1))
    expect(read(configOf("1", 1)) === first).toBe(true)
    read(configOf("3", 1))
    expect(read(configOf("1", 1)) === first).toBe(false)
  })
})
