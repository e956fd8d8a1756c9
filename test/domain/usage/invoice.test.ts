// Tests the cost of a request, to the millionth of a dollar.
// Must not depend on a price list.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { noUsage } from "../../../src/operations/usage.ts"
import { invoice, microDollars, type Price, tiers, type Usage } from "../../../src/domain/Usage.ts"

const used = (some: Partial<Usage>): Usage => ({ ...noUsage, ...some })

describe("cost of a request", () => {
  it("cost: is in millionths of a dollar, rounded", () => {
    expect(
      microDollars(used({ input: 1000, output: 100, cached: 200 }), { input: 0.3, output: 2.5, cached_input: 0.03 })
    ).toBe(496)
    expect(microDollars(used({ input: 1 }), { input: 0.3 })).toBe(0)
    expect(microDollars(used({ input: 2 }), { input: 0.3 })).toBe(1)
    expect(microDollars(used({ images: 3 }), { image: 0.04 })).toBe(120_000)
    expect(microDollars(used({ input: 1000, output: 1000, images: 3 }), {})).toBe(0)
  })

  it("cost: its lines are the parts that a usage has, each at its rate", () => {
    const usage = used({ input: 300_000, cached: 100_000, output: 1000, reasoning: 200, images: 2 })
    const price = {
      input: { base: 1, tiers: [{ start: 200_000, price: 2 }] },
      cached_input: 0.25,
      output: 10,
      image: 0.04
    }
    expect(invoice(usage, price).lines).toEqual([
      { part: "input", count: 200_000, rate: 2, dollars: 0.4 },
      { part: "cached_input", count: 100_000, rate: 0.25, dollars: 0.025 },
      { part: "output", count: 1000, rate: 10, dollars: 0.01 },
      { part: "image", count: 2, rate: 0.04, dollars: 0.08 }
    ])
    expect(microDollars(usage, price)).toBe(515_000)
  })

  it("cost: a share without a rate of its own has the rate of the whole", () => {
    const price = { input: 1, output: 10 }
    expect(
      microDollars(
        used({ input: 100, cached: 50, cacheWritten: 20, audioInput: 30, output: 10, imageOutput: 5 }),
        price
      )
    ).toBe(200)
  })

  it("cost: the lines add up to the amount, for any counts and prices (W10)", () => {
    const count = fc.nat(2_000_000)
    const rate = fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 1000)
    const usages = fc.record({
      input: count,
      output: count,
      cached: count,
      cacheWritten: count,
      reasoning: count,
      audioInput: count,
      audioOutput: count,
      imageOutput: count,
      images: fc.nat(10),
      cachedAudio: count,
      cacheWrittenHour: count,
      searches: fc.nat(10),
      tier: fc.constantFrom(...tiers)
    })
    const prices = fc.record(
      {
        input: rate,
        output: rate,
        cached_input: rate,
        cached_audio_input: rate,
        cache_write: rate,
        cache_write_1h: rate,
        audio_input: rate,
        audio_output: rate,
        image_output: rate,
        image: rate,
        search: fc.oneof(rate, fc.record({ answer: rate })),
        regional: fc.constantFrom(1, 1.1),
        discount: fc.constantFrom(0, 0.15)
      },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(usages, prices, (usage, price) => {
        const { lines, nanos } = invoice(usage, price, "us-central1")
        expect(lines.reduce((sum, { dollars }) => sum + Math.round(dollars * 1e9), 0)).toBe(nanos)
        const tokens = lines.filter(({ part }) => part !== "image" && part !== "search")
        expect(tokens.reduce((sum, { count: tokensOf }) => sum + tokensOf, 0)).toBe(usage.input + usage.output)
      })
    )
  })

  it("cost: shares that exceed the whole cost no more than the whole", () => {
    expect(
      microDollars(used({ input: 10, cached: 50, audioInput: 50 }), { input: 1, cached_input: 1, audio_input: 100 })
    ).toBe(10)
  })

  it("cost: one token above the start of a tier applies its rate to all tokens", () => {
    const price: Price = {
      input: { base: 1, tiers: [{ start: 100, price: 2 }] },
      output: { base: 10, tiers: [{ start: 100, price: 20 }] }
    }
    expect(microDollars(used({ input: 100, output: 1 }), price)).toBe(110)
    expect(microDollars(used({ input: 101, output: 1 }), price)).toBe(222)
  })
})
