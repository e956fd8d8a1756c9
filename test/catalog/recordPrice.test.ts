// Prices that the facts state.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect } from "vitest"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { listedModels } from "../../src/catalog/models.ts"
import { Prices, recordPrice } from "../../src/catalog/Prices.ts"
import { builtInModels, modelTable } from "../../src/domain/models/modelTable.ts"
import { estimatedUsage } from "../../src/operations/operationRules.ts"
import { googleAccount } from "../support/account.ts"
import { ratesOf } from "../support/rates.ts"

const record = (id: string) => builtInModels.find(id).record
const today = Date.parse("2026-11-22T12:00:00Z")

describe("the price of a record", () => {
  it("an introductory price holds up to its last day (M-100)", () => {
    expect(["2026-11-30", "2026-12-01"].map((day) => recordPrice(record("gemini-4-argon"), day))).toEqual([
      { input: 2, output: 10, cached_input: 0.1 },
      { input: 4, output: 20, cached_input: 0.2 }
    ])
  })

  it("long contexts have rates of their own, and audio and pictures as well (M-100)", () => {
    expect(recordPrice(record("gemini-2.5-pro"), "2026-11-22")).toEqual({
      input: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
      output: { base: 10, tiers: [{ start: 200_000, price: 15 }] },
      cached_input: { base: 0.125, tiers: [{ start: 200_000, price: 0.25 }] }
    })
    expect(recordPrice(record("gemini-3.1-flash-image"), "2026-11-22")).toEqual({
      input: 0.5,
      output: 3,
      image_output: 60
    })
    expect(recordPrice(record("claude-opus-5-5"), "2026-11-22")).toEqual({
      input: 4,
      output: 20,
      cached_input: 0.2,
      cache_write: 5,
      cache_write_1h: 8
    })
  })

  it("a record without a price has none (M-110)", () => {
    expect([
      recordPrice(record("gemini-3.8-live"), "2026-11-22"),
      recordPrice(record("gemini-9-foo"), "2026-11-22")
    ]).toEqual([undefined, undefined])
  })
})

describe("the facts in force", () => {
  const models = modelTable({
    "gemini-4-neon": { price: { input: 1, output: 2 } },
    "gemini-5-own": { inherits: "gemini-3.1-flash-image", price: { input: 7 } },
    "own-*": { inherits: "gemini-4-neon" }
  })
  const catalog = Layer.sync(Catalog, () => {
    const view = {
      resolve: () => googleAccount,
      list: () => [googleAccount],
      models
    }
    return { ...view, now: () => view }
  })
  const prices = (layer: Layer.Layer<Catalog>) =>
    Prices.layerWith(
      {},
      Effect.succeed((id) => (id === "gemini-4-neon" ? { id, price: { input: 9 } } : undefined))
    ).pipe(Layer.provide(layer))
  const counted = (ids: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const service = yield* Prices
      yield* service.load
      return ids.map((id) => service.counted("google", id, today))
    })

  it.effect("every current chat model has a price without a list (M-100)", () =>
    Effect.gen(function* () {
      const current = builtInModels.ids.filter((id) => {
        const { family, operation, output = [], stage } = record(id)
        return (
          (family === "gemini" || family === "claude") &&
          stage === "ga" &&
          (operation === "generateContent" || operation === "rawPredict") &&
          output.every((kind) => kind === "text")
        )
      })
      const service = yield* Prices
      yield* service.load
      expect(current.filter((id) => service.counted("google", id, today)?.price === undefined)).toEqual([
        "gemini-4-argon-cyber-permissive"
      ])
    }).pipe(Effect.provide(Prices.layerWith({}).pipe(Layer.provide(Catalog.layerMemory([googleAccount])))))
  )

  it.effect("the operator's facts come before a list, and a list before the file (M-102)", () =>
    Effect.gen(function* () {
      const seen = yield* counted(["gemini-4-neon", "gemini-5-own", "gemini-4-hydrogen", "own-one"]).pipe(
        Effect.provide(prices(catalog))
      )
      expect(seen.map((one) => [one?.label, ratesOf(one?.price)])).toEqual([
        ["gemini-4-neon", { input: 1, output: 2, cached_input: 0.15 }],
        ["gemini-5-own", { input: 7 }],
        ["gemini-4-hydrogen", { input: 1.5, output: 7.5, cached_input: 0.075 }],
        ["other", undefined]
      ])
      const plain = yield* counted(["gemini-4-neon"]).pipe(Effect.provide(prices(Catalog.layerMemory([googleAccount]))))
      expect(plain.map((one) => ratesOf(one?.price))).toEqual([{ input: 9 }])
    })
  )

  it("an id that only the operator states is listed, and a pattern is not (M-102)", () => {
    const listed = listedModels("google", models)
    expect(listed.filter((id) => !listedModels("google").includes(id))).toEqual(["gemini-5-own"])
  })

  it("an estimate counts pictures of a model that draws by the operator's facts (M-112)", () => {
    const body = { messages: [{ role: "user", content: "A cat" }], max_tokens: 100 }
    const of = (id: string) => estimatedUsage("chat", body, 4_096, id, undefined, models).imageOutput
    expect([of("gemini-5-own"), of("gemini-4-neon")]).toEqual([1_290, 0])
  })
})
