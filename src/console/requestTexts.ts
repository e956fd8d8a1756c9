// Texts about requests: the same request as a curl command, and lists of requests as CSV and NDJSON.
// Must not know pages.
import type { AdminRequest } from "../api/AdminResources.ts"

type Row = typeof AdminRequest.Type

/** A text inside single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A request to the same route and model. The gateway does not keep the content, so the message is a placeholder. */
export const curlOf = ({ model, provider, route, stream }: Row, origin: string): string => {
  const name = provider === undefined ? (model ?? "") : `@${provider}/${model ?? ""}`
  const body = { model: name, ...(stream ? { stream } : {}), messages: [{ role: "user", content: "Hello" }] }
  return [
    `curl ${stream ? "-N" : "-s"} ${quoted(origin + route)} -H 'content-type: application/json'`,
    `-H "x-gateway-api-key: $GATEWAY_KEY"`,
    `-d ${quoted(JSON.stringify(body))}`
  ].join(" \\\n  ")
}

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
