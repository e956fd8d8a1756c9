// Requests that have ended and their sums, as tables of the store.
// It must not know how a request ran, or when rows are written.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { dayMillis, dayOf } from "../domain/text/days.ts"
import { parseJsonText } from "../domain/text/json.ts"
import { Limits } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"
import {
  fits,
  type Grouping,
  type RequestPage,
  type RequestQuery,
  type Sums,
  type UsageGroup,
  type UsageQuery
} from "../domain/usageSums.ts"
import { type PackedRow, unpacked } from "./packedRow.ts"
import type { RequestBatch } from "./RequestBatch.ts"
import { answered, lazily, onSqlite } from "./Sql.ts"

/** Batches that are looked through at once. */
const batchesPerRead = 10
/** Positions of rows: that of their batch, and their place in it; no batch has as many. */
const placesPerBatch = 1000
/** Batches leave together when they hold this share of what is kept. */
const trimShare = 0.01

export class RequestTable extends Context.Service<
  RequestTable,
  {
    /** All of them or none. */
    readonly write: (batch: RequestBatch) => Effect.Effect<void, StoreUnavailable>
    /** The latest that fits, of those that have this id in any way. */
    readonly latest: (
      id: string,
      fit: (row: RequestRow) => boolean
    ) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
    readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
    readonly usage: (query: UsageQuery) => Effect.Effect<ReadonlyArray<UsageGroup>, StoreUnavailable>
    readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
  }
>()("gateway/store/RequestTable") {
  /** Keeps `requestsStored` of the latest requests and a few more, and sums for `usageDays` days. */
  static readonly layer: Layer.Layer<RequestTable, never, SqlClient.SqlClient> = Layer.effect(
    RequestTable,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { requestsStored, usageDays } = yield* Limits
      const within = yield* answered
      const atOnce = lazily(sql)
      let tidiedDay = 0
      /** Once a day is often enough for sums. */
      const tidied = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const day = Math.floor(now / dayMillis)
        if (day === tidiedDay) return Effect.void
        tidiedDay = day
        return Effect.asVoid(sql`DELETE FROM usage_sums WHERE day < ${dayOf(now - usageDays * dayMillis)}`)
      })
      /** The first batch of a process trims too, or one that is often started would never do so. */
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
          within(atOnce(Effect.andThen(written(sql, batch), Effect.andThen(trimmed(batch.rows), tidied)))),
        ...reads(sql, within)
      }
    })
  )
}

interface Batch {
  readonly position: number
  readonly packed: string
}

/** The text was written here. */
const packedRows = ({ packed }: Batch): ReadonlyArray<PackedRow> => {
  const value: unknown = Result.getOrThrow(parseJsonText(packed))
  return value as ReadonlyArray<PackedRow>
}

const written = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, batch: RequestBatch) {
  // SQLite takes bytes without making anything of them, PostgreSQL wants a text.
  const packed = onSqlite(sql) ? sql`CAST(${batch.bytes} AS TEXT)` : sql`${batch.text}`
  yield* sql`INSERT INTO request_batches (rows_number, packed) VALUES (${batch.rows}, ${packed})`
  for (const {
    by,
    lastMillis,
    sums: { cached, costMicros, errors, input, output, requests }
  } of batch.sums) {
    yield* sql`
      INSERT INTO usage_sums ${sql.insert({
        day: by.day,
        key_id: by.key,
        provider: by.provider,
        model: by.model,
        requests,
        errors,
        input,
        output,
        cached,
        cost_micros: costMicros,
        last_millis: lastMillis
      })}
      ON CONFLICT (day, key_id, provider, model) DO UPDATE SET
        requests = usage_sums.requests + excluded.requests, errors = usage_sums.errors + excluded.errors,
        input = usage_sums.input + excluded.input, output = usage_sums.output + excluded.output,
        cached = usage_sums.cached + excluded.cached, cost_micros = usage_sums.cost_micros + excluded.cost_micros,
        last_millis = CASE WHEN excluded.last_millis > usage_sums.last_millis THEN excluded.last_millis ELSE usage_sums.last_millis END`
  }
})

/** The batches behind those that hold as many requests as are kept. */
const trim = (sql: SqlClient.SqlClient, most: number) =>
  sql`DELETE FROM request_batches WHERE position < (
    SELECT MAX(position) FROM (SELECT position, SUM(rows_number) OVER (ORDER BY position DESC) AS total FROM request_batches) AS counted
    WHERE total >= ${most})`

