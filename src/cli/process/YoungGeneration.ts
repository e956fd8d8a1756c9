// Lets V8's young generation grow only in a process that stays busy.
// Must not know the gateway.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

const lookMillis = 1_000
/** The share of one processor from which a process is busy. */
const busyShare = 0.3
/** Looks in a row. A burst of new streams is over by then. */
const busyLooks = 10
/** A start leaves it at this size; a collection for want of memory makes it smaller. */
const enoughBytes = 16 * 2 ** 20

/** Whether the young generation may grow. */
export class YoungGeneration {
  private looks = 0

  /** To be called once a look: the CPU time and the time since the last one in milliseconds, and the size in bytes. */
  mayGrow(cpuMillis: number, millis: number, bytes: number): boolean {
    this.looks = cpuMillis < busyShare * millis ? 0 : Math.min(this.looks + 1, busyLooks)
    return this.looks === busyLooks || bytes < enoughBytes
  }
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0

/**
 * V8 doubles the young generation, up to 128 MiB, whenever enough objects have survived it, as the state of new streams
 * does. A large one saves CPU time under load only. So it stays small until the process was busy for ten seconds. Its
 * bound is fixed when a process starts, but not the factor of its growth. Runs until the scope closes.
 */
export const limitYoungGeneration: Effect.Effect<void, never, Scope.Scope> = Effect.suspend(() => {
  const young = new YoungGeneration()
  let cpu = process.cpuUsage()
  let at = performance.now()
  let factor = 2
  const look = (): void => {
    const now = performance.now()
    const { system, user } = process.cpuUsage(cpu)
    const next = young.mayGrow((user + system) / 1_000, now - at, youngBytes()) ? 2 : 1
    cpu = process.cpuUsage()
    at = now
    if (next !== factor) setFlagsFromString(`--semi-space-growth-factor=${next}`)
    factor = next
  }
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(Effect.sync(look), Schedule.spaced(lookMillis))))
})
