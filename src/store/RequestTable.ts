// The request log in the store: ended requests and their usage sums, as tables.
// Must not know how a request ran, or when batches are written.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { dayMillis, dayOf } from "../domain/time.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"
import {
  rareId,
  type RareValue,
  rareValuesOf,
  type RecentRequests,
  type RequestFilter,
  type RequestPage,
  type RequestQuery,
  takes,
  type UsagePage,
  type UsageQuery
} from "../domain/usage/usageSums.ts"
import type { SeriesPage, SeriesQuery, TopEntry, TopQuery } from "../domain/usage/usageSeries.ts"
import { makeRetentionClock } from "./database/Retention.ts"
import { type RequestBatch, searchedFacts } from "./RequestBatch.ts"
import { type Batch, type PositionedRow, positionedRows, rowsPerPosition } from "./usage/batchedRows.ts"
import { followRows } from "./usage/RequestTail.ts"
import { addDays, addLate, rollDay, trimDays, trimPeriods } from "./usage/UsageSums.ts"
import { readReport } from "./usage/UsageReports.ts"
import { addSeries, readSeries, readTop, trimSeries } from "./usage/UsageSeries.ts"
import {
  isDataFault,
  lazyTransaction,
  makeStoreCall,
  makeStoreWrite,
  onSqlite,
  reasonOf,
  ReportSql
} from "./database/Sql.ts"

/** Batches that one query reads. */
const batchesPerRead = 10
/** Old batches are deleted once per this share of the requests that are kept. */
const trimShare = 0.01

/** The database does not take these rows, whenever they are sent. */
export class RowsRefused extends Data.TaggedError("RowsRefused")<{ readonly reason: string }> {}

export class RequestTable extends Context.Service<
  RequestTable,
  {
    /**
     * Writes the whole batch or nothing, and returns how many rows are stored under its id. They may be more than its own:
     * the rows that were sent together with them before, when the acknowledgement was lost. None is counted twice.
     */
    readonly write: (batch: RequestBatch) => Effect.Effect<number, StoreUnavailable | RowsRefused>
    /** The latest request that fits, among batches that may have this id. */
    readonly latest: (
      id: string,
      fit: (row: RequestRow) => boolean
    ) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
    readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
    /** Each run of the effect has the rows that were written since the run before, `most` at most. */
    readonly follow: (most: number) => Effect.Effect<Effect.Effect<RecentRequests, StoreUnavailable>, StoreUnavailable>
    readonly usage: (query: UsageQuery) => Effect.Effect<UsagePage, StoreUnavailable>
    readonly series: (query: SeriesQuery) => Effect.Effect<SeriesPage, StoreUnavailable>
    readonly top: (query: TopQuery) => Effect.Effect<ReadonlyArray<TopEntry>, StoreUnavailable>
    readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
  }
>()("gateway/store/RequestTable") {
  /** Keeps the latest `requestsStored` requests and a few more, and sums for `usageDays` days. */
  static readonly layer: Layer.Layer<RequestTable, never, SqlClient.SqlClient> = Layer.effect(
    RequestTable,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const limits = yield* Limits
      const { requestsStored } = limits
      const within = yield* makeStoreCall
      const written = yield* makeStoreWrite
      const inTransaction = lazyTransaction(sql)
      const retention = makeRetentionClock(sql, newestDayEnd(sql))
      const daily = makeDaily(retention)
      /** Old sums are deleted once a day. */
      const tidied = ({ isNew, now }: Today) => {
        if (!isNew) return Effect.void
        const oldest = dayOf(now - limits.usageDays * dayMillis)
        return Effect.all([trimDays(sql, oldest), trimPeriods(sql, oldest), trimSeries(sql, limits, now)])
      }
      let rolledMillis = 0
      /** Each batch adds one past day to the periods, until today has no more. */
      const rolled = ({ now }: Today) =>
        now === rolledMillis
          ? Effect.void
          : Effect.map(rollDay(sql, now), (isRolled) => {
              if (!isRolled) rolledMillis = now
            })
      /** The first batch of a process trims as well; a process that restarts often would otherwise never trim. */
      let untrimmed = requestsStored
      const trimmed = (rows: number) =>
        Effect.suspend(() => {
          untrimmed += rows
          if (untrimmed < requestsStored * trimShare) return Effect.void
          untrimmed = 0
          return Effect.asVoid(trim(sql, requestsStored))
        })
      return {
        write: (batch) =>
          written(
            Effect.catchIf(
              inTransaction(
                // The time is read first: the rows of the batch have the wall clock of this process.
                Effect.flatMap(daily, (today) =>
                  Effect.map(
                    Effect.all([
                      insertBatch(sql, batch, today.now),
                      trimmed(batch.rows),
                      Effect.suspend(() => tidied(today)),
                      Effect.suspend(() => rolled(today))
                    ]),
                    ([stored]) => stored
                  )
                )
              ),
              isDataFault,
              (error) => Effect.fail(new RowsRefused({ reason: reasonOf(error) }))
            )
          ),
        ...reads((yield* ReportSql) ?? sql, within, limits)
      }
    })
  )
}

