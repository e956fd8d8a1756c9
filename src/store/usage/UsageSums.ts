// The sums of days and of past periods in the store: written with each batch of requests, deleted when they are too old.
// Must not know when batches are written, or how reports read the sums.
import { add, type UsageBucket } from "../../domain/usage/usageSums.ts"
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { bulkInsert } from "../database/BulkRows.ts"
import { dayMillis, dayOf } from "../../domain/time.ts"
import { type Cover, coverDays, type PeriodLength, periodLengths } from "../../domain/usage/usageSeries.ts"
import { onSqlite } from "../database/Sql.ts"

/** The values of a row: texts, then numbers. */
export type SumRow = ReadonlyArray<string | number>

/** The sums of days by key, provider and model, and by every dimension. */
export type DaysTable = "usage_sums" | "usage_details"

export const sumNames = ["requests", "errors", "input", "output", "cached", "cost_micros"] as const

/** The assignments that add the sums of a row to those of a stored row. */
const addedSums = (table: string): string =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ")

/** The columns of the dimensions of a table, without its day or period. */
const dimensionsOf = (table: DaysTable): ReadonlyArray<string> =>
  table === "usage_sums"
    ? ["key_id", "provider", "model"]
    : ["key_id", "provider", "model", "config", "client", "metadata"]

const textsOf = (table: DaysTable, { client, config, key, metadata, model, provider }: UsageBucket["by"]) =>
  table === "usage_sums" ? [key, provider, model] : [key, provider, model, config, client, metadata]

/**
 * The rows of a table: the time of a bucket's day, its dimensions, its sums, and where the table has it its last moment.
 * Buckets of one row are added up, because one statement cannot add to a row twice.
 */
const sumRows = (
  table: DaysTable,
  buckets: ReadonlyArray<UsageBucket>,
  { timeOf = (day) => day, withLast = false }: { timeOf?: (day: string) => string; withLast?: boolean } = {}
): ReadonlyArray<SumRow> => {
  const merged = new Map<string, { texts: SumRow; sums: UsageBucket["sums"]; lastMillis: number }>()
  for (const { by, lastMillis, sums } of buckets) {
    const texts = [timeOf(by.day), ...textsOf(table, by)]
    const name = texts.join("\n")
    const row = merged.get(name)
    if (row === undefined) merged.set(name, { texts, sums: { ...sums }, lastMillis })
    else {
      add(row.sums, sums)
      row.lastMillis = Math.max(row.lastMillis, lastMillis)
    }
  }
  return Array.from(merged.values(), ({ lastMillis, sums, texts }) => [
    ...texts,
    sums.requests,
    sums.errors,
    sums.input,
    sums.output,
    sums.cached,
    sums.costMicros,
    ...(withLast ? [lastMillis] : [])
  ])
}

// The sums of days in the store, by key, provider and model, and by every dimension: written with each batch.

const insertSums = bulkInsert({
  table: "usage_sums",
  texts: ["day", ...dimensionsOf("usage_sums")],
  numbers: [...sumNames, "last_millis"],
  then: `ON CONFLICT (day, key_id, provider, model) DO UPDATE SET ${addedSums("usage_sums")},
    last_millis = CASE WHEN excluded.last_millis > usage_sums.last_millis THEN excluded.last_millis ELSE usage_sums.last_millis END`
})
const insertDetails = bulkInsert({
  table: "usage_details",
  texts: ["day", ...dimensionsOf("usage_details")],
  numbers: sumNames,
  then: `ON CONFLICT (day, key_id, provider, model, config, client, metadata) DO UPDATE SET ${addedSums("usage_details")}`
})

/** Adds these sums to the stored ones, in two statements on PostgreSQL. */
export const addDays = (sql: SqlClient.SqlClient, buckets: ReadonlyArray<UsageBucket>): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    insertSums(sql, sumRows("usage_sums", buckets, { withLast: true })),
    Effect.asVoid(insertDetails(sql, sumRows("usage_details", buckets)))
  )

/** Deletes the sums of the days before this one. */
export const trimDays = (sql: SqlClient.SqlClient, day: string): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    sql`DELETE FROM usage_sums WHERE day < ${day}`,
    Effect.asVoid(sql`DELETE FROM usage_details WHERE day < ${day}`)
  )

// The sums of past periods in the store, made of the sums of their days, so that a report of a year reads few rows.

/** Requests of a day are written on that day or the next one. What comes later is added to both. */
const settledMillis = 2 * dayMillis

/** The last day whose sums are complete. */
const lastSettled = (nowMillis: number): string => dayOf(nowMillis - settledMillis)

