// `requests`: the newest requests of the store, as a table or JSON.
// Must not search itself; the query and the rows are those of the admin API.
import * as Effect from "effect/Effect"
import { Administration } from "../../admin/Administration.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import { jsonObjectOf, type Json, type JsonObject, isJsonObject } from "../../domain/text/json.ts"
import { requestQuery } from "../../http/admin/adminQuery.ts"
import { shownRequest } from "../../http/admin/adminRows.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { commandFailure, type Failure } from "../Failure.ts"
import { printAnswer } from "../output/Answer.ts"
import { alignColumns } from "../output/table.ts"
import { checkedQuery, type QueryFields, searchOf } from "./QueryFlags.ts"
import { onStore, type PrintOptions } from "./RecordCommands.ts"

export interface RequestsOptions extends PrintOptions {
  /** Fields of the query of `GET /admin/v1/requests`. */
  readonly fields: QueryFields
}

const usualRows = 20

/** A search reads a bounded number of requests at a time, so that a page may be short: it goes on until it has all. */
const readRows = Effect.fnUntraced(function* (fields: QueryFields, metadata: ReadonlyArray<string>) {
  const log = yield* UsageLog
  const { keys } = yield* Administration
  const query = yield* checkedQuery(requestQuery, searchOf({ limit: String(usualRows), ...fields }), metadata)
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

const tableOf = (
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
  const { nameOf, rows } = yield* onStore(options, ({ usageMetadata = [] }) => readRows(options.fields, usageMetadata))
  yield* printAnswer(options, rows, tableOf(rows, nameOf))
})
