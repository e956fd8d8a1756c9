// Tests a bounded map of entries with owners: which owner loses an entry when the map is full.
// Must not depend on what the entries are.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FairEntries } from "../../src/domain/collections.ts"

const names = (owner: string, count: number) => Array.from({ length: count }, (_, at) => `${owner}${at}`)
const fill = (entries: FairEntries<string>, owner: string, count: number, weight = 0) => {
  for (const name of names(owner, count)) entries.set(owner, name, owner, weight)
}
const kept = (entries: FairEntries<string>, owner: string, count = 100) =>
  names(owner, count).filter((name) => entries.get(name) !== undefined)

describe("fair entries", () => {
  it("one owner alone: may fill the map, and loses its oldest entry first", () => {
    const entries = new FairEntries<string>(3)
    fill(entries, "a", 5)
    expect([kept(entries, "a"), entries.oldest]).toEqual([
      ["a2", "a3", "a4"],
      ["a2", "a"]
    ])
    entries.set("a", "a2", "a")
    entries.set("a", "a5", "a")
    expect(kept(entries, "a")).toEqual(["a2", "a4", "a5"])
  })
  it("many entries of one owner: evict no entry of other owners (TH20)", () => {
    const entries = new FairEntries<string>(10)
    fill(entries, "a", 2)
    fill(entries, "b", 3)
    fill(entries, "loud", 100)
    expect([kept(entries, "a"), kept(entries, "b"), kept(entries, "loud").length]).toEqual([
      ["a0", "a1"],
      ["b0", "b1", "b2"],
      5
    ])
    fill(entries, "c", 10)
    expect([
      kept(entries, "a").length,
      kept(entries, "b").length,
      kept(entries, "c").length,
      kept(entries, "loud").length
    ]).toEqual([2, 3, 2, 3])
  })
  it("weights: an owner of few large entries is evicted like one of many small ones", () => {
    const entries = new FairEntries<string>(100, 1_000)
    fill(entries, "small", 5, 10)
    fill(entries, "large", 3, 400)
    expect([kept(entries, "small").length, kept(entries, "large")]).toEqual([5, ["large1", "large2"]])
    entries.set("small", "small5", "small", 200)
    expect([kept(entries, "small").length, kept(entries, "large")]).toEqual([6, ["large2"]])
  })
  it("mayAdd: is true with free capacity, and for an owner below its even share", () => {
    const entries = new FairEntries<string>(4)
    fill(entries, "a", 3)
    expect([entries.mayAdd("a"), entries.mayAdd("b")]).toEqual([true, true])
    entries.set("a", "a3", "a")
    expect([entries.mayAdd("a"), entries.mayAdd("b")]).toEqual([false, true])
    entries.set("b", "b0", "b")
    entries.set("b", "b1", "b")
    expect([entries.mayAdd("a"), entries.mayAdd("b"), entries.mayAdd("c")]).toEqual([false, false, true])
    entries.prune((owner) => owner === "a")
    expect([kept(entries, "a"), kept(entries, "b"), entries.mayAdd("b")]).toEqual([[], ["b0", "b1"], true])
  })
  it("entries: stay within both bounds; only owners above their even share lose any", () => {
    const step = fc.record({ owner: fc.integer({ min: 0, max: 4 }), name: fc.nat(30), weight: fc.nat(40) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const entries = new FairEntries<{ readonly owner: number; readonly weight: number }>(10, 100)
        const all = new Set<string>()
        const held = (owner?: number) => {
          const some = [...all]
            .flatMap((name) => entries.get(name) ?? [])
            .filter((entry) => owner === undefined || entry.owner === owner)
          return { count: some.length, weight: some.reduce((sum, entry) => sum + entry.weight, 0) }
        }
        for (const { name, owner, weight } of steps) {
          const others = [0, 1, 2, 3, 4].filter((one) => one !== owner).map((one) => [one, held(one)] as const)
          all.add(`${owner} ${name}`)
          entries.set(String(owner), `${owner} ${name}`, { owner, weight }, weight)
          const { count, weight: total } = held()
          expect(count <= 10 && total <= 100).toBe(true)
          for (const [other, before] of others) {
            // A fifth of both bounds.
            if (held(other).count < before.count) expect(before.count > 2 || before.weight > 20).toBe(true)
          }
        }
      })
    )
  })
})
