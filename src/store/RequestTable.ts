// Requests that have ended and their sums, as tables of the store.
// It must not know how a request ran, or when rows are written.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { dayMillis, dayOf } from "../domain/days.ts"
import { Limits } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"
import {
  type Grouping,
  type RequestPage,
  type RequestQuery,
  type Sums,
  type UsageGroup,
  type UsageQuery
} from "../domain/usageSums.ts"
import { type AskedFor, unpacked } from "./packedRow.ts"
import { columns, type RequestBatch } from "./RequestBatch.ts"
import { answered, lazily, onSqlite } from "./Sql.ts"

/** Rows in one statement: more of them make it no faster. */
const rowsPerStatement = 100

export class RequestTable extends Context.Service<RequestTable, {
  /** All of them or none. */
  readonly write: (batch: RequestBatch) => Effect.Effect<void, StoreUnavailable>
  /** The latest of that id. */
  readonly request: (requestId: string) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
  readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
  readonly usage: (query: UsageQuery) => Effect.Effect<ReadonlyArray<UsageGroup>, StoreUnavailable>
  readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
}>()("gateway/store/RequestTable") {
  /** Keeps `requestsStored` of the latest requests, and sums for `usageDays` days. */
  static readonly layer: Layer.Layer<RequestTable, never, SqlClient.SqlClient> = Layer.effect(
    RequestTable,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { requestsStored, usageDays } = yield* Limits
      const within = yield* answered
      const atOnce = lazily(sql)
      const written = writing(sql)
      let tidiedDay = 0
      /** Once a day is often enough for sums. */
      const tidied = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const day = Math.floor(now / dayMillis)
        if (day === tidiedDay) return Effect.void
        tidiedDay = day
        return Effect.asVoid(sql`DELETE FROM usage_sums WHERE day < ${dayOf(now - usageDays * dayMillis)}`)
      })
      const trimmed = sql`DELETE FROM requests WHERE position <= (SELECT MAX(position) FROM requests) - ${requestsStored}`
      return {
        write: (batch) => within(atOnce(Effect.andThen(written(batch), Effect.andThen(trimmed, tidied)))),
        ...reads(sql, within)
      }
    })
  )
}

/** What is asked for, beside the rest as one text, which costs a fraction of what a column for each fact does. */
interface Row {
  readonly position: number
  readonly ended_millis: number
  readonly request_id: string
  readonly status: number
  readonly provider: string | null
  readonly model: string | null
  readonly key_id: string | null
  readonly row: string
}

const askedFor = (row: Row): AskedFor => ({
  endedMillis: row.ended_millis,
  requestId: row.request_id,
  status: row.status,
  provider: row.provider ?? undefined,
  model: row.model ?? undefined,
  keyId: row.key_id ?? undefined
})

const rowOf = (row: Row): RequestRow => unpacked(askedFor(row), row.row)
const selected = ["position", ...columns].join(", ")

/** Statements for so many rows, worded once: the same text is prepared once by the database as well. */
const insertions = (sql: SqlClient.SqlClient) => {
  const texts = new Map<number, string>()
  const place = onSqlite(sql) ? () => "?" : (at: number) => `$${at + 1}`
  const wordsOf = (rows: number): string => {
    const known = texts.get(rows)
    if (known !== undefined) return known
    const values = Array.from({ length: rows }, (_, row) => `(${columns.map((_, at) => place(row * columns.length + at)).join(", ")})`)
    const text = `INSERT INTO requests (${columns.join(", ")}) VALUES ${values.join(", ")}`
    texts.set(rows, text)
    return text
  }
  return (values: RequestBatch["values"]) => sql.unsafe(wordsOf(values.length / columns.length), values)
}

const writing = (sql: SqlClient.SqlClient) => {
  const insert = insertions(sql)
  return Effect.fnUntraced(function*({ rows, sums, values }: RequestBatch) {
    for (let row = 0; row < rows; row += rowsPerStatement) {
      yield* insert(values.slice(row * columns.length, (row + rowsPerStatement) * columns.length))
    }
    for (const { by, sums: { cached, costMicros, errors, input, output, requests } } of sums) {
      yield* sql`
        INSERT INTO usage_sums ${sql.insert({
          day: by.day, key_id: by.key, provider: by.provider, model: by.model, requests, errors, input, output, cached, cost_micros: costMicros
        })}
        ON CONFLICT (day, key_id, provider, model) DO UPDATE SET
          requests = usage_sums.requests + excluded.requests, errors = usage_sums.errors + excluded.errors,
          input = usage_sums.input + excluded.input, output = usage_sums.output + excluded.output,
          cached = usage_sums.cached + excluded.cached, cost_micros = usage_sums.cost_micros + excluded.cost_micros`
    }
  })
}

const groupColumns: Readonly<Record<Grouping, string>> = { day: "day", key: "key_id", provider: "provider", model: "model" }
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
  const values: Readonly<Record<Grouping, string | undefined>> = { day: row.day, key: row.key_id, provider: row.provider, model: row.model }
  return Object.fromEntries(groupBy.map((one) => [one, values[one] ?? ""]))
}

type Within = Effect.Success<typeof answered>

const reads = (sql: SqlClient.SqlClient, within: Within): Omit<RequestTable["Service"], "write"> => ({
  request: (requestId) =>
    Effect.map(
      within(sql<Row>`SELECT ${sql.literal(selected)} FROM requests WHERE request_id = ${requestId} ORDER BY position DESC LIMIT 1`),
      ([row]) => row === undefined ? undefined : rowOf(row)
    ),
  requests: ({ cursor = Number.MAX_SAFE_INTEGER, key, limit, model, provider, since, status }) => {
    const asked = [
      sql`position < ${cursor}`,
      ...(status === undefined ? [] : [sql`status = ${status}`]),
      ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
      ...(model === undefined ? [] : [sql`model = ${model}`]),
      ...(key === undefined ? [] : [sql`key_id = ${key}`]),
      ...(since === undefined ? [] : [sql`ended_millis >= ${since}`])
    ]
    return Effect.map(
      within(sql<Row>`SELECT ${sql.literal(selected)} FROM requests WHERE ${sql.and(asked)} ORDER BY position DESC LIMIT ${limit + 1}`),
      (rows) => ({ rows: rows.slice(0, limit).map(rowOf), next: rows.length > limit ? rows[limit - 1]?.position : undefined })
    )
  },
  usage: ({ from, groupBy, key, to }) => {
    const by = groupBy.map((one) => groupColumns[one]).join(", ")
    const asked = [
      sql`day >= ${from ?? ""}`,
      ...(to === undefined ? [] : [sql`day <= ${to}`]),
      ...(key === undefined ? [] : [sql`key_id = ${key}`])
    ]
    const found = by === ""
      ? sql<SumRow>`SELECT ${sql.literal(sumColumns)} FROM usage_sums WHERE ${sql.and(asked)}`
      : sql<SumRow>`SELECT ${sql.literal(by)}, ${sql.literal(sumColumns)} FROM usage_sums WHERE ${sql.and(asked)}
          GROUP BY ${sql.literal(by)} ORDER BY ${sql.literal(by)}`
    // Without groups there is one row, be there anything or not.
    return Effect.map(within(found), (rows) =>
      rows.filter(({ requests }) => requests !== null).map((row) => ({ by: byOf(row, groupBy), ...sumsOf(row) })))
  },
  lastUsed: (keyId) =>
    Effect.map(
      within(sql<{ readonly ended_millis: number }>`
        SELECT ended_millis FROM requests WHERE key_id = ${keyId} ORDER BY position DESC LIMIT 1`),
      ([row]) => row?.ended_millis
    )
})
