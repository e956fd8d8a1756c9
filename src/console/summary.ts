// Sums, percentiles and histograms of requests between two moments.
// Must not know where the requests come from.
import type { AdminRequest, AdminUsage } from "../api/AdminResources.ts"

type Row = typeof AdminRequest.Type
type Usage = typeof AdminUsage.Type

export interface Summary {
  readonly requests: number
  readonly errors: number
  readonly p50: number | undefined
  readonly p95: number | undefined
  /** Median time to the first token of streams. */
  readonly ttft: number | undefined
  /** Median time that the gateway added. */
  readonly overhead: number | undefined
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cost: number
  readonly hits: number
}

/** The value at a share of the sorted values, by the nearest rank. */
export const percentile = (values: ReadonlyArray<number>, share: number): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
}

const sum = (rows: ReadonlyArray<Row>, of: (row: Row) => number | undefined): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0)

/** The requests that ended from `from` on and before `to`, in milliseconds. */
export const between = (rows: ReadonlyArray<Row>, from: number, to: number): ReadonlyArray<Row> =>
  rows.filter(({ ts }) => {
    const at = Date.parse(ts)
    return at >= from && at < to
  })

/** True for an answer from the cache. */
const isHit = ({ cache }: Row): boolean => cache === "HIT"

export const summarize = (rows: ReadonlyArray<Row>): Summary => {
  const durations = rows.map(({ duration_ms: millis }) => millis)
  return {
    requests: rows.length,
    errors: rows.filter(({ status }) => status >= 400).length,
    p50: percentile(durations, 0.5),
    p95: percentile(durations, 0.95),
    ttft: percentile(
      rows.flatMap(({ ttft_ms: millis }) => (millis === undefined ? [] : [millis])),
      0.5
    ),
    overhead: percentile(
      rows.map(({ overhead_ms: millis }) => millis),
      0.5
    ),
    input: sum(rows, ({ usage }) => usage?.input_tokens),
    output: sum(rows, ({ usage }) => usage?.output_tokens),
    cached: sum(rows, ({ usage }) => usage?.cached_tokens),
    cost: sum(rows, ({ cost_usd: cost }) => cost),
    hits: rows.filter(isHit).length
  }
}

/** Equal parts of a time, each with its requests. `seconds` are the begins of the parts since 1970. */
export interface Parts {
  readonly seconds: ReadonlyArray<number>
  readonly rows: ReadonlyArray<ReadonlyArray<Row>>
}

export const divide = (rows: ReadonlyArray<Row>, from: number, to: number, most: number): Parts => {
  const step = (to - from) / most
  const parts: Array<Array<Row>> = Array.from({ length: most }, () => [])
  for (const row of rows) parts[Math.floor((Date.parse(row.ts) - from) / step)]?.push(row)
  return { seconds: parts.map((_, index) => (from + index * step) / 1000), rows: parts }
}

/** The names with the highest sums, highest first. */
export const top = <A>(
  rows: ReadonlyArray<A>,
  name: (row: A) => string | undefined,
  value: (row: A) => number,
  most: number
): ReadonlyArray<readonly [name: string, value: number]> => {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const key = name(row)
    if (key !== undefined) sums.set(key, (sums.get(key) ?? 0) + value(row))
  }
  return [...sums].toSorted(([, a], [, b]) => b - a).slice(0, most)
}

export const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

/** Sums of usage rows. */
export interface UsageSums {
  readonly requests: number
  readonly errors: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cost: number
}

export const sumUsage = (rows: ReadonlyArray<Usage>): UsageSums => {
  const of = (value: (row: Usage) => number): number => rows.reduce((total, row) => total + value(row), 0)
  return {
    requests: of(({ requests }) => requests),
    errors: of(({ errors }) => errors),
    input: of((row) => row.input_tokens),
    output: of((row) => row.output_tokens),
    cached: of((row) => row.cached_tokens),
    cost: of((row) => row.cost_usd)
  }
}

/** The UTC day as `2027-01-31`, so many days before a moment. */
export const dayBefore = (millis: number, days: number): string =>
  new Date(millis - days * 24 * 60 * 60_000).toISOString().slice(0, 10)

/** The UTC days that end with the day of a moment, oldest first. */
export const daysUntil = (millis: number, days: number): ReadonlyArray<string> =>
  Array.from({ length: days }, (_, index) => dayBefore(millis, days - 1 - index))
