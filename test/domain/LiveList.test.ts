// A list of what runs: the entries in it are those that were added and not removed, whatever the order.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { LiveList, type Place } from "../../src/domain/collections.ts"

it("holds what was added and not yet removed, as a set does", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
      const list = new LiveList<number>()
      const model = new Set<number>()
      const places: Array<Place<number>> = []
      for (const [number, step] of steps.entries()) {
        const place = step === undefined ? undefined : places[step % places.length]
        if (place === undefined) {
          places.push(list.add(number))
          model.add(number)
        } else {
          list.remove(place)
          model.delete(place.value)
        }
        expect(list.size).toBe(model.size)
        expect([...list].toSorted((one, other) => one - other)).toEqual([...model])
      }
    })
  )
})

it("removes an entry once, also when its place has another one", () => {
  const list = new LiveList<string>()
  const first = list.add("a")
  list.add("b")
  list.remove(first)
  list.remove(first)
  expect([...list]).toEqual(["b"])
})
