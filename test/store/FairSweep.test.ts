// Tests who loses bytes when a shared table is too full: its laws, on plain numbers.
// Must not open a database.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { surplusOf } from "../../src/store/database/Retention.ts"

const holdings = fc
  .array(fc.nat(1_000), { maxLength: 12 })
  .map((sizes) => sizes.map((bytes, at) => ({ owner: `key_${at}`, bytes })))

describe("surplus of a shared table", () => {
  it("surplus: the owners with the most lose down to one level, others nothing (R707b)", () => {
    const held = [
      { owner: "a", bytes: 100 },
      { owner: "b", bytes: 10 },
      { owner: "c", bytes: 60 }
    ]
    expect([surplusOf(held, 170), surplusOf(held, 130), surplusOf(held, 90), surplusOf([], 5)]).toEqual([
      [],
      [{ owner: "a", bytes: 40 }],
      [
        { owner: "c", bytes: 20 },
        { owner: "a", bytes: 60 }
      ],
      []
    ])
  })

  it("surplus: what is left fits, wastes less than a byte for each owner, and none that loses holds less than another (R707b)", () => {
    fc.assert(
      fc.property(holdings, fc.nat(5_000), (held, most) => {
        const lost = new Map(surplusOf(held, most).map(({ bytes, owner }) => [owner, bytes]))
        const left = held.map(({ bytes, owner }) => bytes - (lost.get(owner) ?? 0))
        const total = left.reduce((sum, bytes) => sum + bytes, 0)
        const all = held.reduce((sum, { bytes }) => sum + bytes, 0)
        expect(total).toBeLessThanOrEqual(most)
        expect(total).toBeGreaterThan(Math.min(all, most) - Math.max(1, held.length))
        for (const [at, { owner }] of held.entries()) if (lost.has(owner)) expect(left[at]).toBe(Math.max(...left))
      })
    )
  })
})
