// Usage over time: sums of each minute, hour and day by one dimension, and the periods that a span of past days consists of.
// It must not know where sums are stored.
import type * as Types from "effect/Types"
import { costMicrosOf, type CountedNames, endedMillisOf, type RequestRow } from "../RequestRow.ts"
import { dayMillis, dayOf } from "../time.ts"
import { add, type Sums, type UsageBucket } from "./usageSums.ts"

const minuteMillis = 60 * 1000
export const bucketMillis = { minute: minuteMillis, hour: 60 * minuteMillis, day: dayMillis } as const
export type Bucket = keyof typeof bucketMillis
export const bucketNames = ["minute", "hour", "day"] as const satisfies ReadonlyArray<Bucket>

/** The dimensions of a series; `status` is the class of the status, such as `5xx`, and `error` the code of the error. */
export const seriesGroupings = ["key", "provider", "model", "status", "error"] as const
export type SeriesGrouping = (typeof seriesGroupings)[number]
/** A series of all requests has no dimension. */
export type SeriesScope = SeriesGrouping | "all"

/** Upper bounds of the bands of durations in milliseconds; a last band has what took longer. */
export const durationBounds = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000] as const
const noBands: ReadonlyArray<number> = [...durationBounds.map(() => 0), 0]

export interface SeriesSums extends Sums {
  readonly durationMillis: number
  /** The time that the gateway added. */
  readonly overheadMillis: number
  /** Answers from the cache. */
  readonly hits: number
  /** Requests by band of their duration. */
  readonly bands: ReadonlyArray<number>
  /** Streams by band of the time to their first token, in the same bands. */
  readonly firstBands: ReadonlyArray<number>
}

/** The sums of one bucket of time, of all requests or of one value of a dimension. */
export interface SeriesPoint {
  readonly bucket: Bucket
  readonly scope: SeriesScope
  readonly startMillis: number
  /** Empty for all requests, and for requests without the dimension. */
  readonly name: string
  readonly sums: SeriesSums
}

export interface SeriesQuery {
  readonly bucket: Bucket
  readonly scope: SeriesScope
  /** Moments in milliseconds: buckets that begin from the first on and before the second. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit: number
  /** The point after which the page starts. */
  readonly cursor?: { readonly startMillis: number; readonly name: string } | undefined
}

/** By which of its sums a dimension has its highest values. */
export const topSums = ["requests", "errors", "tokens", "cost"] as const
export type TopSum = (typeof topSums)[number]

/** The values of a dimension with the highest sums of a time. */
export interface TopQuery extends Omit<SeriesQuery, "cursor"> {
  readonly top: TopSum
}

/** One value of a dimension with the sums of the whole time. */
export interface TopEntry {
  readonly name: string
  readonly sums: SeriesSums
}

/** Sorted by start and name; `next` is the cursor of the next page. */
export interface SeriesPage {
  readonly points: ReadonlyArray<SeriesPoint>
  readonly next: SeriesQuery["cursor"]
}

/** The page of at most `limit` points, out of `limit + 1` points that were read. */
export const seriesPage = (points: ReadonlyArray<SeriesPoint>, limit: number): SeriesPage => {
  const last = points.length > limit ? points[limit - 1] : undefined
  return {
    points: points.slice(0, limit),
    next: last === undefined ? undefined : { startMillis: last.startMillis, name: last.name }
  }
}

type MutableSums = Types.Mutable<Omit<SeriesSums, "bands" | "firstBands">> & {
  readonly bands: Array<number>
  readonly firstBands: Array<number>
}

/** The sums of one minute of requests that are alike in every dimension. */
interface Alike {
  readonly minute: number
  readonly names: Readonly<Record<SeriesGrouping | "config" | "client" | "metadata", string>>
  readonly sums: MutableSums
  lastMillis: number
}

const noSums = (): MutableSums => ({
  requests: 0,
  errors: 0,
  input: 0,
  output: 0,
  cached: 0,
  costMicros: 0,
  durationMillis: 0,
  overheadMillis: 0,
  hits: 0,
  bands: [...noBands],
  firstBands: [...noBands]
})

const bandOf = (millis: number): number => {
  const band = durationBounds.findIndex((bound) => millis <= bound)
  return band < 0 ? durationBounds.length : band
}