/** The time by which rows are too old, and whether this day is another than that of the time before. */
interface Today {
  readonly now: number
  readonly isNew: boolean
}

/** Reads the time of the retention once for each day of the wall clock. */
const makeDaily = (retention: Effect.Effect<number, SqlError>): Effect.Effect<Today, SqlError> => {
  let day: number | undefined
  let now = 0
  return Effect.flatMap(Clock.currentTimeMillis, (wall): Effect.Effect<Today, SqlError> => {
    const today = Math.floor(wall / dayMillis)
    if (today === day) return Effect.succeed({ now, isNew: false })
    return Effect.map(retention, (millis) => {
      day = today
      now = millis
      return { now, isNew: true }
    })
  })
}

/** The end of the latest day that has requests. */
const newestDayEnd = (sql: SqlClient.SqlClient): Effect.Effect<number | undefined, SqlError> =>
  Effect.map(sql<{ readonly day: string | null }>`SELECT MAX(day) AS day FROM usage_sums`, ([row]) =>
    row === undefined || row.day === null ? undefined : Date.parse(row.day) + dayMillis
  )

const insertBatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, batch: RequestBatch, now: number) {
  // SQLite takes the bytes without a conversion; PostgreSQL needs a string.
  const packed = onSqlite(sql) ? sql`CAST(${batch.bytes} AS TEXT)` : sql`${batch.text}`
  const written = yield* sql<
    Pick<Batch, "position">
  >`INSERT INTO request_batches (batch_id, rows_number, packed) VALUES (${batch.id}, ${batch.rows}, ${packed})
    ON CONFLICT (batch_id) DO NOTHING RETURNING position`
  const [inserted] = written
  if (inserted === undefined) {
    // The batch was written before, alone or with rows after it, and its acknowledgement was lost.
    const [before] = yield* sql<{
      readonly rows_number: number
    }>`SELECT rows_number FROM request_batches WHERE batch_id = ${batch.id}`
    return before?.rows_number ?? batch.rows
  }
  const { hashes, names, sums } = batch
  yield* sql`INSERT INTO request_batch_names ${sql.insert({ position: inserted.position, names, hashes })}`
  yield* addDays(sql, sums)
  yield* addLate(sql, sums, now)
  yield* addSeries(sql, batch.series)
  return batch.rows
})

/** Deletes the batches older than those that hold `most` requests. */
const trim = (sql: SqlClient.SqlClient, most: number) =>
  Effect.andThen(
    sql`DELETE FROM request_batches WHERE position < (
    SELECT MAX(position) FROM (SELECT position, SUM(rows_number) OVER (ORDER BY position DESC) AS total FROM request_batches) AS counted
    WHERE total >= ${most})`,
    sql`DELETE FROM request_batch_names WHERE position < (SELECT MIN(position) FROM request_batches)`
  )

type Within = Effect.Success<typeof makeStoreCall>

interface Search {
  readonly rows: ReadonlyArray<PositionedRow>
  /** Where the search stopped; undefined: it has read everything. */
  readonly stopped: number | undefined
}

