// `usage`: the usage of all requests from the store, as a table, JSON or CSV.
// Must not add anything up; the queries and rows are those of the admin API.
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Administration } from "../../admin/Administration.ts"
import { errorFacts } from "../../api/errorFacts.ts"
import { printCsv } from "../../domain/text/csv.ts"
import { jsonObjectOf, type JsonObject } from "../../domain/text/json.ts"
import { usageQuery } from "../../http/admin/adminQuery.ts"
import { usageColumns } from "../../http/admin/adminRows.ts"
import { usagePages } from "../../http/admin/UsagePages.ts"
import { UsageLog } from "../../keys/UsageLog.ts"
import { commandFailure, type Failure, usageFailure } from "../Failure.ts"
import { alignColumns } from "../output/table.ts"
import { renderJson } from "../output/Answer.ts"
import { checkedQuery, type QueryFields, searchOf } from "./QueryFlags.ts"
import { onStore, type PrintOptions } from "./RecordCommands.ts"

export interface UsageOptions extends PrintOptions {
  readonly csv: boolean
  /** Fields of the query of `GET /admin/v1/usage`. */
  readonly fields: QueryFields
}

const readRows = Effect.fnUntraced(function* ({ fields }: UsageOptions, metadata: ReadonlyArray<string>) {
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
const tableOf = (columns: ReadonlyArray<string>, rows: ReadonlyArray<JsonObject>): ReadonlyArray<string> => {
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
  const { columns, rows } = yield* onStore(options, ({ usageMetadata = [] }) => readRows(options, usageMetadata))
  if (options.json) return yield* Console.log(renderJson(rows))
  // The console ends the last line.
  if (options.csv) return yield* Console.log(printCsv(columns, rows).replace(/\r\n$/, "\r"))
  yield* Console.log(tableOf(columns, rows).join("\n"))
})