const groupColumns: Readonly<Record<Grouping, string>> = {
  day: "day",
  key: "key_id",
  provider: "provider",
  model: "model"
}
const sumNames = ["requests", "errors", "input", "output", "cached", "cost_micros"] as const
/** PostgreSQL would make a sum of whole numbers a decimal. */
const sumColumns = sumNames.map((name) => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(", ")

interface SumRow extends Readonly<Record<(typeof sumNames)[number], number | null>> {
  readonly day?: string
  readonly key_id?: string
  readonly provider?: string
  readonly model?: string
}

const sumsOf = ({ cached, cost_micros: costMicros, errors, input, output, requests }: SumRow): Sums => ({
  requests: requests ?? 0,
  errors: errors ?? 0,
  input: input ?? 0,
  output: output ?? 0,
  cached: cached ?? 0,
  costMicros: costMicros ?? 0
})

const byOf = (row: SumRow, groupBy: ReadonlyArray<Grouping>): UsageGroup["by"] => {
  const values: Readonly<Record<Grouping, string | undefined>> = {
    day: row.day,
    key: row.key_id,
    provider: row.provider,
    model: row.model
  }
  return Object.fromEntries(groupBy.map((one) => [one, values[one] ?? ""]))
}

type Within = Effect.Success<typeof answered>

interface Found {
  readonly position: number
  readonly row: RequestRow
}

/** The latest first. */
const placed = (batch: Batch): ReadonlyArray<Found> =>
  packedRows(batch)
    .map((row, at) => ({ position: batch.position * placesPerBatch + at, row: unpacked(row) }))
    .toReversed()

/** The latest rows that fit, of batches of which something may be known beforehand; so many, and what else is in the batch of the last one. */
const found = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  cursor: number,
  most: number,
  fit: (row: RequestRow) => boolean,
  asked: ReadonlyArray<Fragment> = []
) {
  const all: Array<Found> = []
  let behind = Math.ceil(cursor / placesPerBatch)
  while (true) {
    const batches = yield* sql<Batch>`SELECT position, packed FROM request_batches
      WHERE ${sql.and([sql`position < ${behind}`, ...asked])} ORDER BY position DESC LIMIT ${batchesPerRead}`
    if (batches.length === 0) return all
    for (const batch of batches) {
      behind = batch.position
      all.push(...placed(batch).filter(({ position, row }) => position < cursor && fit(row)))
      if (all.length >= most) return all
    }
    // Others have their turn in between.
    yield* Effect.yieldNow
  }
})

/** Batches in which this id stands. */
const holding = (sql: SqlClient.SqlClient, id: string): Fragment =>
  sql`${sql.literal(onSqlite(sql) ? "instr" : "strpos")}(packed, ${JSON.stringify(id)}) > 0`

const reads = (sql: SqlClient.SqlClient, within: Within): Omit<RequestTable["Service"], "write"> => ({
  latest: (id, fit) =>
    Effect.map(within(found(sql, Number.MAX_SAFE_INTEGER, 1, fit, [holding(sql, id)])), ([latest]) => latest?.row),
  requests: (query) => {
    const { cursor = Number.MAX_SAFE_INTEGER, limit, requestId } = query
    const asked = requestId === undefined ? [] : [holding(sql, requestId)]
    return Effect.map(within(found(sql, cursor, limit + 1, (row) => fits(row, query), asked)), (all) => ({
      rows: all.slice(0, limit).map(({ row }) => row),
      next: all.length > limit ? all[limit - 1]?.position : undefined
    }))
  },
  usage: ({ from, groupBy, key, to }) => {
    const by = groupBy.map((one) => groupColumns[one]).join(", ")
    const asked = [
      sql`day >= ${from ?? ""}`,
      ...(to === undefined ? [] : [sql`day <= ${to}`]),
      ...(key === undefined ? [] : [sql`key_id = ${key}`])
    ]
    const summed =
      by === ""
        ? sql<SumRow>`SELECT ${sql.literal(sumColumns)} FROM usage_sums WHERE ${sql.and(asked)}`
        : sql<SumRow>`SELECT ${sql.literal(by)}, ${sql.literal(sumColumns)} FROM usage_sums WHERE ${sql.and(asked)}
          GROUP BY ${sql.literal(by)} ORDER BY ${sql.literal(by)}`
    // Without groups there is one row, be there anything or not.
    return Effect.map(within(summed), (rows) =>
      rows.filter(({ requests }) => requests !== null).map((row) => ({ by: byOf(row, groupBy), ...sumsOf(row) }))
    )
  },
  lastUsed: (keyId) =>
    Effect.map(
      within(
        sql<{
          readonly last_millis: number | null
        }>`SELECT MAX(last_millis) AS last_millis FROM usage_sums WHERE key_id = ${keyId}`
      ),
      // 0 for what was summed before this was noted.
      ([row]) => row?.last_millis || undefined
    )
})
