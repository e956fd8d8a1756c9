// Merges the metric series of several processes into one set, for a scrape of any of them.
// Must not know what is measured; the table of metrics has the rule of each.
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { metrics, type MetricSpec } from "./metrics.ts"

/** A series at one moment, as plain JSON. */
export interface SeriesValue {
  readonly id: string
  readonly description?: string | undefined
  readonly attributes?: Readonly<Record<string, string>> | undefined
  readonly value: number | Metric.HistogramState
}

/** The registry to show instead of the one of this process, where several processes serve together. */
export const SharedRegistry: Context.Reference<Effect.Effect<Context.Context<never>> | undefined> = Context.Reference<
  Effect.Effect<Context.Context<never>> | undefined
>("gateway/telemetry/SharedRegistry", { defaultValue: () => undefined })

const specs: ReadonlyMap<string, MetricSpec> = new Map(Object.values(metrics).map((spec) => [spec.name, spec]))

/** The series of this context's registry that the service counts. */
export const seriesValues = (context: Context.Context<never>): ReadonlyArray<SeriesValue> =>
  Metric.snapshotUnsafe(context).flatMap(({ attributes, description, id, state, type }) => {
    const value =
      type === "Counter"
        ? Number(state.count)
        : type === "Gauge"
          ? Number(state.value)
          : type === "Histogram"
            ? state
            : 0
    return specs.has(id) ? [{ id, description, attributes, value }] : []
  })

const mergedHistogram = (one: Metric.HistogramState, other: Metric.HistogramState): Metric.HistogramState => ({
  buckets: one.buckets.map(([bound, count], at): [number, number] => [bound, count + (other.buckets[at]?.[1] ?? 0)]),
  count: one.count + other.count,
  sum: one.sum + other.sum,
  min: Math.min(one.min, other.min),
  max: Math.max(one.max, other.max)
})

const mergedValue = (
  across: MetricSpec["across"],
  one: SeriesValue["value"],
  other: SeriesValue["value"]
): SeriesValue["value"] => {
  if (typeof one === "number" && typeof other === "number")
    return across === "max" ? Math.max(one, other) : across === "min" ? Math.min(one, other) : one + other
  return typeof one === "number" || typeof other === "number" ? one : mergedHistogram(one, other)
}

/** One series for each metric and labels, in the order of their first process. */
export const mergeSeries = (processes: ReadonlyArray<ReadonlyArray<SeriesValue>>): ReadonlyArray<SeriesValue> => {
  const merged = new Map<string, SeriesValue>()
  for (const series of processes.flat()) {
    const key = JSON.stringify([series.id, Object.entries(series.attributes ?? {}).toSorted()])
    const before = merged.get(key)
    merged.set(
      key,
      before === undefined
        ? series
        : { ...before, value: mergedValue(specs.get(series.id)?.across, before.value, series.value) }
    )
  }
  return [...merged.values()]
}

/** What stays of a process that has ended: its counters and histograms. A counter that fell would read as a restart. */
export const lastingSeries = (series: ReadonlyArray<SeriesValue>): ReadonlyArray<SeriesValue> =>
  series.filter(({ id }) => specs.get(id)?.kind !== "gauge")

/** A registry of these values, for an exporter. */
export const registryOf = (series: ReadonlyArray<SeriesValue>): Context.Context<never> => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { attributes = {}, description = "", id, value } of series) {
    const spec = specs.get(id)
    const made = { description, attributes }
    if (typeof value !== "number") {
      const boundaries = spec?.buckets ?? []
      Metric.registerUnsafe(Metric.histogram(id, { ...made, boundaries }), context, readOnly(value))
    } else if (spec?.kind === "counter") {
      const counter = Metric.counter(id, { ...made, incremental: true })
      Metric.registerUnsafe(counter, context, readOnly({ count: value, incremental: true }))
    } else Metric.registerUnsafe(Metric.gauge(id, made), context, readOnly({ value }))
  }
  return context
}

const readOnly = <State>(state: State) => ({ get: () => state, update: () => undefined, modify: () => undefined })
