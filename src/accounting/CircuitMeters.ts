// The metric of circuit states: for each target the worst state among its circuits, of which each key and rule has its own.
// Must not know how a circuit opens.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Prices } from "../catalog/Prices.ts"
import { Limits } from "../domain/Limits.ts"
import { type Circuit, type CircuitState, CircuitStates } from "../state/Circuits.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

const levels: Readonly<Record<CircuitState, number>> = { Closed: 0, HalfOpen: 1, Open: 2 }

/** Only targets that have failed have a series. Model labels come from a closed set (TH32). */
export const circuitMetersLayer: Layer.Layer<never, never, Prices> = Layer.effect(
  CircuitStates,
  Effect.gen(function* () {
    const prices = yield* Prices
    const registry = SeriesRegistry.of(yield* Effect.context<never>())
    const { circuitIdleMillis } = yield* Limits
    /**
     * By target the circuits that are not closed, with the time of the observation. Idle entries expire like the
     * circuits.
     */
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
