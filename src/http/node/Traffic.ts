// The running requests of this process: their slots and memory, and whether the service is shutting down.
// It must not depend on any request.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { fittingMemory } from "../../domain/fitting/memory.ts"
import { Limits } from "../../domain/Limits.ts"
import { FairShares, type Resource } from "../../keys/FairShares.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"
import { Memory, processMemory } from "./MemoryMeter.ts"

const fullText =
  "memory: requests in flight leave less than 15 % of it; new ones get 503 until some have ended. More memory, a larger --max-old-space-size or a lower limits.inFlight prevents this."
const roomText = "memory: there is room for requests again"

/** How refusals are counted, next to those by limits of a minute. */
const kinds: Readonly<Record<Resource, string>> = { requests: "concurrency", bytes: "memory" }

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
        registry.counter(metrics.rateLimited, { scope: "key", kind: kinds[resource] }).add(1)
      const adminBytes = Math.min(adminInFlight * adminBodyBytes, bytes)
      const isFull = yield* watchMemory
      return {
        shares: new FairShares({ requests: inFlight, bytes, keptPercent }, refused, isFull),
        adminShares: new FairShares({ requests: adminInFlight, bytes: adminBytes, keptPercent }, refused),
        drainingSince: undefined
      }
    })
  )
}