const countIn = (bands: Array<number>, band: number, requests: number): void => {
  bands[band] = (bands[band] ?? 0) + requests
}

const addSeries = (sums: MutableSums, more: SeriesSums): void => {
  add(sums, more)
  sums.durationMillis += more.durationMillis
  sums.overheadMillis += more.overheadMillis
  sums.hits += more.hits
  for (const [band, requests] of more.bands.entries()) countIn(sums.bands, band, requests)
  for (const [band, requests] of more.firstBands.entries()) countIn(sums.firstBands, band, requests)
}

const statusClasses = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx", "6xx", "7xx", "8xx", "9xx"]

const areSame = (one: Alike["names"], other: Alike["names"]): boolean =>
  one.key === other.key &&
  one.model === other.model &&
  one.status === other.status &&
  one.error === other.error &&
  one.provider === other.provider &&
  one.config === other.config &&
  one.client === other.client &&
  one.metadata === other.metadata

/** Adds requests up as they end: one entry a minute for requests that are alike. Everything else is derived from these. */
export class RecentUsage {
  private readonly entries = new Map<string, Alike>()
  private latest: Alike | undefined

  /** The entry of a request, which most often is that of the request before. */
  private entryOf(row: RequestRow, endedMillis: number, { client, metadata, model }: CountedNames): Alike {
    const { config = "", error_code: error = "", key_id: key = "", provider = "" } = row
    const minute = Math.floor(endedMillis / minuteMillis)
    const status = statusClasses[Math.floor(row.status / 100)] ?? ""
    const names = { key, provider, model, status, error, config, client, metadata }
    if (this.latest?.minute === minute && areSame(this.latest.names, names)) return this.latest
    const name = `${minute}\n${status}\n${error}\n${key}\n${provider}\n${model}\n${config}\n${client}\n${metadata}`
    let entry = this.entries.get(name)
    if (entry === undefined) {
      entry = { minute, names, sums: noSums(), lastMillis: 0 }
      this.entries.set(name, entry)
    }
    this.latest = entry
    return entry
  }

  /** Returns the names that the request is counted under; requests that are alike share them. */
  add(row: RequestRow, counted: CountedNames): CountedNames {
    const { duration_ms: durationMillis } = row
    const endedMillis = endedMillisOf(row)
    const entry = this.entryOf(row, endedMillis, counted)
    entry.lastMillis = Math.max(entry.lastMillis, endedMillis)
    const { sums } = entry
    sums.requests++
    sums.durationMillis += durationMillis
    sums.overheadMillis += row.overhead_ms
    if (row.cache === "HIT") sums.hits++
    countIn(sums.bands, bandOf(durationMillis), 1)
    if (row.ttft_ms !== undefined) countIn(sums.firstBands, bandOf(row.ttft_ms), 1)
    if (row.error_code !== undefined) sums.errors++
    if (row.usage !== undefined) {
      sums.input += row.usage.input_tokens
      sums.output += row.usage.output_tokens
      sums.cached += row.usage.cached_tokens
    }
    sums.costMicros += costMicrosOf(row)
    return entry.names
  }

  get size(): number {
    return this.entries.size
  }

  clear(): void {
    this.entries.clear()
    this.latest = undefined
  }

  /** Adds the sums of each day to its buckets. */
  addDays(buckets: Map<string, UsageBucket>): void {
    for (const { lastMillis, minute, names, sums } of this.entries.values()) {
      const { client, config, key, metadata, model, provider } = names
      const day = dayOf(minute * minuteMillis)
      const name = `${day}\n${key}\n${provider}\n${model}\n${config}\n${client}\n${metadata}`
      let bucket = buckets.get(name)
      if (bucket === undefined) {
        bucket = {
          by: { day, key, provider, model, config, client, metadata },
          sums: { requests: 0, errors: 0, input: 0, output: 0, cached: 0, costMicros: 0 },
          lastMillis: 0
        }
        buckets.set(name, bucket)
      }
      bucket.lastMillis = Math.max(bucket.lastMillis, lastMillis)
      add(bucket.sums, sums)
    }
  }

