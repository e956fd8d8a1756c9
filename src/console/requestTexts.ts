// Lists of requests as CSV and NDJSON.
// Must not know pages.
import type { AdminRequest } from "../api/AdminResources.ts"

type Row = typeof AdminRequest.Type

const columns: ReadonlyArray<readonly [name: string, of: (row: Row) => string | number | boolean | undefined]> = [
  ["ts", ({ ts }) => ts],
  ["id", ({ id }) => id],
  ["request_id", (row) => row.request_id],
  ["route", ({ route }) => route],
  ["status", ({ status }) => status],
  ["provider", ({ provider }) => provider],
  ["model", ({ model }) => model],
  ["key_id", (row) => row.key_id],
  ["stream", ({ stream }) => stream],
  ["duration_ms", (row) => row.duration_ms],
  ["ttft_ms", (row) => row.ttft_ms],
  ["input_tokens", ({ usage }) => usage?.input_tokens],
  ["output_tokens", ({ usage }) => usage?.output_tokens],
  ["cost_usd", (row) => row.cost_usd],
  ["error_code", (row) => row.error_code]
]

/** A cell that no spreadsheet reads as a formula (RFC 4180). */
const cell = (value: string | number | boolean | undefined): string => {
  const text = String(value ?? "")
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

export const csvOf = (rows: ReadonlyArray<Row>): string =>
  [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, of]) => cell(of(row))))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("")

export const ndjsonOf = (rows: ReadonlyArray<Row>): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
