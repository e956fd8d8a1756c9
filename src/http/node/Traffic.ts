// The running requests of this process: their slots and memory, whether memory has room for a further one, and whether the service is shutting down.
// It must not depend on any request. Garbage alone refuses only in a process near the limit of its container, while requests run.
import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { constants, PerformanceObserver } from "node:perf_hooks"
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import {
  fittingMemory,
  isMemoryFull,
  type LiveMemory,
  type ProcessMemory,
  roomOfProcess,
  splitHeap
} from "../../domain/fittedLimits.ts"
import { Limits } from "../../domain/Limits.ts"
import { FairShares, type Resource } from "../../keys/FairShares.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"

// Whether the memory of the process has room for a further request.

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

const meterOfProcess = (): MemoryMeter => {
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
export const Memory = Context.Reference<Pick<MemoryMeter, "isFull">>("gateway/http/Memory", {
  defaultValue: meterOfProcess
})

// The running requests of this process: their slots and memory, and whether the service is shutting down.

const fullText =
  "memory: requests in flight leave less than 15 % of it; new ones get 503 until some have ended. More memory, a larger --max-old-space-size or a lower limits.inFlight prevents this."
const roomText = "memory: there is room for requests again"

/** How refusals are counted, next to those by limits of a minute. */
const refusalKinds: Readonly<Record<Resource, string>> = { requests: "concurrency", bytes: "memory" }

/** Whether memory is full. Each change is one line of the log. */
const watchMemory: Effect.Effect<(isBusy: boolean) => boolean, never, Scope.Scope> = Effect.gen(function* () {
  const memory = yield* Memory
  const changes = yield* Queue.sliding<boolean>(1)
  const log = (isFull: boolean) => (isFull ? Effect.logWarning(fullText) : Effect.logInfo(roomText))
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(changes), log)))
  let wasFull = false
  return (isBusy) => {
    const isFull = memory.isFull(isBusy)
    if (isFull !== wasFull) Queue.offerUnsafe(changes, isFull)
    return (wasFull = isFull)
  }
})

/** State of the process, changed in place because each request touches it. */
export class Traffic extends Context.Service<
  Traffic,
  {
    /** Slots and memory of requests of inference keys. */
    readonly shares: FairShares
    /** Those of admin keys, which no inference key can take. */
    readonly adminShares: FairShares
    /** The time of the Clock at which the service was made. */
    readonly startedMillis: number
    /** The time of the Clock at which the service was asked to stop; undefined before. */
    drainingSince: number | undefined
  }
>()("gateway/http/Traffic") {
  static readonly layer: Layer.Layer<Traffic> = Layer.effect(
    Traffic,
    Effect.gen(function* () {
      const limits = yield* Limits
      const { adminBodyBytes, adminInFlight, keptPercent } = limits
      const { bodiesInFlightBytes: bytes, inFlight } = fittingMemory(limits, processMemory())
      const registry = SeriesRegistry.of(yield* Effect.context<never>())
      const refused = (resource: Resource) =>
        registry.counter(metrics.rateLimited, { scope: "key", kind: refusalKinds[resource] }).add(1)
      const adminBytes = Math.min(adminInFlight * adminBodyBytes, bytes)
      const isFull = yield* watchMemory
      return {
        shares: new FairShares({ requests: inFlight, bytes, keptPercent }, refused, isFull),
        adminShares: new FairShares({ requests: adminInFlight, bytes: adminBytes, keptPercent }, refused),
        startedMillis: yield* Clock.currentTimeMillis,
        drainingSince: undefined
      }
    })
  )
}
