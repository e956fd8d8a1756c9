// `usage` and `requests`: the sums and the newest requests of the store, as a table, JSON or CSV.
// Must not search or add anything up; queries and rows are those of the admin API.
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import {
  alignColumns,
  commandFailure,
  type Failure,
  printAnswer,
  renderJson,
  storeFailure,
  usageFailure
} from "../Output.ts"
import * as Console from "effect/Console"
import { Administration } from "../../admin/Administration.ts"
import { withEndUser } from "../../accounting/EndUser.ts"
import { deleteRequests } from "../../admin/RequestDeletion.ts"
import { layerContents } from "../../Gateway.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import { printCsv } from "../../domain/text/printable.ts"
import { isJsonObject, type Json, type JsonObject, jsonObjectOf } from "../../domain/text/json.ts"
import { deletionQuery, requestQuery, usageQuery } from "../../http/admin/adminQuery.ts"
import { shownRequest, usageColumns, usagePages } from "../../http/admin/AdminRows.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { onStore, type PrintOptions } from "./RecordCommands.ts"

/** Fields of the query by their names; those of absent flags are undefined. */
export type QueryFields = Readonly<Record<string, string | undefined>>

export const searchOf = (fields: QueryFields): URLSearchParams =>
  new URLSearchParams(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** The flag that gives a field of the query. */
const flagOf = (field: string): string =>
  field === "group_by"
    ? "--by"
    : field === "config"
      ? "--use-config"
      : field.startsWith("metadata.")
        ? "--metadata"
        : `--${field.replaceAll("_", "-")}`

/** The checked query of these fields. `metadata` has the names by which requests are counted. */
export const checkedQuery = <A>(
  read: (url: string, metadata: ReadonlyArray<string>) => Result.Result<A, BodyInvalid>,
  search: URLSearchParams,
  metadata: ReadonlyArray<string>
): Effect.Effect<A, Failure> => {
  const unknown = [...search.keys()].find(
    (field) => field.startsWith("metadata.") && !metadata.includes(field.slice("metadata.".length))
  )
  return unknown === undefined
    ? Effect.mapError(Effect.fromResult(read(`?${search}`, metadata)), (error) =>
        usageFailure(error.message.replace(error.param ?? "", flagOf(error.param ?? "")))
      )
    : Effect.fail(
        usageFailure(
          `--metadata has a name that is not counted: add "${unknown.slice("metadata.".length)}" to telemetry.usage_metadata.`
        )
      )
}

// `requests`: the newest requests of the store, as a table or JSON.

export interface RequestsOptions extends PrintOptions {
  /** Fields of the query of `GET /admin/v1/requests`. */
  readonly fields: QueryFields
}

const usualRows = 20

/** A search reads a bounded number of requests at a time, so that a page may be short: it goes on until it has all. */
const readRequests = Effect.fnUntraced(function* (fields: QueryFields, metadata: ReadonlyArray<string>) {
  const log = yield* UsageLog
  const { keys } = yield* Administration
  const query = withEndUser(
    yield* checkedQuery(requestQuery, searchOf({ limit: String(usualRows), ...fields }), metadata)
  )
  const rows: Array<JsonObject> = []
  let cursor: number | undefined
  do {
    const page = yield* Effect.mapError(log.requests({ ...query, limit: query.limit - rows.length, cursor }), (error) =>
      commandFailure(errorFacts(error).message)
    )
    rows.push(...page.rows.map((row) => jsonObjectOf(shownRequest(row))))
    cursor = page.next
  } while (cursor !== undefined && rows.length < query.limit)
  return { rows, nameOf: keys.nameOf }
})

const columns = [
  "ts",
  "status",
  "duration_ms",
  "provider",
  "model",
  "key",
  "input_tokens",
  "output_tokens",
  "cost_usd",
  "error_code",
  "request_id"
]

const cellOf = (value: Json | undefined): string => (value === undefined || value === null ? "-" : String(value))

const requestTable = (
  rows: ReadonlyArray<JsonObject>,
  nameOf: (id: string) => string | undefined
): ReadonlyArray<string> => {
  const cells = (row: JsonObject): ReadonlyArray<string> => {
    const usage = isJsonObject(row["usage"]) ? row["usage"] : {}
    const { key_id: keyId } = row
    const key = typeof keyId === "string" ? (nameOf(keyId) ?? keyId) : undefined
    return columns.map((column) => cellOf(column === "key" ? key : (usage[column] ?? row[column])))
  }
  return alignColumns([columns, ...rows.map(cells)])
}

export const printRequests = Effect.fn("Cli.requests")(function* (
  options: RequestsOptions
): Effect.fn.Return<void, Failure> {
  const { nameOf, rows } = yield* onStore(options, ({ usageMetadata = [] }) =>
    readRequests(options.fields, usageMetadata)
  )
  yield* printAnswer(options, rows, requestTable(rows, nameOf))
})

export const printDeletion = Effect.fn("Cli.requests.delete")(function* (
  options: RequestsOptions
): Effect.fn.Return<void, Failure> {
  const query = yield* checkedQuery(deletionQuery, searchOf(options.fields), [])
  const answer = yield* onStore(options, (settings) =>
    deleteRequests(query, { id: "cli", requestId: undefined }).pipe(
      Effect.mapError((error) => commandFailure(errorFacts(error).message)),
      Effect.provide(layerContents(settings)),
      Effect.catchTag("StoreUnusable", (error) => Effect.fail(storeFailure(error)))
    )
  )
  const { contents, requests } = answer
  yield* printAnswer(options, answer, [`deleted ${requests} requests, and the content of ${contents}`])
})

// `usage`: the usage of all requests from the store, as a table, JSON or CSV.

export interface UsageOptions extends PrintOptions {
  readonly csv: boolean
  /** Fields of the query of `GET /admin/v1/usage`. */
  readonly fields: QueryFields
}

const readUsage = Effect.fnUntraced(function* ({ fields }: UsageOptions, metadata: ReadonlyArray<string>) {
  const search = searchOf(fields)
  const log = yield* UsageLog
  const { keys } = yield* Administration
  const rows: Array<JsonObject> = []
  for (;;) {
    const query = yield* checkedQuery(usageQuery, search, metadata)
    const page = yield* Effect.mapError(usagePages(log, keys.nameOf)(query), (error) =>
      commandFailure(errorFacts(error).message)
    )
    rows.push(...page.rows.map(jsonObjectOf))
    if (page.cursor === undefined) return { columns: usageColumns(query), rows }
    search.set("cursor", page.cursor)
  }
})

const totalled: ReadonlySet<string> = new Set([
  "requests",
  "errors",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cost_usd"
])

/** Money is added up in millionths, so that the sum has no rounding errors. */
const sumOf = (rows: ReadonlyArray<JsonObject>, column: string): number =>
  Math.round(rows.reduce((sum, row) => sum + Number(row[column] ?? 0) * 1e6, 0)) / 1e6

/** A header line, one line a row, and the total. Unknown values are a dash. */
const usageTable = (columns: ReadonlyArray<string>, rows: ReadonlyArray<JsonObject>): ReadonlyArray<string> => {
  const textOf = (value: JsonObject[string] | undefined): string =>
    value === undefined || value === "" ? "-" : String(value)
  return alignColumns([
    columns,
    ...rows.map((row) => columns.map((column) => textOf(row[column]))),
    columns.map((column, at) => (totalled.has(column) ? String(sumOf(rows, column)) : at === 0 ? "total" : ""))
  ])
}

export const printUsage = Effect.fn("Cli.usage")(function* (options: UsageOptions): Effect.fn.Return<void, Failure> {
  if (options.csv && options.json) return yield* usageFailure("--csv and --json exclude each other")
  const { columns, rows } = yield* onStore(options, ({ usageMetadata = [] }) => readUsage(options, usageMetadata))
  if (options.json) return yield* Console.log(renderJson(rows))
  // The console ends the last line.
  if (options.csv) return yield* Console.log(printCsv(columns, rows).replace(/\r\n$/, "\r"))
  yield* Console.log(usageTable(columns, rows).join("\n"))
})
