// Reports of usage by days and dimensions: each is one page of sums, from the smallest tables that have them.
// Must not write.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import {
  cursorAfter,
  cursorValues,
  type Grouping,
  isPlain,
  metadataName,
  type PlainGrouping,
  sortedGroupings,
  type UsageGroup,
  type UsagePage,
  usagePage,
  type UsageQuery
} from "../../domain/usage/usageSums.ts"
import { dayAfter } from "../../domain/usage/usageSeries.ts"
import { onSqlite } from "../database/Sql.ts"
import { type DaysTable, readCover, sumNames } from "./UsageSums.ts"

/** PostgreSQL's SUM of whole numbers is a decimal. */
const sumColumns = sumNames.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ")

/** Later than every day. */
const endOfDays = "9999-12-31"

const columns: Readonly<Record<PlainGrouping, string>> = {
  day: "day",
  key: "key_id",
  provider: "provider",
  model: "model",
  config: "config",
  client: "client"
}

const columnOf = (sql: SqlClient.SqlClient, grouping: Grouping): Fragment => {
  if (isPlain(grouping)) return sql`${sql.literal(columns[grouping])}`
  const name = metadataName(grouping) ?? ""
  return onSqlite(sql)
    ? sql`COALESCE(metadata ->> ${name}, '')`
    : sql`COALESCE(CAST(metadata AS JSON) ->> CAST(${name} AS TEXT), '') COLLATE "C"`
}

/** The dimensions that a query needs. */
const dimensionsOf = ({ groupBy, where = [] }: UsageQuery): ReadonlySet<Grouping> =>
  new Set([...groupBy, ...where.map(([grouping]) => grouping)])

/** The dimensions of `usage_sums`, which has far fewer rows than `usage_details`. */
const fewDimensions: ReadonlySet<Grouping> = new Set<Grouping>(["day", "key", "provider", "model"])

const tableOf = (query: UsageQuery): DaysTable =>
  [...dimensionsOf(query)].every((grouping) => fewDimensions.has(grouping)) ? "usage_sums" : "usage_details"

/** Where a report reads: the rows of some tables together. */
interface Source {
  readonly columnOf: (grouping: Grouping) => Fragment
  readonly parts: ReadonlyArray<{ readonly table: string; readonly conditions: ReadonlyArray<Fragment> }>
}

/** The dimensions of `usage_series` that have the same sums as `usage_sums`. */
const seriesDimensions: ReadonlySet<Grouping> = new Set<Grouping>(["key", "provider", "model"])

/**
 * The days of `usage_series`, which has one row a day and value, for sums by at most one dimension next to the day.
 * A million rows of `usage_sums` are 33,000 there with 100 keys (bench `reports`). Undefined for other queries.
 */
const seriesSource = (sql: SqlClient.SqlClient, query: UsageQuery): Source | undefined => {
  const { from, to } = query
  const used = new Set(dimensionsOf(query))
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
    columnOf: (grouping) => (grouping === "day" ? day : sql`name`),
    parts: [
      {
        table: "usage_series",
        conditions: [
          sql`bucket = 'day'`,
          sql`scope = ${scope}`,
          sql`start_millis >= ${fromMillis}`,
          sql`start_millis <= ${toMillis}`
        ]
      }
    ]
  }
}

/** The sums of some days by several dimensions. */
const daysSource = (sql: SqlClient.SqlClient, query: UsageQuery, from: string, to: string): Source => ({
  columnOf: (grouping) => columnOf(sql, grouping),
  parts: [{ table: tableOf(query), conditions: [sql`day >= ${from}`, sql`day <= ${to}`] }]
})

/** The sums of a span by several dimensions, of which the day is none: periods, and the days that are in none. */
const periodsSource = (sql: SqlClient.SqlClient, query: UsageQuery): Effect.Effect<Source, SqlError> => {
  const { from = "", to = endOfDays } = query
  const days = tableOf(query)
  return Effect.map(readCover(sql, days, from, to), (cover): Source => {
    const { columnOf: column, parts } = daysSource(sql, query, cover.rest, to)
    const within = (table: string, name: string, values: ReadonlyArray<string>) =>
      values.length === 0 ? [] : [{ table, conditions: [sql.in(name, values)] }]
    return {
      columnOf: column,
      parts: [...within(cover.table, "period", cover.periods), ...within(days, "day", cover.days), ...parts]
    }
  })
}

type SumRow = Readonly<Record<(typeof sumNames)[number], number | null>> & { readonly rows_number: number } & Readonly<
    Record<`by_${number}`, string>
  >

interface Summed {
  readonly groups: ReadonlyArray<UsageGroup>
  /** The stored rows that are in these groups. */
  readonly rows: number
}

