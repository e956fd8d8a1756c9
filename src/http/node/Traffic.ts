// The running requests of this process: their slots and memory, and whether the service is shutting down.
// It must not depend on any request.
import { getHeapStatistics } from "node:v8"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Limits } from "../../domain/Limits.ts"
import { FairShares, type Resource } from "../../keys/FairShares.ts"
import { metrics } from "../../telemetry/metrics.ts"
import { SeriesRegistry } from "../../telemetry/Series.ts"

/** A body is held as text, as values and as bytes for moments: a heap takes four times what is counted. */
const mostOfHeap = 1 / 4

/** How refusals are counted, next to those by limits of a minute. */
const kinds: Readonly<Record<Resource, string>> = { requests: "concurrency", bytes: "memory" }

/** State of the process, changed in place because each request touches it. */
export class Traffic extends Context.Service<
  Traffic,
  {
    /** Slots and memory of requests of inference keys. */
    readonly shares: FairShares
    /** Those of admin keys, which no inference key can take. */
    readonly adminShares: FairShares
    /** True from the moment the service is asked to stop. */
    draining: boolean
  }
>()("gateway/http/Traffic") {
  static readonly layer: Layer.Layer<Traffic> = Layer.effect(
    Traffic,
    Effect.gen(function* () {
      const { adminBodyBytes, adminInFlight, bodiesInFlightBytes, inFlight, keptPercent } = yield* Limits
      const registry = SeriesRegistry.of(yield* Effect.context<never>())
      const refused = (resource: Resource) =>
        registry.counter(metrics.rateLimited, { scope: "key", kind: kinds[resource] }).add(1)
      const mostBytes = Math.floor(getHeapStatistics().heap_size_limit * mostOfHeap)
      const bytes = Math.min(bodiesInFlightBytes, mostBytes)
      const adminBytes = Math.min(adminInFlight * adminBodyBytes, mostBytes)
      return {
        shares: new FairShares({ requests: inFlight, bytes, keptPercent }, refused),
        adminShares: new FairShares({ requests: adminInFlight, bytes: adminBytes, keptPercent }, refused),
        draining: false
      }
    })
  )
}