const periodsOf = { usage_sums: "usage_sum_periods", usage_details: "usage_detail_periods" } as const

const rollUps = (["usage_sums", "usage_details"] as const).flatMap((days) =>
  periodLengths.map((length) => ({ days, length }))
)
type RollUp = (typeof rollUps)[number]

const columnsOf = (days: DaysTable): string => [...dimensionsOf(days), ...sumNames].join(", ")
const addedTo = (days: DaysTable): string =>
  `ON CONFLICT (period, ${dimensionsOf(days).join(", ")}) DO UPDATE SET ${addedSums(periodsOf[days])}`

const isOf = (sql: SqlClient.SqlClient, { days, length }: RollUp) => sql`days = ${days} AND length = ${length}`

/**
 * Adds one complete day to the periods of one table. Returns whether there was such a day: a day of a table with 3,000
 * sums takes 10 ms, and each batch of requests takes one step.
 */
export const rollDay = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  nowMillis: number
): Effect.fn.Return<boolean, SqlError> {
  for (const rollUp of rollUps) {
    const { days, length } = rollUp
    const [next] = yield* sql<{ readonly day: string | null }>`SELECT MIN(day) AS day FROM ${sql.literal(days)}
      WHERE day > (SELECT through_day FROM usage_rolled WHERE ${isOf(sql, rollUp)}) AND day <= ${lastSettled(nowMillis)}`
    if (next === undefined || next.day === null) continue
    const { day } = next
    // Locks the row: another process that reads the same day waits here, and then has nothing to do.
    const taken = yield* sql`UPDATE usage_rolled SET through_day = ${day}
      WHERE ${isOf(sql, rollUp)} AND through_day < ${day} RETURNING through_day`
    if (taken.length > 0)
      yield* sql`INSERT INTO ${sql.literal(periodsOf[days])} (period, ${sql.literal(columnsOf(days))})
        SELECT ${day.slice(0, length)}, ${sql.literal(columnsOf(days))} FROM ${sql.literal(days)} WHERE day = ${day}
        ${sql.literal(addedTo(days))}`
    return true
  }
  return false
})

const insertPeriods = (days: DaysTable) =>
  bulkInsert({
    table: periodsOf[days],
    texts: ["period", ...dimensionsOf(days)],
    numbers: sumNames,
    then: addedTo(days)
  })
const periodInserts = { usage_sums: insertPeriods("usage_sums"), usage_details: insertPeriods("usage_details") }

/** Adds sums that came late to the periods that have their day already: one statement for each kind of period. */
export const addLate = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  buckets: ReadonlyArray<UsageBucket>,
  nowMillis: number
): Effect.fn.Return<void, SqlError> {
  const late = buckets.filter(({ by }) => by.day <= lastSettled(nowMillis))
  if (late.length === 0) return
  for (const rollUp of rollUps) {
    const { days, length } = rollUp
    const [rolled] = yield* sql<{ readonly through_day: string }>`SELECT through_day FROM usage_rolled
      WHERE ${isOf(sql, rollUp)} ${sql.literal(onSqlite(sql) ? "" : "FOR UPDATE")}`
    const through = rolled?.through_day ?? ""
    const rows = sumRows(
      days,
      late.filter(({ by }) => by.day <= through),
      { timeOf: (day) => day.slice(0, length) }
    )
    yield* periodInserts[days](sql, rows)
  }
})

/** Deletes the periods with days before this one. */
export const trimPeriods = (sql: SqlClient.SqlClient, day: string): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    Object.values(periodsOf),
    // The name of a period is the beginning of its days, and so is before all of them.
    (table) => sql`DELETE FROM ${sql.literal(table)} WHERE period < ${day}`,
    { discard: true }
  )

/** What covers a span of days of this table, and the table of its periods. */
export const readCover = (
  sql: SqlClient.SqlClient,
  days: DaysTable,
  from: string,
  to: string
): Effect.Effect<Cover & { readonly table: string }, SqlError> =>
  Effect.map(
    sql<{ readonly length: PeriodLength; readonly through_day: string; readonly first: string | null }>`
      SELECT length, through_day, (SELECT MIN(day) FROM ${sql.literal(days)} WHERE day >= ${from}) AS first
      FROM usage_rolled WHERE days = ${days}`,
    (rows) => {
      const throughOf = (length: PeriodLength) => rows.find((row) => row.length === length)?.through_day ?? ""
      const first = rows[0]?.first ?? null
      const through = { 7: throughOf(7), 9: throughOf(9) }
      const cover = first === null ? { periods: [], days: [], rest: from } : coverDays(first, to, through)
      return { ...cover, table: periodsOf[days] }
    }
  )
