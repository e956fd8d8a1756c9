// Tests slots that many owners wait for: their order, their shares, and that none is lost.
// Must not depend on what a slot is for.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FairSlots } from "../../../src/domain/collections.ts"

/** Slots with the owners that run, in the order in which they started. */
const watched = (most: number, keptPercent: number) => {
  const slots = new FairSlots(most, keptPercent)
  const started: Array<string> = []
  return { started, enter: (owner: string) => slots.enter(owner, () => started.push(owner)) }
}

describe("fair slots", () => {
  it("fair slots: an owner alone leaves the last part to others, who start immediately (TH20b)", () => {
    const { enter, started } = watched(10, 20)
    for (let count = 0; count < 20; count++) enter("a")
    expect(started).toEqual(Array(8).fill("a"))
    for (const owner of ["b", "c", "d"]) enter(owner)
    expect(started.slice(8)).toEqual(["b", "c"])
  })

  it("fair slots: a free slot goes to the waiting owner with the fewest (TH20b)", () => {
    const { enter, started } = watched(4, 0)
    const leave = Array.from({ length: 6 }, () => enter("a"))
    for (const owner of ["b", "b", "c"]) enter(owner)
    for (const end of leave.slice(0, 4)) end()
    expect(started).toEqual(["a", "a", "a", "a", "b", "c", "a", "a"])
  })

  it("fair slots: owners that enter and leave lose no slot, and get none too many (TH20b)", () => {
    const steps = fc.array(fc.record({ owner: fc.constantFrom("a", "b", "c"), leaves: fc.nat(20) }), { maxLength: 60 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.constantFrom(0, 20, 50), steps, (most, kept, all) => {
        const slots = new FairSlots(most, kept)
        const inside = new Map<number, boolean>()
        const ends = new Map<number, () => void>()
        const running = () => [...inside.values()].filter(Boolean).length
        for (const [id, { leaves, owner }] of all.entries()) {
          inside.set(id, false)
          ends.set(
            id,
            slots.enter(owner, () => inside.set(id, true))
          )
          const gone = [...ends.keys()][leaves]
          if (gone !== undefined) {
            inside.delete(gone)
            const end = ends.get(gone)
            ends.delete(gone)
            end?.()
          }
          expect(running()).toBeLessThanOrEqual(most)
          expect(running()).toBeGreaterThanOrEqual(Math.min(1, ends.size))
        }
        for (const id of ends.keys()) {
          inside.delete(id)
          ends.get(id)?.()
        }
        const { enter, started } = {
          enter: (owner: string) => slots.enter(owner, () => started.push(owner)),
          started: Array<string>()
        }
        for (let count = 0; count < most * 2; count++) enter(`new ${count}`)
        expect(started.length).toBe(most)
      })
    )
  })
})
