// The state of circuits as a metric: of each target the worst of its circuits, which callers and rules have each of their own.
// It must not know how a circuit opens.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Prices } from "../catalog/Prices.ts"
import { Limits } from "../domain/Limits.ts"
import { type Circuit, type CircuitState, CircuitStates } from "../state/Circuits.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

const levels: Readonly<Record<CircuitState, number>> = { Closed: 0, HalfOpen: 1, Open: 2 }

/** Targets that have failed; the others have no series. Models are counted under their names of the closed set (TH32). */
export const circuitMetersLayer: Layer.Layer<never, never, Prices> = Layer.effect(
  CircuitStates,
  Effect.gen(function* () {
    const prices = yield* Prices
    const registry = SeriesRegistry.of(yield* Effect.context<never>())
    const { circuitIdleMillis } = yield* Limits
    /** Of each target the circuits that are not closed, and when that was seen. What is long forgotten there is forgotten here. */
    const troubled = new Map<string, Map<string, { readonly level: number; readonly atMillis: number }>>()
    const note = ({ modelId, slug }: Circuit, part: string, state: CircuitState, nowMillis: number): void => {
      const counted = prices.counted(slug, modelId, nowMillis)
      if (counted === undefined) return
      const target = `${slug}/${counted.label}`
      const parts = troubled.get(target) ?? new Map<string, { level: number; atMillis: number }>()
      troubled.set(target, parts)
      parts.delete(part)
      if (state !== "Closed") parts.set(part, { level: levels[state], atMillis: nowMillis })
      let worst = 0
      for (const [name, { atMillis, level }] of parts) {
        if (nowMillis - atMillis >= circuitIdleMillis) parts.delete(name)
        else worst = Math.max(worst, level)
      }
      registry.gauge(metrics.circuitState, { target }).value = worst
    }
    return (circuit, part, state) =>
      Effect.andThen(
        prices.load,
        Effect.clockWith((clock) => Effect.sync(() => note(circuit, part, state, clock.currentTimeMillisUnsafe())))
      )
  })
)
