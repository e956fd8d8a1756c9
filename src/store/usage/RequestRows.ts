// The rows of ended requests in the store: one plain row a request, written in batches, searched, followed and deleted.
// Must not know when batches are written, or how requests are summed.
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { RequestRow } from "../../domain/RequestRow.ts"
import { parseJsonText } from "../../domain/text/json.ts"
import { isoText } from "../../domain/time.ts"
import { dollarsOf } from "../../domain/Usage.ts"
import {
  type RecentRequests,
  type RequestDeletion,
  type RequestFilter,
  type RequestLookup,
  type RequestPage,
  type RequestQuery,
  textColumns,
  textFilters
} from "../../domain/usage/usageSums.ts"
import { onSqlite } from "../database/Sql.ts"
import { forEachRow } from "../database/Sqlite.ts"
import type { RequestBatch } from "../RequestBatch.ts"

type ColumnKind = "text" | "json" | "integer" | "real" | "boolean"

/** The columns have the names of the row's facts. Those of facts that are objects or lists have JSON. */
const columnKinds: Readonly<Record<keyof RequestRow, ColumnKind>> = {
  id: "text",
  request_id: "text",
  trace_id: "text",
  ts: "text",
  route: "text",
  status: "integer",
  provider: "text",
  model: "text",
  target: "integer",
  model_warning: "text",
  skipped_targets: "json",
  stream: "boolean",
  cache: "text",
  duration_ms: "real",
  ttft_ms: "real",
  overhead_ms: "real",
  usage: "json",
  usage_estimated: "boolean",
  cost_usd: "real",
  cost_partial: "boolean",
  place: "text",
  saved: "json",
  key_id: "text",
  user_id: "text",
  config: "text",
  client: "text",
  metadata: "json",
  ignored_params: "json",
  adjusted_params: "json",
  error_code: "text",
  error_message: "text",
  error_param: "text",
  attempts: "json"
}
const columns = Object.keys(columnKinds)
const columnList = columns.join(", ")

/** A row's position is its batch's position times this number, plus its index in the batch. */
const rowsPerPosition = 1000

const postgresTypes: Readonly<Record<ColumnKind, string>> = {
  text: "TEXT",
  json: "TEXT",
  integer: "BIGINT",
  real: "DOUBLE PRECISION",
  boolean: "BOOLEAN"
}
const postgresInsert = `INSERT INTO request_rows (position, ${columnList})
  SELECT CAST($2 AS BIGINT) + given.number - 1, ${columnList} FROM ROWS FROM (
    json_to_recordset(CAST(CAST($1 AS TEXT) AS JSON))
    AS (${Object.entries(columnKinds).map(([name, kind]) => `${name} ${postgresTypes[kind]}`)})
  ) WITH ORDINALITY AS given (${columnList}, number)`
const sqliteInsert = `INSERT INTO request_rows (position, ${columnList}) VALUES (?, ${columns.map(() => "?").join(", ")})`

/** The names and values of metadata of the rows that are called `r`. */
const metadataOf = (sql: SqlClient.SqlClient): Fragment =>
  onSqlite(sql) ? sql`json_each(r.metadata) AS m` : sql`json_each_text(CAST(r.metadata AS JSON)) AS m`

/** Writes the rows of a batch at its position. */
export const insertRows = (
  sql: SqlClient.SqlClient,
  position: number,
  batch: RequestBatch
): Effect.Effect<void, SqlError> => {
  if (batch.rows === 0) return Effect.void
  const first = position * rowsPerPosition
  const inserted = onSqlite(sql)
    ? forEachRow(sql, sqliteInsert, { json: Uint8Array.from(batch.bytes), names: columns, first })
    : sql.unsafe(postgresInsert, [batch.bytes.toString(), first])
  const metadata = sql`INSERT INTO request_metadata (name, value, position)
    SELECT m.key, m.value, r.position FROM request_rows r CROSS JOIN ${metadataOf(sql)}
    WHERE r.position >= ${first} AND r.position < ${first + rowsPerPosition} AND r.metadata IS NOT NULL`
  return Effect.asVoid(batch.hasMetadata ? Effect.andThen(inserted, metadata) : inserted)
}

