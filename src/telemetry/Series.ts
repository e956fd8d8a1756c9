// Metric series (counter, gauge, histogram) as plain numbers in Effect's metric registry, and the series of several processes as one set.
// Must not know what is measured; the table of metrics has the rule of each.
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import { metrics, type MetricSpec } from "./metrics.ts"
import type * as Effect from "effect/Effect"

export type Labels = Readonly<Record<string, string>>

export class Counter {
  count = 0
  add(amount: number): void {
    this.count += amount
  }
}

export class Gauge {
  value = 0
}

/** Counts of values per bucket; the last bucket takes values over all bounds. */
export class Histogram {
  private readonly bounds: ReadonlyArray<number>
  private readonly counts: Array<number>
  private count = 0
  private sum = 0
  private min = Number.MAX_VALUE
  private max = -Number.MAX_VALUE

  constructor({ buckets = [] }: MetricSpec) {
    this.bounds = buckets
    this.counts = Array<number>(buckets.length + 1).fill(0)
  }

  observe(value: number, times = 1): void {
    const { bounds, counts } = this
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++
    counts[at] = (counts[at] ?? 0) + times
    this.count += times
    this.sum += value * times
    if (value < this.min) this.min = value
    if (value > this.max) this.max = value
  }

  /** Adds the counts of another histogram with the same bounds. */
  merge(other: Histogram): void {
    for (let at = 0; at < this.counts.length; at++) this.counts[at] = (this.counts[at] ?? 0) + (other.counts[at] ?? 0)
    this.count += other.count
    this.sum += other.sum
    this.min = Math.min(this.min, other.min)
    this.max = Math.max(this.max, other.max)
  }

  state(): Metric.HistogramState {
    let below = 0
    const buckets = this.bounds.map((bound, at): [number, number] => [bound, (below += this.counts[at] ?? 0)])
    const { count, max, min, sum } = this
    return { buckets, count, min, max, sum }
  }
}

const hooks = <State>(get: () => State) => ({ get, update: () => undefined, modify: () => undefined })

/** Effect has no field for the unit, so it is an attribute, which exporters remove again. */
const options = ({ description, unit }: MetricSpec, labels: Labels) => ({
  description,
  attributes: unit === undefined ? labels : { ...labels, unit }
})

/** The series of one metric registry. The same metric and labels always give the same series. */
export class SeriesRegistry {
  private static readonly byOwner = new WeakMap<object, SeriesRegistry>()
  private readonly context: Context.Context<never>
  private readonly counters = new Map<string, Counter>()
  private readonly gauges = new Map<string, Gauge>()
  private readonly histograms = new Map<string, Histogram>()

  /** For the metric registry in the context: several gateways of one process share their series. */
  static of(context: Context.Context<never>): SeriesRegistry {
    const owner = Context.get(context, Metric.MetricRegistry)
    const existing = SeriesRegistry.byOwner.get(owner)
    if (existing !== undefined) return existing
    const made = new SeriesRegistry(Context.make(Metric.MetricRegistry, owner))
    SeriesRegistry.byOwner.set(owner, made)
    return made
  }

  private constructor(context: Context.Context<never>) {
    this.context = context
  }

  counter(spec: MetricSpec, labels: Labels): Counter {
    return getOrMake(this.counters, spec, labels, () => {
      const series = new Counter()
      this.read(spec, labels, () => series.count)
      return series
    })
  }

  gauge(spec: MetricSpec, labels: Labels): Gauge {
    return getOrMake(this.gauges, spec, labels, () => {
      const series = new Gauge()
      this.read(spec, labels, () => series.value)
      return series
    })
  }

  histogram(spec: MetricSpec, labels: Labels): Histogram {
    return getOrMake(this.histograms, spec, labels, () => {
      const series = new Histogram(spec)
      const metric = Metric.histogram(spec.name, { ...options(spec, labels), boundaries: spec.buckets ?? [] })
      Metric.registerUnsafe(
        metric,
        this.context,
        hooks(() => series.state())
      )
      return series
    })
  }

  /** A number that is computed at each scrape or export. */
  read(spec: MetricSpec, labels: Labels, get: () => number): void {
    const registered = options(spec, labels)
    if (spec.kind === "counter") {
      const metric = Metric.counter(spec.name, { ...registered, incremental: true })
      Metric.registerUnsafe(
        metric,
        this.context,
        hooks(() => ({ count: get(), incremental: true }))
      )
    } else {
      Metric.registerUnsafe(
        Metric.gauge(spec.name, registered),
        this.context,
        hooks(() => ({ value: get() }))
      )
    }
  }
}

const getOrMake = <Kind>(series: Map<string, Kind>, { name }: MetricSpec, labels: Labels, make: () => Kind): Kind => {
  const key = JSON.stringify([name, labels])
  const existing = series.get(key)
  if (existing !== undefined) return existing
  const made = make()
  series.set(key, made)
  return made
}

// Merges the metric series of several processes into one set, for a scrape of any of them.

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

const specsByName: ReadonlyMap<string, MetricSpec> = new Map(Object.values(metrics).map((spec) => [spec.name, spec]))

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
    return specsByName.has(id) ? [{ id, description, attributes, value }] : []
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
        : { ...before, value: mergedValue(specsByName.get(series.id)?.across, before.value, series.value) }
    )
  }
  return [...merged.values()]
}

/** What stays of a process that has ended: its counters and histograms. A counter that fell would read as a restart. */
export const lastingSeries = (series: ReadonlyArray<SeriesValue>): ReadonlyArray<SeriesValue> =>
  series.filter(({ id }) => specsByName.get(id)?.kind !== "gauge")

/** A registry of these values, for an exporter. */
export const registryOf = (series: ReadonlyArray<SeriesValue>): Context.Context<never> => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { attributes = {}, description = "", id, value } of series) {
    const spec = specsByName.get(id)
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
