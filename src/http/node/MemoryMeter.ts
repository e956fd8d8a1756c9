// Whether the memory of the process has room for a further request.
// It must not depend on requests. Garbage alone refuses only in a process near the limit of its container, while requests run.
import { readFileSync } from "node:fs"
import { constants, PerformanceObserver } from "node:perf_hooks"
import { totalmem } from "node:os"
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Context from "effect/Context"
import {
  isMemoryFull,
  type LiveMemory,
  type ProcessMemory,
  roomOfProcess,
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
  /** Memory that is the process's own: what it shares with files can be read again, so it kills no process. */
  readonly ownBytes: () => number
  /** A whole collection. */
  readonly collect: () => void
  readonly nowMillis: () => number
}

/** Between two collections that the meter asks for. */
const leastPauseMillis = 250
/** They take at most a fifth of the time, in which no request enters. */
const pauseOfCollection = 4
/**
 * Between two looks at the size of the process. A look costs 50 us and, under load, ten times as much, so one waits for
 * as long as the process cannot have become too large since the last one.
 */
const leastLookMillis = 10
const mostLookMillis = 250
/** More than bodies can fill in a millisecond: 2 GiB a second. */
const mostGrowthPerMilli = 2 * 1024 * 1024

/**
 * Looks at memory after collections, and at the size of the process as requests come. It asks for a collection only while
 * memory is full, or the process too large.
 */
export class MemoryMeter {
  private readonly memory: ProcessMemory
  private readonly collector: Collector
  private full = false
  private large = false
  private nextCollection = 0
  private nextLook = 0

  constructor(memory: ProcessMemory, collector: Collector) {
    this.memory = memory
    this.collector = collector
  }

  /** To be called after each collection of the runtime; `isWhole`: of the whole heap, and not of new objects alone. */
  collected(isWhole: boolean): void {
    if (isWhole) this.lookAtHeap()
    this.lookAtProcess()
    if (this.large) this.collect()
  }

  /**
   * True when no request may enter. The runtime may not collect while all are refused, so a full memory is looked at
   * again. A process that is large without what is live can only wait for the ends of requests: without a running one it
   * takes the next.
   */
  isFull(isBusy: boolean): boolean {
    this.lookAtProcess()
    if (this.full || this.large) this.collect()
    return this.full || (this.large && isBusy)
  }

  private lookAtHeap(): void {
    this.full = isMemoryFull(this.collector.live(), this.memory)
  }

  private lookAtProcess(): void {
    const now = this.collector.nowMillis()
    if (now < this.nextLook) return
    const room = roomOfProcess(this.collector.ownBytes(), this.memory)
    this.large = room < 0
    this.nextLook = now + Math.min(Math.max(room / mostGrowthPerMilli, leastLookMillis), mostLookMillis)
  }

  private collect(): void {
    const { collect, nowMillis, ownBytes } = this.collector
    const started = nowMillis()
    if (started < this.nextCollection) return
    collect()
    const ended = nowMillis()
    this.nextCollection = ended + Math.max(leastPauseMillis, (ended - started) * pauseOfCollection)
    this.lookAtHeap()
    this.large = roomOfProcess(ownBytes(), this.memory) < 0
  }
}

/** The part of the process's pages that no file backs, on Linux, whatever the size of a page. */
const ownPart = (): number => {
  try {
    const [, resident = 1, shared = 0] = readFileSync("/proc/self/statm", "latin1").split(" ").map(Number)
    return (resident - shared) / resident
  } catch {
    return 1
  }
}

/**
 * V8's function for a whole collection, which it has only by a flag. The flavor gives free pages back to the system, of
 * which V8 otherwise keeps as many as were in use.
 */
const wholeCollection = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  setFlagsFromString("--no-expose-gc")
  const options = { type: "major", execution: "sync", flavor: "last-resort" }
  return typeof collect === "function" ? () => void collect(options) : () => undefined
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
    ownBytes: () => process.memoryUsage.rss() * ownPart(),
    collect: wholeCollection(),
    nowMillis: () => performance.now()
  })
  // It does not keep the process alive.
  new PerformanceObserver((list) => meter.collected(list.getEntries().some(isWhole))).observe({ entryTypes: ["gc"] })
  return meter
}

/** The meter of this process, made when it is first asked for. */
export const Memory = Context.Reference<Pick<MemoryMeter, "isFull">>("gateway/http/Memory", { defaultValue: ofProcess })