/**
 * At least `most` of the latest fitting rows, if there are so many: the last batch is returned whole. `conditions`
 * select batches, of which about `mostRead` rows are read.
 */
const findRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  cursor: number,
  most: number,
  fit: (row: RequestRow) => boolean,
  conditions: ReadonlyArray<Fragment>,
  mostRead: number
): Effect.fn.Return<Search, SqlError> {
  const rows: Array<PositionedRow> = []
  let read = 0
  let position = Math.ceil(cursor / rowsPerPosition)
  while (true) {
    const batches = yield* sql<Batch>`SELECT b.position, b.packed FROM request_batches b
      LEFT JOIN request_batch_names n ON n.position = b.position
      WHERE ${sql.and([sql`b.position < ${position}`, ...conditions])} ORDER BY b.position DESC LIMIT ${batchesPerRead}`
    if (batches.length === 0) return { rows, stopped: undefined }
    for (const batch of batches) {
      position = batch.position
      const all = positionedRows(batch)
      read += all.length
      rows.push(...all.filter((found) => found.position < cursor && fit(found.row)))
      const stopped = position * rowsPerPosition
      if (rows.length >= most || read >= mostRead) return { rows, stopped }
      // Other fibers run between two batches.
      yield* Effect.yieldNow
    }
  }
})

/** Whether the first text has the second in it; of bytes the same. */
const contains = (sql: SqlClient.SqlClient, column: "b.packed" | "n.hashes" | "n.names", part: string | Uint8Array) => {
  const name = sql.literal(column)
  if (onSqlite(sql)) return sql`instr(${name}, ${part}) > 0`
  return sql`position(${part} IN ${name}) > 0`
}

/** Selects the batches that may have this value. Batches of versions up to migration 15 have no hashes. */
const mayHave = (sql: SqlClient.SqlClient, { hash, text }: RareValue): Fragment =>
  sql`CASE WHEN n.hashes IS NULL THEN ${contains(sql, "b.packed", text)} ELSE ${contains(sql, "n.hashes", hash)} END`

/**
 * Selects the batches that may have a row of this query, so that the database passes over the others. Their names and
 * hashes are 50 times shorter than their rows (bench `reports`). Batches of versions up to migration 13 have no names.
 */
const mayMatch = (sql: SqlClient.SqlClient, filter: RequestFilter): ReadonlyArray<Fragment> => [
  ...searchedFacts(filter).map((fact) => sql`(n.names IS NULL OR ${contains(sql, "n.names", `,${fact},`)})`),
  ...rareValuesOf(filter).map((value) => mayHave(sql, value))
]

const reads = (
  sql: SqlClient.SqlClient,
  within: Within,
  { requestsSearched, usageSearched }: LimitValues
): Omit<RequestTable["Service"], "write"> => ({
  latest: (id, fit) =>
    Effect.map(
      within(findRows(sql, Number.MAX_SAFE_INTEGER, 1, fit, [mayHave(sql, rareId(id))], Number.MAX_SAFE_INTEGER)),
      ({ rows: [latest] }) => latest?.row
    ),
  requests: (query) => {
    const { cursor = Number.MAX_SAFE_INTEGER, limit } = query
    return Effect.map(
      within(findRows(sql, cursor, limit + 1, takes(query), mayMatch(sql, query), requestsSearched)),
      ({ rows, stopped }) => ({
        rows: rows.slice(0, limit).map(({ row }) => row),
        next: rows.length > limit ? rows[limit - 1]?.position : stopped
      })
    )
  },
  follow: (most) => Effect.map(within(followRows(sql, most)), within),
  usage: (query) => within(readReport(sql, query, usageSearched)),
  series: (query) => within(readSeries(sql, query)),
  top: (query) => within(readTop(sql, query)),
  lastUsed: (keyId) =>
    Effect.map(
      within(
        sql<{
          readonly last_millis: number | null
        }>`SELECT MAX(last_millis) AS last_millis FROM usage_sums WHERE key_id = ${keyId}`
      ),
      // Rows from before the column existed have 0.
      ([row]) => row?.last_millis || undefined
    )
})
