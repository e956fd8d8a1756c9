// Sums, percentiles and histograms of requests between two moments.
// Must not know where the requests come from.
import type { AdminRequest } from "../api/AdminResources.ts"

type Row = typeof AdminRequest.Type

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
export const top = (
  rows: ReadonlyArray<Row>,
  name: (row: Row) => string | undefined,
  value: (row: Row) => number,
  most: number
): ReadonlyArray<readonly [name: string, value: number]> => {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const key = name(row)
    if (key !== undefined) sums.set(key, (sums.get(key) ?? 0) + value(row))
  }
  return [...sums].toSorted(([, a], [, b]) => b - a).slice(0, most)
}