/** Deletes the rows of this condition on a row `r`. */
const deleteWhere = (sql: SqlClient.SqlClient, condition: Fragment): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    sql`DELETE FROM request_metadata WHERE (name, value, position) IN (SELECT m.key, m.value, r.position
      FROM request_rows r CROSS JOIN ${metadataOf(sql)} WHERE r.metadata IS NOT NULL AND ${condition})`,
    Effect.asVoid(sql`DELETE FROM request_rows AS r WHERE ${condition}`)
  )

/** The position of the oldest batch of those that have the latest `most` requests. */
export const findFloor = (sql: SqlClient.SqlClient, most: number): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql<{ readonly position: number | null }>`SELECT COALESCE(
      (SELECT MAX(position) FROM (SELECT position, SUM(rows_number) OVER (ORDER BY position DESC) AS total FROM request_batches) AS counted
        WHERE total >= ${most}),
      (SELECT MIN(position) FROM request_batches)) AS position`,
    ([oldest]) => oldest?.position ?? 0
  )

/**
 * Deletes the oldest batches below this position with their rows, `mostRows` at most. Returns whether more are left. A
 * batch has at most a thousand rows.
 */
export const trimRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  floor: number,
  mostRows: number
): Effect.fn.Return<boolean, SqlError> {
  const [next] = yield* sql<{ readonly position: number }>`SELECT position FROM request_rows
    WHERE position < ${floor * rowsPerPosition} ORDER BY position LIMIT 1 OFFSET ${mostRows}`
  const end = next === undefined ? floor : Math.floor(next.position / rowsPerPosition)
  yield* sql`DELETE FROM request_batches WHERE position < ${end}`
  yield* deleteWhere(sql, sql`r.position < ${end * rowsPerPosition}`)
  return next !== undefined
})

type StoredRow = Readonly<Record<string, unknown>> & { readonly position: number }

const factOf = (kind: ColumnKind, value: unknown): unknown => {
  if (kind === "json") return Result.getOrUndefined(parseJsonText(String(value)))
  return kind === "boolean" ? value === true || value === 1 : value
}

/** The row as it was written. */
const rowOf = (stored: StoredRow): RequestRow => {
  const facts = Object.entries(columnKinds).flatMap(([name, kind]) => {
    const { [name]: value } = stored
    return value === null || value === undefined ? [] : [[name, factOf(kind, value)] as const]
  })
  // This table wrote the facts of a row.
  const row: object = Object.fromEntries(facts)
  return row as RequestRow
}

/** The rows of one batch, the oldest first. */
export const rowsOfBatch = (
  sql: SqlClient.SqlClient,
  position: number
): Effect.Effect<ReadonlyArray<RequestRow>, SqlError> =>
  Effect.map(
    sql<StoredRow>`SELECT * FROM request_rows WHERE position >= ${position * rowsPerPosition}
      AND position < ${(position + 1) * rowsPerPosition} ORDER BY position`,
    (rows) => rows.map(rowOf)
  )

/**
 * Deletes some of the rows that a deletion means, and returns their own ids; fewer than `most`: none is left. The text
 * that older versions wrote of these batches leaves as a whole.
 */
export const deleteRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  deletion: RequestDeletion,
  most: number
): Effect.fn.Return<ReadonlyArray<string>, SqlError> {
  const conditions = conditionsOf(sql, deletion).map(({ plain }) => plain)
  const rows = yield* sql<Pick<StoredRow, "position"> & { readonly id: string }>`SELECT r.position, r.id
    FROM request_rows r WHERE ${sql.and(conditions)} ORDER BY r.position LIMIT ${most}`
  if (rows.length === 0) return []
  const batches = [...new Set(rows.map(({ position }) => Math.floor(position / rowsPerPosition)))]
  yield* sql`UPDATE request_batches SET packed = '[]' WHERE packed <> '[]' AND ${sql.in("position", batches)}`
  yield* deleteWhere(sql, sql`r.position IN ${sql.in(rows.map(({ position }) => position))}`)
  return rows.map(({ id }) => id)
})

