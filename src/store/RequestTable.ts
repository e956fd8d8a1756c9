// Requests that have ended and their sums, as tables of the store.
// It must not know how a request ran, or when rows are written.
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { type Json, parseJsonText } from "../domain/json.ts"
import { Limits } from "../domain/Limits.ts"
import type { AttemptRow, RequestRow } from "../domain/RequestRow.ts"
import type { Usage } from "../domain/Usage.ts"
import {
  type Grouping,
  type RequestPage,
  type RequestQuery,
  type Sums,
  sumUp,
  type UsageBucket,
  type UsageEntry,
  type UsageGroup,
  type UsageQuery
} from "../domain/usageSums.ts"
import { answered, lazily } from "./Sql.ts"

const dayMillis = 24 * 60 * 60 * 1000
/** Rows in one statement: more of them make it no faster. */
const rowsPerStatement = 100

export class RequestTable extends Context.Service<RequestTable, {
  /** All of them or none. */
  readonly write: (entries: ReadonlyArray<UsageEntry>) => Effect.Effect<void, StoreUnavailable>
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
      let tidiedDay = 0
      /** Once a day is often enough for sums. */
      const tidied = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const day = Math.floor(now / dayMillis)
        if (day === tidiedDay) return Effect.void
        tidiedDay = day
        return Effect.asVoid(sql`DELETE FROM usage_sums WHERE day < ${new Date(now - usageDays * dayMillis).toISOString().slice(0, 10)}`)
      })
      const trimmed = sql`DELETE FROM requests WHERE position <= (SELECT MAX(position) FROM requests) - ${requestsStored}`
      return {
        write: (entries) => within(atOnce(Effect.andThen(written(sql, entries), Effect.andThen(trimmed, tidied)))),
        ...reads(sql, within)
      }
    })
  )
}

type Row = {
  readonly position: number
  readonly ended_millis: number
  readonly request_id: string
  readonly trace_id: string
  readonly route: string
  readonly status: number
  readonly provider: string | null
  readonly model: string | null
  readonly target: number | null
  readonly attempts: string
  readonly stream: number
  readonly cache: string | null
  readonly duration_millis: number
  readonly ttft_millis: number | null
  readonly overhead_millis: number
  readonly usage: string | null
  readonly cost_micros: number | null
  readonly key_id: string | null
  readonly error_code: string | null
}

const columnsOf = (row: RequestRow): Omit<Row, "position"> => ({
  ended_millis: row.endedMillis,
  request_id: row.requestId,
  trace_id: row.traceId,
  route: row.route,
  status: row.status,
  provider: row.provider ?? null,
  model: row.model ?? null,
  target: row.target ?? null,
  attempts: JSON.stringify(row.attempts),
  stream: row.stream ? 1 : 0,
  cache: row.cache ?? null,
  duration_millis: row.durationMillis,
  ttft_millis: row.ttftMillis ?? null,
  overhead_millis: row.overheadMillis,
  usage: row.usage === undefined ? null : JSON.stringify(row.usage),
  cost_micros: row.costMicros ?? null,
  key_id: row.keyId ?? null,
  error_code: row.errorCode ?? null
})

/** The text was written here. */
const json = (text: string | null): Json => text === null ? null : Result.getOrElse(parseJsonText(text), () => null)
const attemptsOf = (text: string): ReadonlyArray<AttemptRow> => {
  const value: unknown = json(text)
  return Array.isArray(value) ? value as ReadonlyArray<AttemptRow> : []
}
const usageOf = (text: string | null): Usage | undefined => {
  const value: unknown = json(text)
  return typeof value === "object" && value !== null ? value as Usage : undefined
}

const rowOf = (row: Row): RequestRow => ({
  endedMillis: row.ended_millis,
  requestId: row.request_id,
  traceId: row.trace_id,
  route: row.route,
  status: row.status,
  provider: row.provider ?? undefined,
  model: row.model ?? undefined,
  target: row.target ?? undefined,
  attempts: attemptsOf(row.attempts),
  stream: row.stream === 1,
  cache: row.cache ?? undefined,
  durationMillis: row.duration_millis,
  ttftMillis: row.ttft_millis ?? undefined,
  overheadMillis: row.overhead_millis,
  usage: usageOf(row.usage),
  costMicros: row.cost_micros ?? undefined,
  keyId: row.key_id ?? undefined,
  errorCode: row.error_code ?? undefined
})

const bucketsOf = (entries: ReadonlyArray<UsageEntry>): ReadonlyArray<UsageBucket> => {
  const buckets = new Map<string, UsageBucket>()
  for (const entry of entries) sumUp(buckets, entry)
  // In one order for all processes, so that none of them waits for another that waits for it.
  return [...buckets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, bucket]) => bucket)
}

const written = (sql: SqlClient.SqlClient, entries: ReadonlyArray<UsageEntry>) =>
  Effect.gen(function*() {
    for (const some of Arr.chunksOf(entries.map(({ row }) => columnsOf(row)), rowsPerStatement)) {
      yield* sql`INSERT INTO requests ${sql.insert(some)}`
    }
    for (const { by, sums } of bucketsOf(entries)) {
      const { cached, costMicros, errors, input, output, requests } = sums
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

const columns: Readonly<Record<Grouping, string>> = { day: "day", key: "key_id", provider: "provider", model: "model" }
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
      within(sql<Row>`SELECT * FROM requests WHERE request_id = ${requestId} ORDER BY position DESC LIMIT 1`),
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
      within(sql<Row>`SELECT * FROM requests WHERE ${sql.and(asked)} ORDER BY position DESC LIMIT ${limit + 1}`),
      (rows) => ({ rows: rows.slice(0, limit).map(rowOf), next: rows.length > limit ? rows[limit - 1]?.position : undefined })
    )
  },
  usage: ({ from, groupBy, key, to }) => {
    const by = groupBy.map((one) => columns[one]).join(", ")
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
