// Tests the public price list as the gateway reads it, and the gateway's cost calculation against the list's own.
// Must not depend on accounts or on the network.
import { it as effectIt } from "@effect/vitest"
import { calcPrice } from "@pydantic/genai-prices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { listedModels } from "../../src/catalog/models.ts"
import { Prices, priceSupplement, publicPrices } from "../../src/catalog/Prices.ts"
import { builtInKinds } from "../../src/domain/ProviderAccount.ts"
import { microDollars, type Usage } from "../../src/domain/Usage.ts"
import { ratesOf } from "../support/rates.ts"

const day = Date.parse("2027-01-31T12:00:00Z")
const none: Usage = {
  input: 0,
  output: 0,
  cached: 0,
  cacheWritten: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
  imageOutput: 0,
  images: 0
}
const used = (some: Partial<Usage>): Usage => ({ ...none, ...some })

describe("public price list", () => {
  effectIt.effect("price list: prices a model by any of its names, on the asked day", () =>
    Effect.gen(function* () {
      const list = yield* publicPrices
      expect(list("gemini-2.5-flash", day)).toEqual({
        id: "gemini-2.5-flash",
        price: { input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 1 }
      })
      expect(list("gemini-2.5-flash-preview-09-2025", day)?.id).toBe("gemini-2.5-flash")
      expect(list("claude-haiku-4-5@20251001", day)).toEqual({
        id: "claude-haiku-4-5",
        price: { input: 1, output: 5, cached_input: 0.1, cache_write: 1.25 }
      })
      expect([
        list("gemini-3.6-flash", Date.parse("2026-12-31T23:59:59Z"))?.price.input,
        list("gemini-3.6-flash", day)?.price.input
      ]).toEqual([0.75, 1.5])
      expect([list("my-llm", day), list("x".repeat(1000), day)]).toEqual([undefined, undefined])
    })
  )

  effectIt.effect("price list: has no model of the supplement", () =>
    Effect.gen(function* () {
      const list = yield* publicPrices
      expect(Object.keys(priceSupplement).filter((id) => list(id, day) !== undefined)).toEqual([])
    })
  )

  effectIt.effect(
    "price list: with the supplement it prices every offered model except those without a published price",
    () =>
      Effect.gen(function* () {
        const prices = yield* Prices
        yield* prices.load
        const models = builtInKinds
          .flatMap((kind) => listedModels(kind))
          .map((model) => model.replace(/^anthropic\./, "").replace(/^meta\./, "meta/"))
        const unpriced = new Set(models.filter((model) => prices.counted("google", model, day)?.price === undefined))
        expect([...unpriced]).toEqual([
          "gemini-4-argon-cyber-permissive",
          "gemini-nano-banana-2.1",
          "gemini-3.8-flash-tts",
          "gemini-3.8-flash-lite-tts",
          "gemini-3.1-flash-tts-preview",
          "gemini-robotics-er-2-preview",
          "deepseek-ai/deepseek-r1-0528-maas",
          "deepseek-ai/deepseek-ocr-maas",
          "qwen/qwen3-coder-480b-a35b-instruct-maas",
          "minimax/minimax-m2-maas",
          "xai/grok-4.20-reasoning",
          "xai/grok-4.20-non-reasoning",
          "xai/grok-4.1-fast-reasoning",
          "xai/grok-4.1-fast-non-reasoning"
        ])
      }).pipe(Effect.provide(Prices.layerWith({}, publicPrices).pipe(Layer.provide(Catalog.layerMemory([])))))
  )
})

describe("prices of list and supplement", () => {
  const price = (modelId: string) =>
    Effect.gen(function* () {
      const prices = yield* Prices
      yield* prices.load
      return ratesOf(prices.counted("google", modelId, day)?.price)
    }).pipe(Effect.provide(Prices.layerWith({}, publicPrices).pipe(Layer.provide(Catalog.layerMemory([])))))

  effectIt.effect.each([
    ["gemini-flash-latest", { input: 1.5, output: 9, cached_input: 0.15, audio_input: 1.5 }],
    ["gemini-flash-lite-latest", { input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 0.5 }],
    ["gemini-2.5-flash-001", { input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 1 }],
    ["claude-sonnet-4-6@default", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["text-embedding-005@default", { input: 0.1 }],
    ["gemini-2.5-flash-image", { input: 0.3, output: 2.5, image_output: 30 }],
    ["gemini-3.8-flash-tts", undefined],
    ["gemini-9-unheard-of", undefined]
  ] as const)("prices: %s has its published price", ([modelId, expected]) =>
    Effect.map(price(modelId), (found) => expect(found).toEqual(expected))
  )

  effectIt.effect("prices: a moving name costs no less than any model of its kind", () =>
    Effect.gen(function* () {
      const latest = yield* price("gemini-flash-latest")
      for (const model of [
        "gemini-2.5-flash",
        "gemini-3-flash-preview",
        "gemini-3.5-flash",
        "gemini-3.6-flash",
        "gemini-3.7-flash",
        "gemini-3.8-flash",
        "gemini-4-hydrogen"
      ]) {
        const one = yield* price(model)
        const usage = used({ input: 1000, output: 1000, audioInput: 500, cached: 100 })
        expect(microDollars(usage, latest ?? {})).toBeGreaterThanOrEqual(microDollars(usage, one ?? {}))
      }
    })
  )
})

describe("cost calculation", () => {
  it("cost calculation: agrees with the price list on every share of a request", () => {
    const usages = fc.record({
      cached: fc.nat(90_000),
      cacheWritten: fc.nat(90_000),
      rest: fc.nat(90_000),
      output: fc.nat(50_000),
      imageOutput: fc.nat(50_000)
    })
    const models = fc.constantFrom(
      "gemini-2.5-flash",
      "gemini-2.5-pro",
      "claude-sonnet-4-5@20250929",
      "claude-opus-4-8",
      "gemini-2.5-flash-image"
    )
    fc.assert(
      fc.property(models, usages, (model, { cacheWritten, cached, imageOutput, output, rest }) => {
        const input = rest + cached + cacheWritten
        const list = calcPrice(
          {
            input_tokens: input,
            cache_read_tokens: cached,
            cache_write_tokens: cacheWritten,
            output_tokens: output + imageOutput,
            output_image_tokens: imageOutput
          },
          model,
          { providerId: "google" }
        )
        const { cache_read_mtok, cache_write_mtok, input_mtok, output_image_mtok, output_mtok } =
          list?.model_price ?? {}
        const ours = microDollars(used({ input, cached, cacheWritten, output: output + imageOutput, imageOutput }), {
          ...(input_mtok === undefined ? {} : { input: input_mtok }),
          ...(output_mtok === undefined ? {} : { output: output_mtok }),
          ...(cache_read_mtok === undefined ? {} : { cached_input: cache_read_mtok }),
          ...(cache_write_mtok === undefined ? {} : { cache_write: cache_write_mtok }),
          ...(output_image_mtok === undefined ? {} : { image_output: output_image_mtok })
        })
        expect(Math.abs(ours - (list?.total_price ?? 0) * 1e6)).toBeLessThanOrEqual(0.51)
      })
    )
  })
})
