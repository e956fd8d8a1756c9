// Tests when the young generation may grow.
import { describe, expect, it } from "vitest"
import { YoungGeneration } from "../../../src/cli/process/YoungGeneration.ts"

const enough = 16 * 2 ** 20

describe("young generation", () => {
  it("grows from the tenth busy look in a row, until the first idle one", () => {
    const young = new YoungGeneration()
    const grown = (cpuMillis: number): boolean => young.mayGrow(cpuMillis, 1_000, enough)
    expect([300, 300, 299].map(grown)).toEqual([false, false, false])
    expect([300, 400, 500, 600, 700, 800, 900, 1_000, 300].some(grown)).toBe(false)
    expect([300, 2_000, 299, 300].map(grown)).toEqual([true, true, false, false])
  })

  it("a look that comes late counts by its own time", () => {
    const young = new YoungGeneration()
    const grown = (cpuMillis: number): boolean => young.mayGrow(cpuMillis, 3_000, enough)
    expect(Array.from({ length: 20 }, () => 899).some(grown)).toBe(false)
    expect(
      Array.from({ length: 10 }, () => 900)
        .map(grown)
        .at(-1)
    ).toBe(true)
  })

  it("always grows to the size after a start", () => {
    const young = new YoungGeneration()
    expect([0, enough / 2, enough - 1, enough].map((bytes) => young.mayGrow(0, 1_000, bytes))).toEqual([
      true,
      true,
      true,
      false
    ])
  })
})
