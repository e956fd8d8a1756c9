// The sums of days in the store, by key, provider and model, and by every dimension: written with each batch, read in pages.
// Must not know when batches are written.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  type Grouping,
  isPlain,
  metadataName,
  type PlainGrouping,
  type Sums,
  type UsageBucket,
  type UsagePage,
  usagePage,
  type UsageQuery
} from "../../domain/usage/usageSums.ts"
import { onSqlite } from "../database/Sql.ts"

const sumNames = ["requests", "errors", "input", "output", "cached", "cost_micros"] as const
/** PostgreSQL's SUM of whole numbers is a decimal. */
const sumColumns = sumNames.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ")
const added = (table: string): string =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ")

/** Adds these sums to the stored ones. Versions before `usage_details` read `usage_sums` only. */
export const addDays = (sql: SqlClient.SqlClient, buckets: ReadonlyArray<UsageBucket>): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    buckets,
    ({ by, lastMillis, sums: { costMicros, ...counts } }) => {
      const row = {
        day: by.day,
        key_id: by.key,
        provider: by.provider,
        model: by.model,
        requests: counts.requests,
        errors: counts.errors,
        input: counts.input,
        output: counts.output,
        cached: counts.cached,
        cost_micros: costMicros
      }
      const details = { config: by.config, client: by.client, metadata: by.metadata }
      return Effect.andThen(
        sql`INSERT INTO usage_sums ${sql.insert({ ...row, last_millis: lastMillis })}
          ON CONFLICT (day, key_id, provider, model) DO UPDATE SET ${sql.literal(added("usage_sums"))},
            last_millis = CASE WHEN excluded.last_millis > usage_sums.last_millis THEN excluded.last_millis ELSE usage_sums.last_millis END`,
        sql`INSERT INTO usage_details ${sql.insert({ ...row, ...details })}
          ON CONFLICT (day, key_id, provider, model, config, client, metadata) DO UPDATE SET ${sql.literal(added("usage_details"))}`
      )
    },
    { discard: true }
  )

/** Deletes the sums of the days before this one. */
export const trimDays = (sql: SqlClient.SqlClient, day: string): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    sql`DELETE FROM usage_sums WHERE day < ${day}`,
    Effect.asVoid(sql`DELETE FROM usage_details WHERE day < ${day}`)
  )

const columns: Readonly<Record<PlainGrouping, string>> = {
  day: "day",
  key: "key_id",
  provider: "provider",
  model: "model",
  config: "config",
  client: "client"
}
/** The dimensions of `usage_sums`, which has far fewer rows. */
const fewDimensions: ReadonlySet<Grouping> = new Set<Grouping>(["day", "key", "provider", "model"])

const columnOf = (sql: SqlClient.SqlClient, grouping: Grouping): Fragment => {
  if (isPlain(grouping)) return sql`${sql.literal(columns[grouping])}`
  const name = metadataName(grouping) ?? ""
  return onSqlite(sql)
    ? sql`COALESCE(metadata ->> ${name}, '')`
    : sql`COALESCE(CAST(metadata AS JSON) ->> CAST(${name} AS TEXT), '') COLLATE "C"`
}

/** The dimensions of `usage_series` that have the same sums as `usage_sums`. */
const seriesDimensions: ReadonlySet<Grouping> = new Set<Grouping>(["key", "provider", "model"])

interface Source {
  readonly table: string
  readonly columnOf: (grouping: Grouping) => Fragment
  readonly conditions: ReadonlyArray<Fragment>
}

/**
 * The days of `usage_series`, which has one row a day and value, for sums by at most one dimension next to the day.
 * A million rows of `usage_sums` are 33,000 there with 100 keys (bench `reports`). Undefined for other queries.
 */
const seriesSource = (sql: SqlClient.SqlClient, { from, groupBy, to, where = [] }: UsageQuery): Source | undefined => {
  const used = new Set([...groupBy, ...where.map(([grouping]) => grouping)])
  used.delete("day")
  const [scope = "all", ...others] = used
  const fromMillis = from === undefined ? 0 : Date.parse(from)
  const toMillis = to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(to)
  const isSummed = others.length === 0 && (scope === "all" || seriesDimensions.has(scope))
  if (!isSummed || Number.isNaN(fromMillis) || Number.isNaN(toMillis)) return undefined
  const day = onSqlite(sql)
    ? sql`strftime('%Y-%m-%d', start_millis / 1000, 'unixepoch')`
    : sql`to_char(to_timestamp(start_millis / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE "C"`
  return {
    table: "usage_series",
    columnOf: (grouping) => (grouping === "day" ? day : sql`name`),
    conditions: [
      sql`bucket = 'day'`,
      sql`scope = ${scope}`,
      sql`start_millis >= ${fromMillis}`,
      sql`start_millis <= ${toMillis}`
    ]
  }
}

/** The sums of days by several dimensions. */
const daysSource = (sql: SqlClient.SqlClient, { from, groupBy, to, where = [] }: UsageQuery): Source => {
  const isFew = [...groupBy, ...where.map(([grouping]) => grouping)].every((grouping) => fewDimensions.has(grouping))
  return {
    table: isFew ? "usage_sums" : "usage_details",
    columnOf: (grouping) => columnOf(sql, grouping),
    conditions: [sql`day >= ${from ?? ""}`, ...(to === undefined ? [] : [sql`day <= ${to}`])]
  }
}

type SumRow = Readonly<Record<(typeof sumNames)[number], number | null>> & Readonly<Record<string, string>>

const sumsOf = ({ cached, cost_micros: costMicros, errors, input, output, requests }: SumRow): Sums => ({
  requests: requests ?? 0,
  errors: errors ?? 0,
  input: input ?? 0,
  output: output ?? 0,
  cached: cached ?? 0,
  costMicros: costMicros ?? 0
})

/** One page of sums, grouped in the database. */
export const readDays = (sql: SqlClient.SqlClient, query: UsageQuery): Effect.Effect<UsagePage, SqlError> => {
  const { cursor, groupBy, limit, where = [] } = query
  const source = seriesSource(sql, query) ?? daysSource(sql, query)
  const chosen = groupBy.map((grouping, at) => sql`${source.columnOf(grouping)} AS ${sql.literal(`by_${at}`)}, `)
  const names = groupBy.map((_, at) => `by_${at}`).join(", ")
  const conditions = [
    ...source.conditions,
    ...where.map(([grouping, value]) => sql`${source.columnOf(grouping)} = ${value}`)
  ]
  const rows = sql`(SELECT ${sql.join("", false)(chosen)}${sql.literal(sumNames.join(", "))}
    FROM ${sql.literal(source.table)} WHERE ${sql.and(conditions)}) AS chosen`
  const after = cursor === undefined ? sql.literal("") : sql`WHERE (${sql.literal(names)}) > ${sql.in(cursor)}`
  const summed =
    groupBy.length === 0
      ? sql<SumRow>`SELECT ${sql.literal(sumColumns)} FROM ${rows}`
      : sql<SumRow>`SELECT ${sql.literal(`${names}, ${sumColumns}`)} FROM ${rows} ${after}
        GROUP BY ${sql.literal(names)} ORDER BY ${sql.literal(names)} LIMIT ${limit + 1}`
  return Effect.map(summed, (found) =>
    usagePage(
      // Without groups SQL returns one row, also for an empty table.
      found
        .filter(({ requests }) => requests !== null)
        .map((row) => ({
          by: Object.fromEntries(groupBy.map((grouping, at) => [grouping, row[`by_${at}`] ?? ""])),
          ...sumsOf(row)
        })),
      query
    )
  )
}