// Searching. A search reads a bounded number of rows at a time, whatever its conditions.

/** A condition on a row `r`. The plain form may be found by its index; the other one is tested row by row. */
interface Condition {
  readonly isIndexed: boolean
  readonly plain: Fragment
  readonly tested: Fragment
}

const indexedTexts: ReadonlySet<keyof typeof textColumns> = new Set<keyof typeof textColumns>([
  "model",
  "key",
  "user",
  "config",
  "error",
  "requestId",
  "traceId"
])

const conditionsOf = (sql: SqlClient.SqlClient, filter: RequestFilter): ReadonlyArray<Condition> => {
  const { metadata = [], minCostMicros, minDurationMillis, since, status, until } = filter
  // SQLite uses no index for a value with a sign.
  const sign = sql.literal(onSqlite(sql) ? "+" : "")
  const test = (plain: Fragment): Condition => ({ isIndexed: false, plain, tested: plain })
  return [
    ...textFilters.flatMap((name): ReadonlyArray<Condition> => {
      const { [name]: value } = filter
      if (value === undefined) return []
      const column = sql.literal(`r.${textColumns[name]}`)
      const taken = typeof value === "string" ? sql`= ${value}` : sql`IN ${sql.in(value)}`
      return [
        { isIndexed: indexedTexts.has(name), plain: sql`${column} ${taken}`, tested: sql`${sign}${column} ${taken}` }
      ]
    }),
    ...metadata.map(([name, value]): Condition => {
      const has = sql`SELECT position FROM request_metadata WHERE name = ${name} AND value = ${value}`
      return {
        isIndexed: true,
        plain: sql`r.position IN (${has})`,
        tested: sql`EXISTS (${has} AND position = r.position)`
      }
    }),
    ...(status === undefined ? [] : [statusCondition(sql, status, sign)]),
    ...(minDurationMillis === undefined ? [] : [test(sql`r.duration_ms >= ${minDurationMillis}`)]),
    ...(minCostMicros === undefined ? [] : [test(sql`r.cost_usd >= ${dollarsOf(minCostMicros)}`)]),
    ...(since === undefined ? [] : [test(sql`${sign}r.ts >= ${isoText(since)}`)]),
    ...(until === undefined ? [] : [test(sql`${sign}r.ts < ${isoText(until)}`)])
  ]
}

/** The index has the rows of errors only, because the others are nearly all. */
const statusCondition = (sql: SqlClient.SqlClient, status: number, sign: Fragment): Condition => {
  const tested = sql`${sign}r.status = ${status}`
  return status < 400
    ? { isIndexed: false, plain: tested, tested }
    : { isIndexed: true, plain: sql`(r.status >= 400 AND r.status = ${status})`, tested }
}

interface Search {
  /** The condition that finds rows; undefined: all rows are read, the newest first. */
  readonly finding: Condition | undefined
  /** The position at which the search stops. */
  readonly floor: number
}

/**
 * How the rows of these conditions are found: by the condition that goes back furthest within `most` rows. A search by
 * one condition that has an index, or by none, stops nowhere.
 */
const planSearch = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  conditions: ReadonlyArray<Condition>,
  cursor: number,
  most: number
): Effect.fn.Return<Search, SqlError> {
  const indexed = conditions.filter(({ isIndexed }) => isIndexed)
  if (conditions.length === indexed.length && indexed.length < 2) return { finding: indexed[0], floor: 0 }
  let best: Search | undefined
  for (const finding of indexed.length === 0 ? [undefined] : indexed) {
    const [last] = yield* sql<{ readonly position: number }>`SELECT r.position FROM request_rows r
      WHERE ${sql.and([sql`r.position < ${cursor}`, ...(finding === undefined ? [] : [finding.plain])])}
      ORDER BY r.position DESC LIMIT 1 OFFSET ${most - 1}`
    const floor = last?.position ?? 0
    if (best === undefined || floor < best.floor) best = { finding, floor }
  }
  return best ?? { finding: undefined, floor: 0 }
})

