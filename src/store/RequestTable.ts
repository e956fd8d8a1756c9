// The request log in the store: ended requests and their usage sums, as tables.
// Must not know how a request ran, or when batches are written.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { dayMillis, dayOf } from "../domain/time.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"
import type {
  RecentRequests,
  RequestDeletion,
  RequestLookup,
  RequestPage,
  RequestQuery,
  UsagePage,
  UsageQuery
} from "../domain/usage/usageSums.ts"
import type { SeriesPage, SeriesQuery, TopEntry, TopQuery } from "../domain/usage/usageSeries.ts"
import { makeRetentionClock, removedRows } from "./database/Retention.ts"
import type { RequestBatch } from "./RequestBatch.ts"
import { deleteRows, findFloor, findRow, findRows, followRows, insertRows, trimRows } from "./usage/RequestRows.ts"
import { addDays, addLate, rollDay, trimDays, trimPeriods } from "./usage/UsageSums.ts"
import { readReport } from "./usage/UsageReports.ts"
import { addSeries, readSeries, readTop, trimSeries } from "./usage/UsageSeries.ts"
import {
  durableTransaction,
  isDataFault,
  lazyTransaction,
  makeStoreCall,
  makeStoreWrite,
  reasonOf,
  ReportSql
} from "./database/Sql.ts"

/** A batch of this version has its rows in a table of their own; up to migration 17 it had them as one text. */
const unpacked = "[]"
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
    readonly latest: (lookup: RequestLookup) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
    readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
    /** Each run of the effect has the rows that were written since the run before, `most` at most. */
    readonly follow: (most: number) => Effect.Effect<Effect.Effect<RecentRequests, StoreUnavailable>, StoreUnavailable>
    readonly usage: (query: UsageQuery) => Effect.Effect<UsagePage, StoreUnavailable>
    readonly series: (query: SeriesQuery) => Effect.Effect<SeriesPage, StoreUnavailable>
    readonly top: (query: TopQuery) => Effect.Effect<ReadonlyArray<TopEntry>, StoreUnavailable>
    readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
    /** Deletes `removedRows` of these requests and returns their own ids; fewer: none was left. Sums stay. */
    readonly remove: (deletion: RequestDeletion) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
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
      /** Batches below this position are deleted, some with each batch that is written. */
      let floor: number | undefined
      const trimmed = (rows: number) =>
        Effect.gen(function* () {
          untrimmed += rows
          const isDue = untrimmed >= requestsStored * trimShare
          if (isDue) untrimmed = 0
          const below = isDue ? yield* findFloor(sql, requestsStored) : floor
          // The next batch after a failure does not trim: it would fail for the same reason.
          floor = undefined
          if (below !== undefined && (yield* trimRows(sql, below, removedRows))) floor = below
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
        remove: (deletion) => written(durableTransaction(sql)(deleteRows(sql, deletion, removedRows))),
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

/** Adds a batch to the list and to the sums, and returns how many rows are stored under its id. */
const insertBatch = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, batch: RequestBatch, now: number) {
  const written = yield* sql<{
    readonly position: number
  }>`INSERT INTO request_batches (batch_id, rows_number, packed) VALUES (${batch.id}, ${batch.rows}, ${unpacked})
    ON CONFLICT (batch_id) DO NOTHING RETURNING position`
  const [inserted] = written
  if (inserted === undefined) {
    // The batch was written before, alone or with rows after it, and its acknowledgement was lost.
    const [before] = yield* sql<{
      readonly rows_number: number
    }>`SELECT rows_number FROM request_batches WHERE batch_id = ${batch.id}`
    return before?.rows_number ?? batch.rows
  }
  const { sums } = batch
  yield* insertRows(sql, inserted.position, batch)
  yield* addDays(sql, sums)
  yield* addLate(sql, sums, now)
  yield* addSeries(sql, batch.series)
  return batch.rows
})

type Within = Effect.Success<typeof makeStoreCall>

const reads = (
  sql: SqlClient.SqlClient,
  within: Within,
  { requestsSearched, usageSearched }: LimitValues
): Omit<RequestTable["Service"], "remove" | "write"> => ({
  latest: (lookup) => within(findRow(sql, lookup)),
  requests: (query) => within(findRows(sql, query, requestsSearched)),
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
