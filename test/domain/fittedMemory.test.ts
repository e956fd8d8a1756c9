// Tests the limits of a process with a small memory.
// Must not start a process.
import { describe, expect, it } from "vitest"
import { fittingMemory, isMemoryFull, roomOfProcess, splitHeap } from "../../src/domain/fittedLimits.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"

const MiB = 1024 * 1024
const fitted = (heapMiB: number, processMiB: number) => {
  const limits = fittingMemory(defaultLimits, {
    heap: heapMiB * MiB,
    young: 6 * MiB,
    whole: processMiB * MiB
  })
  const { bodiesInFlightBytes, bodyBytes, cacheBytes, connections, inFlight } = limits
  return [bodiesInFlightBytes / MiB, bodyBytes / MiB, cacheBytes / MiB, inFlight, connections].map(Math.floor)
}

describe("limits by memory", () => {
  it("memory: the heap for what is kept is V8's limit without the part for new objects (F61)", () => {
    const split = (limit: number, whole: number, v8 = 13) => splitHeap(limit * MiB, whole * MiB, v8).heap / MiB
    expect([
      split(4_288, 24_105),
      split(320, 24_105),
      split(259, 256),
      split(176, 24_105, 12),
      split(64, 24_105)
    ]).toEqual([4_096, 128, 253, 128, 16])
  })
  it("memory: bytes in flight, bodies, caches, slots and connections follow the smaller of heap and container (F61)", () => {
    expect([fitted(32, 128), fitted(128, 200), fitted(128, 24_000), fitted(512, 1_024), fitted(4_096, 24_000)]).toEqual(
      [
        [0, 0, 0, 32, 128],
        [7, 3, 3, 480, 1_920],
        [25, 12, 4, 1_100, 4_403],
        [95, 32, 24, 6_083, 20_000],
        [512, 32, 64, 10_000, 20_000]
      ]
    )
  })
  it("memory: a lower limit of the operator stays, and fitting twice changes nothing (F61)", () => {
    const memory = { heap: 128 * MiB, young: 6 * MiB, whole: 256 * MiB }
    const low = { inFlight: 5, bodiesInFlightBytes: 7 }
    const { bodyBytes } = fittingMemory(defaultLimits, memory)
    expect(fittingMemory({ ...defaultLimits, ...low }, memory)).toMatchObject({ ...low, bodyBytes })
    const once = fittingMemory(defaultLimits, memory)
    expect(fittingMemory({ ...defaultLimits, ...once }, memory)).toEqual(once)
  })
  it("memory: it is full when live objects take 85 % of the heap or with buffers of the container, and large at 70 % (F61)", () => {
    const memory = { heap: 100 * MiB, young: 48 * MiB, whole: 400 * MiB }
    const full = (heap: number, external: number) =>
      isMemoryFull({ heap: heap * MiB, external: external * MiB }, memory)
    expect([full(85, 0), full(86, 0), full(28, 200), full(29, 200)]).toEqual([false, true, false, true])
    expect([270, 281].map((own) => Math.round(roomOfProcess(own * MiB, memory) / MiB))).toEqual([10, -1])
  })
})