/** The first groups of a source after the cursor, summed in the database. */
const readGroups = (
  sql: SqlClient.SqlClient,
  source: Source,
  query: UsageQuery,
  most: number
): Effect.Effect<Summed, SqlError> => {
  const { cursor, groupBy, where = [] } = query
  const chosen = groupBy.map((grouping, at) => sql`${source.columnOf(grouping)} AS ${sql.literal(`by_${at}`)}, `)
  const names = sortedGroupings(groupBy)
    .map((grouping) => `by_${groupBy.indexOf(grouping)}`)
    .join(", ")
  const filters = where.map(([grouping, value]) => sql`${source.columnOf(grouping)} = ${value}`)
  const parts = source.parts.map(
    ({ conditions, table }) => sql`SELECT ${sql.join("", false)(chosen)}${sql.literal(sumNames.join(", "))}
      FROM ${sql.literal(table)} WHERE ${sql.and([...conditions, ...filters])}`
  )
  const rows = sql`(${sql.join(" UNION ALL ", false)(parts)}) AS chosen`
  const after =
    cursor === undefined ? sql.literal("") : sql`WHERE (${sql.literal(names)}) > ${sql.in(cursorValues(query))}`
  const summed =
    groupBy.length === 0
      ? sql<SumRow>`SELECT COUNT(*) AS rows_number, ${sql.literal(sumColumns)} FROM ${rows}`
      : sql<SumRow>`SELECT ${sql.literal(`${names}, COUNT(*) AS rows_number, ${sumColumns}`)} FROM ${rows} ${after}
        GROUP BY ${sql.literal(names)} ORDER BY ${sql.literal(names)} LIMIT ${most}`
  return Effect.map(summed, (sums) => ({
    groups: sums
      // Without groups SQL returns one row, also for an empty table.
      .filter(({ requests }) => requests !== null)
      .map((row) => ({
        by: Object.fromEntries(groupBy.map((grouping, at) => [grouping, row[`by_${at}`] ?? ""])),
        requests: row.requests ?? 0,
        errors: row.errors ?? 0,
        input: row.input ?? 0,
        output: row.output ?? 0,
        cached: row.cached ?? 0,
        costMicros: row.cost_micros ?? 0
      })),
    rows: sums.reduce((sum, row) => sum + row.rows_number, 0)
  }))
}

/**
 * Groups by day and several dimensions, some days at a time, because no table is smaller. The page may be short and still
 * have a next one: it ends with the days that reach `mostRows`. SQLite sums 50,000 rows in about 0.1 s (bench `reports`).
 */
const readByDay = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  query: UsageQuery,
  mostRows: number
): Effect.fn.Return<UsagePage, SqlError> {
  const { cursor, from = "", limit, to = endOfDays } = query
  const table = sql.literal(tableOf(query))
  const groups: Array<UsageGroup> = []
  const [after = from] = cursor === undefined ? [] : cursorValues(query)
  let start = after < from ? from : after
  let days = 1
  let daysRead = 0
  let rowsRead = 0
  while (groups.length <= limit) {
    const [next] = yield* sql<{ readonly day: string | null }>`
      SELECT MIN(day) AS day FROM ${table} WHERE day >= ${start} AND day <= ${to}`
    if (next === undefined || next.day === null) break
    const last = groups.at(-1)
    if (last !== undefined && rowsRead >= mostRows) return { groups, next: cursorAfter(last, query) }
    const end = [dayAfter(next.day, days - 1), to].toSorted()[0] ?? to
    const page = yield* readGroups(sql, daysSource(sql, query, next.day, end), query, limit + 1 - groups.length)
    groups.push(...page.groups)
    rowsRead += page.rows
    daysRead += days
    start = dayAfter(end)
    days = Math.max(1, Math.min(daysRead, Math.floor((mostRows - rowsRead) / (rowsRead / daysRead))))
  }
  return usagePage(groups, query)
})

/** A filter by day is a span of one day. */
const withoutDayFilter = (query: UsageQuery): UsageQuery => {
  const { from = "", to = endOfDays, where = [] } = query
  const days = where.flatMap(([grouping, value]) => (grouping === "day" ? [value] : []))
  if (days.length === 0) return query
  return {
    ...query,
    from: [from, ...days].toSorted().at(-1),
    to: [to, ...days].toSorted()[0],
    where: where.filter(([grouping]) => grouping !== "day")
  }
}

/** One page of sums. */
export const readReport = (
  sql: SqlClient.SqlClient,
  asked: UsageQuery,
  mostRows: number
): Effect.Effect<UsagePage, SqlError> => {
  const query = withoutDayFilter(asked)
  const series = seriesSource(sql, query)
  if (series === undefined && query.groupBy.includes("day")) return readByDay(sql, query, mostRows)
  const source = series === undefined ? periodsSource(sql, query) : Effect.succeed(series)
  return Effect.map(
    Effect.flatMap(source, (rows) => readGroups(sql, rows, query, query.limit + 1)),
    ({ groups }) => usagePage(groups, query)
  )
}
