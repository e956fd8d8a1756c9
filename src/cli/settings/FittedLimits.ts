// The limits that fit the process: the files it may have open, and its memory.
// Must not know what opens the files or takes the memory.
import { readFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import { fittingFiles, fittingMemory, type ProcessMemory } from "../../domain/fittedLimits.ts"
import { defaultLimits, type LimitValues } from "../../domain/Limits.ts"
import { processMemory } from "../../http/node/Traffic.ts"

/** The soft limit of the kernel; Node has raised it to the hard one. Undefined where the system does not show it. */
const openFiles = (): number | undefined => {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

const filesText = (files: number, { connections, idleSockets }: LimitValues): string =>
  `The process may open ${files} files: it serves ${connections} connections, keeps ${idleSockets} idle ones to providers, and answers further clients with 503. A higher "ulimit -n" lifts this.`

const mib = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

const memoryText = (
  memory: ProcessMemory,
  { bodiesInFlightBytes, bodyBytes, cacheBytes, inFlight }: LimitValues
): string =>
  `The process has a heap of ${mib(memory.heap)} in a memory of ${mib(memory.whole)}: it runs ${inFlight} requests together, takes bodies up to ${mib(bodyBytes)} and ${mib(bodiesInFlightBytes)} of them, caches ${mib(cacheBytes)} of answers, and refuses more with 413, 429 or 503. More memory or a larger --max-old-space-size lifts this.`

interface FittedLimits {
  readonly limits: LimitValues
  /** What was lowered. */
  readonly warnings: ReadonlyArray<string>
}

/** The limits of the settings, lowered to what fits the memory. */
export const fitMemory = (asked: LimitValues): Effect.Effect<FittedLimits> =>
  Effect.sync(() => {
    const memory = processMemory()
    const limits = { ...asked, ...fittingMemory(asked, memory) }
    const isLowered = limits.inFlight < asked.inFlight || limits.bodiesInFlightBytes < asked.bodiesInFlightBytes
    return { limits, warnings: isLowered ? [memoryText(memory, limits)] : [] }
  })

/** With fewer connections a service may turn clients away on an ordinary day. */
const fewConnections = 1_000

/** A bound that the operator has set cannot be kept, or that of the defaults becomes small. */
const isTooFew = (asked: LimitValues, { connections }: LimitValues): boolean =>
  connections < (asked.connections === defaultLimits.connections ? fewConnections : asked.connections)

/** The same, and to the files that the process may open. */
export const fitLimits = (asked: LimitValues, files = openFiles()): Effect.Effect<FittedLimits> =>
  Effect.map(fitMemory(asked), (fitted) => {
    if (files === undefined) return fitted
    const limits = { ...fitted.limits, ...fittingFiles(fitted.limits, files) }
    return { limits, warnings: [...(isTooFew(asked, limits) ? [filesText(files, limits)] : []), ...fitted.warnings] }
  })
