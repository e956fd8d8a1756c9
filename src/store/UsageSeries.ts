// The sums of minutes, hours and days in the store: written with each batch of requests, and read page by page.
// Must not know when batches are written.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { LimitValues } from "../domain/Limits.ts"
import { dayMillis } from "../domain/text/days.ts"
import {
  type Bucket,
  bucketNames,
  durationBounds,
  seriesPage,
  type SeriesPage,
  type SeriesPoint,
  type SeriesQuery
} from "../domain/usage/usageSeries.ts"

const bands = [...durationBounds.keys(), durationBounds.length].map((band) => `band_${band}`)
const sumNames = ["requests", "errors", "input", "output", "cached", "cost_micros", "duration_millis", ...bands]
const added = sumNames.map((name) => `${name} = usage_series.${name} + excluded.${name}`).join(", ")

/** Points of one statement. */
const pointsPerWrite = 100

const columnsOf = ({ bucket, name, scope, startMillis, sums }: SeriesPoint): Record<string, string | number> => ({
  bucket,
  scope,
  start_millis: startMillis,
  name,
  requests: sums.requests,
  errors: sums.errors,
  input: sums.input,
  output: sums.output,
  cached: sums.cached,
  cost_micros: sums.costMicros,
  duration_millis: Math.round(sums.durationMillis),
  ...Object.fromEntries(sums.bands.map((requests, band) => [`band_${band}`, requests]))
})

/** Adds these points to the stored ones. */
export const addSeries = (
  sql: SqlClient.SqlClient,
  points: ReadonlyArray<SeriesPoint>
): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    for (let at = 0; at < points.length; at += pointsPerWrite) {
      const [first, ...rest] = points.slice(at, at + pointsPerWrite).map(columnsOf)
      if (first !== undefined)
        yield* sql`INSERT INTO usage_series ${sql.insert([first, ...rest])}
          ON CONFLICT (bucket, scope, start_millis, name) DO UPDATE SET ${sql.literal(added)}`
    }
  })

/** Deletes the points that are older than they are kept. */
export const trimSeries = (
  sql: SqlClient.SqlClient,
  { usageDays, usageHourDays, usageMinuteDays }: LimitValues,
  nowMillis: number
): Effect.Effect<void, SqlError> => {
  const days: Readonly<Record<Bucket, number>> = { minute: usageMinuteDays, hour: usageHourDays, day: usageDays }
  return Effect.forEach(
    bucketNames,
    (bucket) =>
      sql`DELETE FROM usage_series WHERE bucket = ${bucket} AND scope IN ('all', 'key', 'provider', 'model', 'status')
        AND start_millis < ${nowMillis - days[bucket] * dayMillis}`,
    { discard: true }
  )
}

type Row = Readonly<Record<string, number>> & { readonly name: string }

export const readSeries = (
  sql: SqlClient.SqlClient,
  { bucket, cursor, from = 0, limit, scope, to = Number.MAX_SAFE_INTEGER }: SeriesQuery
): Effect.Effect<SeriesPage, SqlError> => {
  const after =
    cursor === undefined ? sql.literal("") : sql`AND (start_millis, name) > (${cursor.startMillis}, ${cursor.name})`
  return Effect.map(
    sql<Row>`SELECT * FROM usage_series WHERE bucket = ${bucket} AND scope = ${scope}
      AND start_millis >= ${from} AND start_millis < ${to} ${after} ORDER BY start_millis, name LIMIT ${limit + 1}`,
    (rows) =>
      seriesPage(
        rows.map((row): SeriesPoint => {
          const number = (name: string): number => row[name] ?? 0
          return {
            bucket,
            scope,
            startMillis: number("start_millis"),
            name: row.name,
            sums: {
              requests: number("requests"),
              errors: number("errors"),
              input: number("input"),
              output: number("output"),
              cached: number("cached"),
              costMicros: number("cost_micros"),
              durationMillis: number("duration_millis"),
              bands: bands.map(number)
            }
          }
        }),
        limit
      )
  )
}