  /** Adds the sums of each minute, hour and day to its points, of which the latest changed are last. */
  addPoints(points: Map<string, SeriesPoint & { readonly sums: MutableSums }>): void {
    for (const { minute, names, sums } of this.entries.values()) {
      for (const bucket of bucketNames) {
        const millis = bucketMillis[bucket]
        const startMillis = Math.floor((minute * minuteMillis) / millis) * millis
        for (const scope of ["all", ...seriesGroupings] as const) {
          const name = scope === "all" ? "" : names[scope]
          const id = `${bucket}\n${scope}\n${startMillis}\n${name}`
          const point = points.get(id) ?? { bucket, scope, startMillis, name, sums: noSums() }
          addSeries(point.sums, sums)
          points.delete(id)
          points.set(id, point)
        }
      }
    }
  }
}

export type SeriesPoints = Parameters<RecentUsage["addPoints"]>[0]

const isBefore = (one: Pick<SeriesPoint, "startMillis" | "name">, other: Pick<SeriesPoint, "startMillis" | "name">) =>
  one.startMillis === other.startMillis ? one.name < other.name : one.startMillis < other.startMillis

const isWithin = (point: SeriesPoint, { bucket, from, scope, to }: Omit<SeriesQuery, "limit">): boolean =>
  point.bucket === bucket &&
  point.scope === scope &&
  (from === undefined || point.startMillis >= from) &&
  (to === undefined || point.startMillis < to)

/** The matching points. */
export const findPoints = (points: Iterable<SeriesPoint>, query: SeriesQuery): SeriesPage => {
  const { cursor, limit } = query
  const later = Array.from(points).filter(
    (point) => isWithin(point, query) && (cursor === undefined || isBefore(cursor, point))
  )
  return seriesPage(later.toSorted((one, other) => (isBefore(one, other) ? -1 : 1)).slice(0, limit + 1), limit)
}

const topValues: Readonly<Record<TopSum, (sums: Sums) => number>> = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  tokens: ({ input, output }) => input + output,
  cost: ({ costMicros }) => costMicros
}

/** The values with the highest sums of the matching points, highest first. */
export const findTop = (points: Iterable<SeriesPoint>, query: TopQuery): ReadonlyArray<TopEntry> => {
  const entries = new Map<string, MutableSums>()
  for (const point of points) {
    if (!isWithin(point, query)) continue
    const sums = entries.get(point.name) ?? noSums()
    addSeries(sums, point.sums)
    entries.set(point.name, sums)
  }
  const valueOf = topValues[query.top]
  return Array.from(entries, ([name, sums]) => ({ name, sums }))
    .toSorted((one, other) => valueOf(other.sums) - valueOf(one.sums) || (one.name < other.name ? -1 : 1))
    .slice(0, query.limit)
}

// Periods of past days: months, and parts of months by the first digit of the day. A span of days is few of them.

/** A period is the beginning of its days: `2027-01`, or `2027-01-1` from the 10th to the 19th. The longest come first. */
export const periodLengths = [7, 9] as const
export type PeriodLength = (typeof periodLengths)[number]

/** The day so many days after this one. */
export const dayAfter = (day: string, days = 1): string => dayOf(Date.parse(day) + days * dayMillis)

/** The last day of the period of this length that begins on this day; undefined when none begins. */
const periodFrom = (day: string, length: number): string | undefined => {
  const period = day.slice(0, length)
  if (dayAfter(day, -1).startsWith(period)) return undefined
  let last = day
  for (let next = dayAfter(day); next.startsWith(period); next = dayAfter(next)) last = next
  return last
}

export interface Cover {
  readonly periods: ReadonlyArray<string>
  /** Days that no period covers. */
  readonly days: ReadonlyArray<string>
  /** The first of the days after those. */
  readonly rest: string
}

/** Covers the days from the first to the last with periods. `through` has the last day that is in periods of a length. */
export const coverDays = (first: string, last: string, through: Readonly<Record<PeriodLength, string>>): Cover => {
  const periods: Array<string> = []
  const days: Array<string> = []
  const ends = Object.values(through).toSorted()
  const end = [ends.at(-1) ?? "", last].toSorted()[0] ?? ""
  let day = first
  while (day <= end) {
    const period = periodLengths
      .map((length) => ({ length, until: periodFrom(day, length) }))
      .find(({ length, until }) => until !== undefined && until <= last && until <= through[length])
    if (period === undefined) days.push(day)
    else periods.push(day.slice(0, period.length))
    day = dayAfter(period?.until ?? day)
  }
  return { periods, days, rest: day }
}
