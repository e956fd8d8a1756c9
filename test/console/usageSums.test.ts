// Tests the sums of the console: over time, and the durations that a share of the requests kept to.
// Must not need a browser.
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { AdminUsage } from "../../src/api/AdminResources.ts"
import { frameOf, inBands, quantile, shareOf, sumRows, timeline } from "../../src/console/usageSums.ts"

type Row = typeof AdminUsage.Type

const row = (more: Partial<Row> = {}): Row => ({
  start: "2027-01-31T12:00:00.000Z",
  requests: 2,
  errors: 1,
  input_tokens: 3,
  output_tokens: 4,
  cached_tokens: 5,
  cost_usd: 0.5,
  ...more
})

describe("console sums", () => {
  it("console sums: add up, with what older rows lack as nothing", () => {
    const timed = row({ cache_hits: 1, overhead_ms: 2.5, duration_bands: [1, 0, 1], ttft_bands: [0, 1] })
    expect(sumRows([timed, row(), timed])).toEqual({
      requests: 6,
      errors: 3,
      input: 9,
      output: 12,
      cached: 15,
      cost: 1.5,
      hits: 2,
      overhead: 5,
      bands: [2, 0, 2],
      firstBands: [0, 2]
    })
    expect([shareOf(1, 0), shareOf(1, 4)]).toEqual([0, 0.25])
    expect(inBands(1, 2)([timed, timed])).toBe(2)
  })

  it("console sums: a frame ends with the bucket of its moment", () => {
    const at = (text: string): number => Date.parse(`2027-01-31T${text}:00.000Z`)
    expect(frameOf(at("12:34"), "hour", 2)).toEqual({
      bucket: "hour",
      starts: [at("11:00"), at("12:00")],
      from: at("11:00"),
      to: at("13:00"),
      before: at("09:00")
    })
    const frame = frameOf(at("12:01"), "minute", 3)
    const rows = [row(), row({ start: "2027-01-31T12:01:00.000Z" }), row()]
    expect(timeline(frame, rows, (some) => sumRows(some).requests)).toEqual([0, 4, 2])
  })

  it.each([
    [[], 0.5, undefined],
    [[0, 0], 0.5, undefined],
    [[4], 0.5, 5],
    [[0, 0, 0, 0, 10], 0.5, 175],
    [[5, 0, 0, 0, 5], 0.5, 10],
    [[...Array.from({ length: 13 }, () => 0), 3], 0.95, 120_000]
  ])("console sums: the time of %j that a share of %d kept to is %j", (bands, share, expected) => {
    expect(quantile(bands, share)).toBe(expected)
  })

  it("console sums: a larger share never kept to a shorter time", () => {
    const bands = fc.array(fc.nat(100), { minLength: 14, maxLength: 14 })
    const share = fc.double({ min: 0.01, max: 1, noNaN: true })
    fc.assert(
      fc.property(bands, share, share, (counts, one, other) => {
        const times = [Math.min(one, other), Math.max(one, other)].map((part) => quantile(counts, part) ?? 0)
        expect(times[0]).toBeLessThanOrEqual(times[1] ?? 0)
      })
    )
  })
})
