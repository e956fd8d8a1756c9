// Tests when memory counts as full, with a runtime of the test's own.
// Must not depend on the memory of the process that runs it.
import { expect, it } from "vitest"
import { MemoryMeter, processMemory } from "../../../src/http/node/Traffic.ts"

/** A runtime with 100 bytes of heap in a process of 1 GiB, and the times at which it was asked to collect. */
const runtime = () => {
  const state = { heap: 10, afterCollection: 10, own: 0, ownAfterCollection: 0, now: 5_000, costs: 10 }
  const asked: Array<number> = []
  const meter = new MemoryMeter(
    { heap: 100, young: 0, whole: 2 ** 30 },
    {
      live: () => ({ heap: state.heap, external: 0 }),
      ownBytes: () => state.own,
      collect: () => {
        asked.push(state.now)
        state.now += state.costs
        state.heap = state.afterCollection
        state.own = state.ownAfterCollection
      },
      nowMillis: () => state.now
    }
  )
  return { asked, meter, state }
}

it("memory: garbage alone never refuses: only what a whole collection left counts (F61)", () => {
  const { asked, meter, state } = runtime()
  state.heap = 99
  meter.collected(false)
  expect(meter.isFull(true)).toBe(false)
  state.heap = 85
  meter.collected(true)
  expect([meter.isFull(true), asked]).toEqual([false, []])
})

it("memory: it is full from a collection that left more than 85 %, and is looked at again by four a second (F61)", () => {
  const { asked, meter, state } = runtime()
  state.heap = 86
  state.afterCollection = 86
  meter.collected(true)
  expect([meter.isFull(true), meter.isFull(false), asked]).toEqual([true, true, [5_000]])
  state.now = 5_259
  expect([meter.isFull(true), asked]).toEqual([true, [5_000]])
  state.now = 5_260
  state.afterCollection = 85
  expect([meter.isFull(true), meter.isFull(true), asked]).toEqual([false, false, [5_000, 5_260]])
})

it("memory: collections that it asks for take at most a fifth of the time (F61)", () => {
  const { asked, meter, state } = runtime()
  state.costs = 200
  state.afterCollection = 90
  state.heap = 90
  meter.collected(true)
  meter.isFull(true)
  state.now = 5_999
  meter.isFull(true)
  state.now = 6_000
  meter.isFull(true)
  expect(asked).toEqual([5_000, 6_000])
})

it("memory: a process near the limit of its container is rid of its garbage, and refuses only what is live (F61)", () => {
  const { asked, meter, state } = runtime()
  state.own = 2 ** 30
  state.ownAfterCollection = 0
  meter.collected(false)
  expect([meter.isFull(true), asked]).toEqual([false, [5_000]])
})

it("memory: a process that stays large takes a request while none runs, as no end of one can free anything (F61)", () => {
  const { asked, meter, state } = runtime()
  state.own = 2 ** 30
  state.ownAfterCollection = 2 ** 30
  expect([meter.isFull(true), meter.isFull(false), asked]).toEqual([true, false, [5_000]])
  state.own = 0
  expect(meter.isFull(true)).toBe(true)
  state.now += 10
  expect([meter.isFull(true), asked]).toEqual([false, [5_000]])
})

it("memory: a process is looked at again when it can have become large, after 10 to 250 ms (F61)", () => {
  const looksWith = (room: number) => {
    const { asked, meter, state } = runtime()
    state.own = 2 ** 30 * 0.7 - room
    meter.isFull(true)
    state.own = 2 ** 30
    return [9, 10, 49, 50, 249, 250].map((millis) => {
      state.now = 5_000 + millis
      meter.isFull(true)
      return asked.length
    })
  }
  expect(looksWith(0)).toEqual([0, 1, 1, 1, 1, 1])
  expect(looksWith(100 * 2 ** 20)).toEqual([0, 0, 0, 1, 1, 1])
  expect(looksWith(2 ** 30 * 0.7)).toEqual([0, 0, 0, 0, 0, 1])
})

it("memory: the sizes of this process are those of its heap and its container or machine (F61)", () => {
  const { heap, whole, young } = processMemory()
  expect([heap > 0, young > 0, whole >= heap]).toEqual([true, true, true])
})
