// Tests the prices of models: their source, the name a model is counted under, and the calls to the price list.
// Must not depend on the public price list: a list of the test replaces it.
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { beforeEach, describe, expect } from "vitest"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { type PriceList, Prices } from "../../src/catalog/Prices.ts"
import { ConfigSnapshot } from "../../src/store/ConfigSnapshot.ts"
import * as Store from "../../src/store/Store.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { ratesOf } from "../support/rates.ts"

const day = Date.parse("2027-01-31T12:00:00Z")
const accounts = [
  googleAccount,
  {
    ...vertexAccount,
    models: ["gemini-9-own", "gemini-8*"],
    endpoints: { "my-llm": { dialect: "openai" as const, host: undefined, model: undefined } }
  }
]
const over = (own: Parameters<typeof Prices.layerWith>[0] = {}, list?: Effect.Effect<PriceList>) =>
  Prices.layerWith(own, list).pipe(Layer.provide(Catalog.layerMemory(accounts)))

describe("price of a model", () => {
  const asked: Array<string> = []
  beforeEach(() => void asked.splice(0))
  const list = Effect.succeed((modelId: string, nowMillis: number) => {
    asked.push(modelId)
    return { id: "listed", price: { input: new Date(nowMillis).getUTCDate() } }
  })

  it.effect(
    "model name: is the one a model is listed, deployed or priced under, and every other name counts as one",
    () =>
      Effect.gen(function* () {
        const prices = yield* Prices
        const label = (modelId: string) => prices.counted("google", modelId, day)?.label
        expect([label("gemini-2.5-flash"), label("x")]).toEqual([undefined, undefined])
        yield* prices.load
        expect(
          ["gemini-2.5-flash", "claude-opus-4-8", "gemini-9-own", "gemini-8-own", "my-llm", "x".repeat(100)].map(label)
        ).toEqual(["gemini-2.5-flash", "claude-opus-4-8", "gemini-9-own", "other", "my-llm", "other"])
      }).pipe(Effect.provide(over()))
  )

  it.effect("model name: thousands of made-up models count under one name (TH32)", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      const names = new Set(
        Array.from({ length: 5_000 }, (_, at) => prices.counted("google", `made-up-${at}`, day)?.label)
      )
      expect([...names]).toEqual(["other"])
    }).pipe(Effect.provide(over()))
  )

  it.effect(
    "price: the operator's goes first, one for the account before the rest; the supplement fills gaps of the list",
    () =>
      Effect.gen(function* () {
        const prices = yield* Prices
        const price = (slug: string, modelId: string) => prices.counted(slug, modelId, day)
        expect(price("google", "gemini-2.5-flash")).toMatchObject({ label: "gemini-2.5-flash", price: { input: 1 } })
        expect(price("vertex-ai", "gemini-2.5-flash")).toMatchObject({ label: "gemini-2.5-flash", price: { input: 2 } })
        expect(price("vertex-ai", "my-llm")).toMatchObject({ label: "my-llm", price: { output: 3 } })
        expect(price("vertex-ai", "imagen-3.0-generate-001")).toMatchObject({
          label: "imagen-3.0-generate-001",
          price: { image: 0.04 }
        })
        expect(asked).toEqual([])
      }).pipe(
        Effect.provide(
          over(
            {
              "gemini-2.5-flash": { input: 1 },
              "vertex-ai/gemini-2.5-flash": { input: 2 },
              "vertex-ai/my-llm": { output: 3 }
            },
            list
          )
        )
      )
  )

  const named: Effect.Effect<PriceList> = Effect.succeed(() => ({ id: "listed", price: { input: 1 } }))
  it.effect("price: the operator's covers the versions of its model, before the list", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      const price = (modelId: string) => ratesOf(prices.counted("google", modelId, day)?.price)
      expect(["claude-x@20250514", "claude-x@default", "claude-x-001", "claude-x"].map(price)).toEqual([
        { input: 7 },
        { input: 7 },
        { input: 7 },
        { input: 7 }
      ])
    }).pipe(Effect.provide(over({ "claude-x": { input: 7 } }, named)))
  )

  it.effect("model name: is the model's own id, never a name from the list; a version of a known model is known", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      const label = (modelId: string) => prices.counted("vertex-ai", modelId, day)?.label
      expect(
        [
          "claude-sonnet-4@20250514",
          "claude-sonnet-4",
          "claude-sonnet-4@default",
          "gemini-pro-latest",
          "gemini-2.5-flash-zzz"
        ].map(label)
      ).toEqual([
        "claude-sonnet-4@20250514",
        "claude-sonnet-4",
        "claude-sonnet-4@default",
        "gemini-pro-latest",
        "other"
      ])
    }).pipe(Effect.provide(over({}, named)))
  )

  it.effect("model name: a model of an account added later is known", () => {
    let present = accounts
    const catalog = Layer.succeed(Catalog, {
      resolve: () => undefined,
      list: () => present,
      models: builtInModels,
      now: () => ({ resolve: () => undefined, list: () => present, models: builtInModels })
    })
    return Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      const label = () => prices.counted("google", "gemini-later", day)?.label
      const before = label()
      present = [...accounts, { ...googleAccount, slug: "later", models: ["gemini-later"] }]
      expect([before, label()]).toEqual(["other", "gemini-later"])
    }).pipe(Effect.provide(Prices.layerWith({}, named).pipe(Layer.provide(catalog))))
  })

  it.effect("price list: is called once per model and day", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      yield* prices.load
      const price = (millis: number) => ratesOf(prices.counted("google", "gemini-2.0-flash", millis)?.price)
      expect([price(day), price(day + 11 * 3_600_000), price(day + 13 * 3_600_000)]).toEqual([
        { input: 31 },
        { input: 31 },
        { input: 1 }
      ])
      expect(asked).toEqual(["gemini-2.0-flash", "gemini-2.0-flash"])
    }).pipe(Effect.provide(over({}, list)))
  )

  it.effect("price: changes on its UTC day, chosen by the moment of the request", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      const price = (moment: string, modelId = "gemini-9-own") =>
        ratesOf(prices.counted("google", modelId, Date.parse(moment))?.price)
      expect([
        price("2026-11-30T23:59:59.999Z"),
        price("2026-12-01T00:00:00Z"),
        price("2027-01-31T12:00:00Z"),
        // A request of the day before that ends on this day.
        price("2026-11-30T23:59:59.999Z"),
        price("2026-11-30T23:59:59Z", "gemini-8-own"),
        price("2026-12-01T00:00:00Z", "gemini-8-own")
      ]).toEqual([
        { input: 1 },
        { from: "2026-12-01", input: 2 },
        { from: "2027-01-31", input: 3 },
        { input: 1 },
        { input: 30 },
        { from: "2026-12-01", input: 4 }
      ])
    }).pipe(
      Effect.provide(
        over(
          {
            "gemini-9-own": [{ from: "2026-12-01", input: 2 }, { input: 1 }, { from: "2027-01-31", input: 3 }],
            "gemini-8-own": { from: "2026-12-01", input: 4 }
          },
          list
        )
      )
    )
  )

  it.effect("price: is that of the configuration after a reload, and the priced model has its own label", () =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      const counted = () => prices.counted("google", "my-llm-2", day)
      const before = counted()
      yield* (yield* ConfigSnapshot).declare({ accounts, keys: [], prices: { "my-llm-2": { input: 5 } } })
      const after = counted()
      yield* (yield* ConfigSnapshot).declare({ accounts, keys: [] })
      expect([before, after, counted()]).toMatchObject([
        { label: "other", price: { input: 31 } },
        { label: "my-llm-2", price: { input: 5 } },
        { label: "other", price: { input: 31 } }
      ])
    }).pipe(
      Effect.provide(
        Prices.layer(list).pipe(
          Layer.provideMerge(Catalog.layer),
          Layer.provideMerge(ConfigSnapshot.layerAlone({ accounts, keys: [] })),
          Layer.provide(Store.layerMemory)
        )
      )
    )
  )
})
