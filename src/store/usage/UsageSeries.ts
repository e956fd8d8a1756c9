// The sums of minutes, hours and days in the store: written with each batch of requests, and read page by page.
// Must not know when batches are written.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { LimitValues } from "../../domain/Limits.ts"
import { dayMillis } from "../../domain/time.ts"
import {
  type Bucket,
  bucketMillis,
  bucketNames,
  durationBounds,
  seriesGroupings,
  seriesPage,
  type SeriesPage,
  type SeriesPoint,
  type SeriesQuery,
  type SeriesSums,
  type TopEntry,
  type TopQuery,
  type TopSum
} from "../../domain/usage/usageSeries.ts"
import { bulkInsert } from "../database/BulkRows.ts"

const bandNumbers = [...durationBounds.keys(), durationBounds.length]
const bands = bandNumbers.map((band) => `band_${band}`)
const firstBands = bandNumbers.map((band) => `first_${band}`)
const sumNames = [
  "requests",
  "errors",
  "input",
  "output",
  "cached",
  "cost_micros",
  "duration_millis",
  "overhead_micros",
  "hits",
  ...bands,
  ...firstBands
]
const added = sumNames.map((name) => `${name} = usage_series.${name} + excluded.${name}`).join(", ")

/** The values of the columns, in their order. */
const valuesOf = ({ bucket, name, scope, startMillis, sums }: SeriesPoint): ReadonlyArray<string | number> => [
  bucket,
  scope,
  name,
  startMillis,
  sums.requests,
  sums.errors,
  sums.input,
  sums.output,
  sums.cached,
  sums.costMicros,
  Math.round(sums.durationMillis),
  Math.round(sums.overheadMillis * 1000),
  sums.hits,
  ...bandNumbers.map((band) => sums.bands[band] ?? 0),
  ...bandNumbers.map((band) => sums.firstBands[band] ?? 0)
]

const insertPoints = bulkInsert({
  table: "usage_series",
  texts: ["bucket", "scope", "name"],
  numbers: ["start_millis", ...sumNames],
  then: `ON CONFLICT (bucket, scope, start_millis, name) DO UPDATE SET ${added}`
})

/** Adds these points to the stored ones, in one statement on PostgreSQL. */
export const addSeries = (
  sql: SqlClient.SqlClient,
  points: ReadonlyArray<SeriesPoint>
): Effect.Effect<void, SqlError> => Effect.asVoid(insertPoints(sql, points.map(valuesOf)))

/** Deletes the points that end before the time they are kept; those of days go together with the sums of the day. */
export const trimSeries = (
  sql: SqlClient.SqlClient,
  { usageDays, usageHourDays, usageMinuteDays }: LimitValues,
  nowMillis: number
): Effect.Effect<void, SqlError> => {
  const days: Readonly<Record<Bucket, number>> = { minute: usageMinuteDays, hour: usageHourDays, day: usageDays }
  return Effect.forEach(
    bucketNames,
    (bucket) =>
      sql`DELETE FROM usage_series WHERE bucket = ${bucket} AND ${sql.in("scope", ["all", ...seriesGroupings])}
        AND start_millis <= ${nowMillis - days[bucket] * dayMillis - bucketMillis[bucket]}`,
    { discard: true }
  )
}

type Row = Readonly<Record<string, number>> & { readonly name: string }

const sumsOf = (row: Row): SeriesSums => {
  const number = (name: string): number => row[name] ?? 0
  return {
    requests: number("requests"),
    errors: number("errors"),
    input: number("input"),
    output: number("output"),
    cached: number("cached"),
    costMicros: number("cost_micros"),
    durationMillis: number("duration_millis"),
    overheadMillis: number("overhead_micros") / 1000,
    hits: number("hits"),
    bands: bands.map(number),
    firstBands: firstBands.map(number)
  }
}

/** The points of a dimension that begin within a time. */
const within = (
  sql: SqlClient.SqlClient,
  { bucket, from = 0, scope, to = Number.MAX_SAFE_INTEGER }: Omit<SeriesQuery, "limit">
) =>
  sql`usage_series WHERE bucket = ${bucket} AND scope = ${scope} AND start_millis >= ${from} AND start_millis < ${to}`

export const readSeries = (sql: SqlClient.SqlClient, query: SeriesQuery): Effect.Effect<SeriesPage, SqlError> => {
  const { bucket, cursor, limit, scope } = query
  const after =
    cursor === undefined ? sql.literal("") : sql`AND (start_millis, name) > (${cursor.startMillis}, ${cursor.name})`
  return Effect.map(
    sql<Row>`SELECT * FROM ${within(sql, query)} ${after} ORDER BY start_millis, name LIMIT ${limit + 1}`,
    (rows) =>
      seriesPage(
        rows.map((row): SeriesPoint => ({
          bucket,
          scope,
          startMillis: row["start_millis"] ?? 0,
          name: row.name,
          sums: sumsOf(row)
        })),
        limit
      )
  )
}

/** PostgreSQL's SUM of whole numbers is a decimal. */
const summed = sumNames.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ")

const topColumns: Readonly<Record<TopSum, string>> = {
  requests: "SUM(requests)",
  errors: "SUM(errors)",
  tokens: "SUM(input) + SUM(output)",
  cost: "SUM(cost_micros)"
}

export const readTop = (sql: SqlClient.SqlClient, query: TopQuery): Effect.Effect<ReadonlyArray<TopEntry>, SqlError> =>
  Effect.map(
    sql<Row>`SELECT name, ${sql.literal(summed)} FROM ${within(sql, query)}
      GROUP BY name ORDER BY ${sql.literal(topColumns[query.top])} DESC, name LIMIT ${query.limit}`,
    (rows) => rows.map((row) => ({ name: row.name, sums: sumsOf(row) }))
  )