/** The latest rows that fit, and where the next page begins. A page may be short and have a next one. */
export const findRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  query: RequestQuery,
  mostSearched: number
): Effect.fn.Return<RequestPage, SqlError> {
  const { cursor = Number.MAX_SAFE_INTEGER, limit } = query
  const conditions = conditionsOf(sql, query)
  const { finding, floor } = yield* planSearch(sql, conditions, cursor, mostSearched)
  const rows = yield* sql<StoredRow>`SELECT * FROM request_rows r WHERE ${sql.and([
    sql`r.position < ${cursor}`,
    sql`r.position >= ${floor}`,
    ...conditions.map((one) => (one === finding ? one.plain : one.tested))
  ])} ORDER BY r.position DESC LIMIT ${limit + 1}`
  const stopped = floor > 0 ? floor : undefined
  return {
    rows: rows.slice(0, limit).map(rowOf),
    next: rows.length > limit ? rows[limit - 1]?.position : stopped
  }
})

/** The latest row that a look-up means. */
export const findRow = (
  sql: SqlClient.SqlClient,
  { id, isKeyed = false, isOwn, notKey }: RequestLookup
): Effect.Effect<RequestRow | undefined, SqlError> =>
  Effect.map(
    sql<StoredRow>`SELECT * FROM request_rows r WHERE ${sql.and([
      isOwn ? sql`r.id = ${id}` : sql`r.request_id = ${id}`,
      ...(isKeyed ? [sql`r.key_id IS NOT NULL`] : []),
      ...(notKey === undefined ? [] : [sql`r.key_id <> ${notKey}`])
    ])} ORDER BY r.position DESC LIMIT 1`,
    ([row]) => (row === undefined ? undefined : rowOf(row))
  )

// Following. A reader gets the rows that were written since its last read, by any gateway on the store.

/**
 * Positions are given out before transactions commit, so that a batch can appear below a later one. So many positions
 * before the last one are looked at again.
 */
const overlap = 32

interface BatchPlace {
  readonly position: number
  readonly rows_number: number
}

const placesAfter = (sql: SqlClient.SqlClient, position: number) =>
  sql<BatchPlace>`SELECT position, rows_number FROM request_batches WHERE position > ${position} ORDER BY position DESC`

/** The rows of these batches, the latest first and `most` at most. */
const rowsIn = (sql: SqlClient.SqlClient, batches: ReadonlyArray<number>, most: number) => {
  const oldest = batches.at(-1)
  return oldest === undefined
    ? Effect.succeed([])
    : Effect.map(
        sql<StoredRow>`SELECT * FROM request_rows r WHERE r.position >= ${oldest * rowsPerPosition}
          AND r.position / 1000 IN ${sql.in(batches)} ORDER BY r.position DESC LIMIT ${most}`,
        (rows) => rows.map(rowOf)
      )
}

/**
 * A reader: each run returns the rows that were written since the run before, the latest first and `most` at most. Older
 * ones are not read, only counted.
 */
export const followRows = (
  sql: SqlClient.SqlClient,
  most: number
): Effect.Effect<Effect.Effect<RecentRequests, SqlError>, SqlError> =>
  Effect.gen(function* () {
    const [last] = yield* sql<{
      readonly position: number | null
    }>`SELECT MAX(position) AS position FROM request_batches`
    let after = last?.position ?? 0
    let seen = new Set((yield* placesAfter(sql, after - overlap)).map(({ position }) => position))
    return Effect.gen(function* () {
      const places = yield* placesAfter(sql, after - overlap)
      const fresh = places.filter(({ position }) => !seen.has(position))
      const rows = yield* rowsIn(
        sql,
        fresh.slice(0, most).map(({ position }) => position),
        most
      )
      after = places[0]?.position ?? after
      seen = new Set(places.map(({ position }) => position))
      const total = fresh.reduce((sum, place) => sum + place.rows_number, 0)
      return { rows, skipped: total - rows.length }
    })
  })
