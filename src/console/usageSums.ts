// Sums of usage: over time, by name, the durations that a share of the requests kept to, and what is left of a budget.
// It must not know where usage comes from.
import type { AdminUsage } from "../api/AdminResources.ts"

type Row = typeof AdminUsage.Type
type Rows = ReadonlyArray<Row>

const minute = 60_000
export const bucketMillis = { minute, hour: 60 * minute, day: 24 * 60 * minute } as const
export type Bucket = keyof typeof bucketMillis

/** A range of time that ends with the bucket of this moment, in equal buckets. */
export interface Frame {
  readonly bucket: Bucket
  /** The begins of its buckets, in milliseconds. */
  readonly starts: ReadonlyArray<number>
  readonly from: number
  readonly to: number
  /** The begin of the range of the same length before. */
  readonly before: number
}

export const frameOf = (now: number, bucket: Bucket, parts: number): Frame => {
  const millis = bucketMillis[bucket]
  const to = Math.floor(now / millis) * millis + millis
  const from = to - parts * millis
  return {
    bucket,
    starts: Array.from({ length: parts }, (_, part) => from + part * millis),
    from,
    to,
    before: from - parts * millis
  }
}

export interface Sums {
  readonly requests: number
  readonly errors: number
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cost: number
  readonly hits: number
  readonly overhead: number
  readonly bands: ReadonlyArray<number>
  readonly firstBands: ReadonlyArray<number>
}

const bandSums = (rows: Rows, of: (row: Row) => ReadonlyArray<number> | undefined): ReadonlyArray<number> => {
  const sums: Array<number> = []
  for (const row of rows)
    for (const [band, requests] of (of(row) ?? []).entries()) sums[band] = (sums[band] ?? 0) + requests
  return sums
}

export const sumRows = (rows: Rows): Sums => {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    input: sum((row) => row.input_tokens),
    output: sum((row) => row.output_tokens),
    cached: sum((row) => row.cached_tokens),
    cost: sum((row) => row.cost_usd),
    hits: sum((row) => row.cache_hits ?? 0),
    overhead: sum((row) => row.overhead_ms ?? 0),
    bands: bandSums(rows, (row) => row.duration_bands),
    firstBands: bandSums(rows, (row) => row.ttft_bands)
  }
}

/** Upper bounds of the bands of the admin API in milliseconds; the last band has none. */
const bounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000]

/** The time that a share of the requests kept to: within its band as if they were spread evenly. */
export const quantile = (bands: ReadonlyArray<number>, share: number): number | undefined => {
  const wanted = bands.reduce((total, requests) => total + requests, 0) * share
  if (wanted === 0) return undefined
  let below = 0
  for (const [band, requests] of bands.entries()) {
    const low = bounds[band - 1] ?? 0
    const high = bounds[band] ?? low
    if (below + requests >= wanted) return low + ((high - low) * (wanted - below)) / requests
    below += requests
  }
  return bounds.at(-1)
}

export const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

/** A value of each bucket of a frame; buckets without requests have the value of no rows. */
export const timeline = (frame: Frame, rows: Rows, of: (rows: Rows) => number): ReadonlyArray<number> => {
  const byStart = new Map<number, Array<Row>>()
  for (const row of rows) {
    const start = Date.parse(row.start ?? "")
    const sameStart = byStart.get(start)
    if (sameStart === undefined) byStart.set(start, [row])
    else sameStart.push(row)
  }
  return frame.starts.map((start) => of(byStart.get(start) ?? []))
}

/** Requests of these bands together. */
export const inBands =
  (first: number, last: number) =>
  (rows: Rows): number =>
    sumRows(rows)
      .bands.slice(first, last + 1)
      .reduce((total, requests) => total + requests, 0)

// What is left of a budget over its period, and what it comes to at the rate so far.

const hourMillis = 60 * 60 * 1000
const dayMillis = 24 * hourMillis

/** A budget period in UTC, in equal parts: hours of a day, or days of a month. */
export interface Period {
  readonly from: number
  readonly to: number
  readonly starts: ReadonlyArray<number>
}

export const periodAt = (per: "day" | "month", now: number): Period => {
  const at = new Date(now)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  const from = Date.UTC(year, month, per === "day" ? at.getUTCDate() : 1)
  const to = per === "day" ? from + dayMillis : Date.UTC(year, month + 1)
  const part = per === "day" ? hourMillis : dayMillis
  return { from, to, starts: Array.from({ length: Math.round((to - from) / part) }, (_, index) => from + index * part) }
}

export interface BurnDown {
  /** What was left at the begin of each part, and at the end of the period; null for parts to come. */
  readonly left: ReadonlyArray<number | null>
  /** The same from now on at the rate so far; null before. */
  readonly ahead: ReadonlyArray<number | null>
  /** What is spent at the end of the period at that rate. */
  readonly total: number
  /** When nothing is left at that rate; undefined where that is after the period. */
  readonly emptyAt: number | undefined
}

/** `spentIn` has what was spent in each part. */
export const burnDown = (
  budget: number,
  { from, starts, to }: Period,
  spentIn: ReadonlyArray<number>,
  now: number
): BurnDown => {
  const moments = [...starts, to]
  const before = (moment: number): number =>
    starts.reduce((sum, start, index) => (start < moment ? sum + (spentIn[index] ?? 0) : sum), 0)
  const spent = before(to)
  const rate = spent / Math.max(now - from, 1)
  const emptyAt = rate === 0 ? undefined : Math.max(now, now + (budget - spent) / rate)
  const current = moments.findLastIndex((moment) => moment <= now)
  const leftAt = (moment: number): number => Math.max(0, budget - before(moment))
  return {
    left: moments.map((moment, index) =>
      index <= current ? leftAt(moment) : index === current + 1 ? leftAt(to) : null
    ),
    ahead: moments.map((moment, index) =>
      index <= current ? null : Math.max(0, budget - spent - rate * Math.max(0, moment - now))
    ),
    total: spent + rate * (to - now),
    emptyAt: emptyAt === undefined || emptyAt >= to ? undefined : emptyAt
  }
}
