// The rows of the list of requests: filters, the newest first and each once, bins over time, and texts of CSV and NDJSON.
// It must not know how rows are loaded or shown.
import type { Page, RequestRow } from "../../AdminClient.ts"
import type { AdminRequest } from "../../../api/AdminResources.ts"

/** A request, and when it ended in milliseconds. */
export interface ListedRow extends RequestRow {
  readonly at: number
}
type Rows = ReadonlyArray<ListedRow>

export interface RequestList {
  readonly rows: Rows
  /** The cursor of the older ones; null where there are none. */
  readonly cursor: string | null
}

/** Most rows of the page; of a longer list the oldest ones leave. */
export const mostRows = 100_000
/** An arriving request is looked for among so many of the newest. */
const overlap = 2_000

export const emptyList: RequestList = { rows: [], cursor: null }

const listed = (data: ReadonlyArray<RequestRow>): Rows => data.map((row) => ({ ...row, at: Date.parse(row.ts) }))

/** The rows above those of a list that begins with some of them. */
const unlisted = (rows: Rows, list: Rows): Rows => {
  const listedIds = new Set(list.slice(0, overlap).map(({ id }) => id))
  return rows.filter(({ id }) => !listedIds.has(id))
}

const bounded = ({ cursor, rows }: RequestList): RequestList =>
  rows.length <= mostRows ? { rows, cursor } : { rows: rows.slice(0, mostRows), cursor: null }

/** Requests that arrived, above the list. */
export const withArrived = (list: RequestList, data: ReadonlyArray<RequestRow>): RequestList => {
  const fresh = unlisted(listed(data), list.rows)
  return fresh.length === 0 ? list : bounded({ ...list, rows: [...fresh, ...list.rows] })
}

/** The first page once more: above the list where they touch, in its place where requests between them are missing. */
export const withFirst = (list: RequestList, { data, next_cursor: cursor }: Page<RequestRow>): RequestList => {
  const fresh = unlisted(listed(data), list.rows)
  const isTouching = fresh.length < data.length || (list.rows.length > 0 && cursor === null)
  return isTouching ? bounded({ ...list, rows: [...fresh, ...list.rows] }) : { rows: fresh, cursor }
}

/** The next page, below the list. */
export const withOlder = (list: RequestList, { data, next_cursor: cursor }: Page<RequestRow>): RequestList =>
  bounded({ rows: [...list.rows, ...listed(data)], cursor })

// The filters of the list of requests: their names in the address, which are those of the admin API, and their words.

export interface FilterField {
  readonly name: string
  readonly label: string
  readonly hint?: string
}

/** The filters that are always in sight. */
export const mainFilters: ReadonlyArray<FilterField> = [
  { name: "status", label: "Status", hint: "503" },
  { name: "provider", label: "Provider" },
  { name: "model", label: "Model" },
  { name: "key", label: "Key", hint: "id of a key" },
  { name: "error", label: "Error", hint: "code" },
  { name: "request_id", label: "Request id" }
]

export const moreFilters: ReadonlyArray<FilterField> = [
  { name: "trace_id", label: "Trace id" },
  { name: "route", label: "Route", hint: "/v1/chat/completions" },
  { name: "client", label: "Client", hint: "OpenAI/Python" },
  { name: "config", label: "Config", hint: "id, or inline" },
  { name: "cache", label: "Cache", hint: "HIT" },
  { name: "min_duration_ms", label: "At least, ms", hint: "1000" },
  { name: "min_cost_usd", label: "At least, $", hint: "0.05" },
  { name: "since", label: "Since", hint: "2027-01-31T12:00:00Z" },
  { name: "until", label: "Until", hint: "2027-01-31T13:00:00Z" }
]

const fields: ReadonlySet<string> = new Set([...mainFilters, ...moreFilters].map(({ name }) => name))
const metadata = "metadata."

export type Query = Readonly<Record<string, string>>

const isFilter = (name: string): boolean => fields.has(name) || name.startsWith(metadata)

/** The filters of an address. */
export const readFilters = (query: URLSearchParams): Query =>
  Object.fromEntries([...query].filter(([name, value]) => value !== "" && isFilter(name)))

/** Whether any filter is set that is not always in sight. */
export const hasMore = (query: Query): boolean =>
  Object.keys(query).some((name) => mainFilters.every((field) => field.name !== name))

/** The metadata of the filters as `team=red`. */
export const metadataText = (query: Query): string =>
  Object.entries(query)
    .filter(([name]) => name.startsWith(metadata))
    .map(([name, value]) => `${name.slice(metadata.length)}=${value}`)
    .join(" ")

/** The filters with the metadata of this text, in place of all other metadata. */
export const withMetadata = (query: Query, text: string): Query => {
  const others = Object.entries(query).filter(([name]) => !name.startsWith(metadata))
  const pairs = text
    .trim()
    .split(/\s+/)
    .flatMap((pair): ReadonlyArray<readonly [string, string]> => {
      const at = pair.indexOf("=")
      return at < 1 ? [] : [[metadata + pair.slice(0, at), pair.slice(at + 1)]]
    })
  return Object.fromEntries([...others, ...pairs])
}

// Requests over time in bins of equal length, by the class of their status.

export const classes = ["2xx", "4xx", "5xx"] as const
export type StatusClass = (typeof classes)[number]

export interface Bin {
  readonly from: number
  readonly to: number
  readonly counts: Readonly<Record<StatusClass, number>>
}

/** What a bin knows of a request. */
interface Ended {
  readonly at: number
  readonly status: number
}

/** Lengths of a bin in seconds that people read easily. */
const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

const classOf = (status: number): StatusClass => (status < 400 ? "2xx" : status < 500 ? "4xx" : "5xx")

/** At most about `most` bins from the oldest request to the newest; rows are the newest first. */
export const binsOf = (rows: ReadonlyArray<Ended>, most: number): ReadonlyArray<Bin> => {
  const newest = rows[0]
  const oldest = rows.at(-1)
  if (newest === undefined || oldest === undefined) return []
  // Requests of several processes are not quite in the order of their ends.
  const [low, high] = [Math.min(oldest.at, newest.at), Math.max(oldest.at, newest.at)]
  const seconds = (high - low) / 1000 / most
  const millis = 1000 * (lengths.find((length) => length >= seconds) ?? Math.ceil(seconds / 86_400) * 86_400)
  const first = Math.floor(low / millis)
  const length = Math.floor(high / millis) - first + 1
  const counts = Array.from({ length }, () => ({ "2xx": 0, "4xx": 0, "5xx": 0 }))
  for (const { at, status } of rows) {
    const bin = counts[Math.min(Math.max(Math.floor(at / millis) - first, 0), length - 1)]
    if (bin !== undefined) bin[classOf(status)]++
  }
  return counts.map((count, index) => ({
    from: (first + index) * millis,
    to: (first + index + 1) * millis,
    counts: count
  }))
}

// Lists of requests as CSV and NDJSON.

type Row = typeof AdminRequest.Type

const csvColumns: ReadonlyArray<readonly [name: string, of: (row: Row) => string | number | boolean | undefined]> = [
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
const csvCell = (value: string | number | boolean | undefined): string => {
  const text = String(value ?? "")
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

export const csvOf = (rows: ReadonlyArray<Row>): string =>
  [csvColumns.map(([name]) => name), ...rows.map((row) => csvColumns.map(([, of]) => csvCell(of(row))))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("")

export const ndjsonOf = (rows: ReadonlyArray<Row>): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
