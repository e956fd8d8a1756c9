// Whether the memory of the process has room for a further request.
// It must not depend on requests. Only what a garbage collection leaves counts, so that garbage alone never refuses.
import { constants, PerformanceObserver } from "node:perf_hooks"
import { totalmem } from "node:os"
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Context from "effect/Context"
import {
  isMemoryFull,
  isProcessLarge,
  type LiveMemory,
  type ProcessMemory,
  splitHeap
} from "../../domain/fitting/memory.ts"

/** The limits of this process: V8's, and those of its control group where there is one. */
export const processMemory = (): ProcessMemory => {
  const ofGroup = process.constrainedMemory()
  const machine = totalmem()
  // Without a limit it is 0, or far more than the machine has.
  const bytes = ofGroup > 0 ? Math.min(ofGroup, machine) : machine
  return splitHeap(getHeapStatistics().heap_size_limit, bytes, Number.parseInt(process.versions.v8, 10))
}

/** What the meter reads of the runtime, and asks it for. */
export interface Collector {
  readonly live: () => LiveMemory
  readonly residentBytes: () => number
  /** A whole collection. */
  readonly collect: () => void
  readonly nowMillis: () => number
}

const leastPauseMillis = 1_000
/** Collections that the meter asks for take at most 5 % of the time. */
const pauseOfCollection = 20

/** Looks at memory after collections. It asks for one only while memory is full, or the process too large. */
export class MemoryMeter {
  private readonly memory: ProcessMemory
  private readonly collector: Collector
  private full = false
  private nextMillis = 0

  constructor(memory: ProcessMemory, collector: Collector) {
    this.memory = memory
    this.collector = collector
  }

  /** To be called after each collection of the runtime; `isWhole`: of the whole heap, and not of new objects alone. */
  collected(isWhole: boolean): void {
    if (isWhole) this.look()
    else if (isProcessLarge(this.collector.residentBytes(), this.memory)) this.collect()
  }

  /** The runtime may not collect while all requests are refused, so a full memory is looked at again. */
  isFull(): boolean {
    if (this.full) this.collect()
    return this.full
  }

  private look(): void {
    this.full = isMemoryFull(this.collector.live(), this.memory)
  }

  private collect(): void {
    const { collect, nowMillis } = this.collector
    const started = nowMillis()
    if (started < this.nextMillis) return
    collect()
    const ended = nowMillis()
    this.nextMillis = ended + Math.max(leastPauseMillis, (ended - started) * pauseOfCollection)
    this.look()
  }
}

/** V8's function for a whole collection, which it has only by a flag. */
const wholeCollection = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  setFlagsFromString("--no-expose-gc")
  return typeof collect === "function" ? () => void collect() : () => undefined
}

/** Its type lacks the kind of collection. */
const isWhole = (entry: object): boolean =>
  "detail" in entry &&
  typeof entry.detail === "object" &&
  entry.detail !== null &&
  "kind" in entry.detail &&
  entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR

const ofProcess = (): MemoryMeter => {
  const meter = new MemoryMeter(processMemory(), {
    live: () => {
      const { external_memory: external, used_heap_size: heap } = getHeapStatistics()
      return { heap, external }
    },
    residentBytes: () => process.memoryUsage.rss(),
    collect: wholeCollection(),
    nowMillis: () => performance.now()
  })
  // It does not keep the process alive.
  new PerformanceObserver((list) => meter.collected(list.getEntries().some(isWhole))).observe({ entryTypes: ["gc"] })
  return meter
}

/** The meter of this process, made when it is first asked for. */
export const Memory = Context.Reference<Pick<MemoryMeter, "isFull">>("gateway/http/Memory", { defaultValue: ofProcess })
