// The columns of the list of requests: their headings, their cells, and which of them are chosen in this browser.
// Must not know how rows are loaded.
import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { clock, count, dayAndClock, dollars, duration } from "../../format.ts"
import { href } from "../../Location.ts"
import { Status } from "../../parts/Status.tsx"
import type { Query } from "./filterQuery.ts"
import type { ListedRow } from "./requestList.ts"

export interface Column {
  readonly name: string
  /** In rem. Columns of fixed widths do not move while rows come and go. */
  readonly width: number
  readonly isNumber?: boolean
  readonly cell: (row: ListedRow, query: Query) => ComponentChildren
}

export const requestPath = ({ id }: Pick<ListedRow, "id">): string => href(`/requests/${encodeURIComponent(id)}`)

/** A value that filters the list when it is clicked. */
const filtering = (query: Query, name: string, value: string | undefined, shown: ComponentChildren = value) =>
  value === undefined || value === "" ? (
    "–"
  ) : (
    <a href={href("/requests", { ...query, [name]: value })} title={value}>
      {shown}
    </a>
  )

const filterColumn = (
  name: string,
  width: number,
  filter: string,
  of: (row: ListedRow) => string | undefined
): Column => ({
  name,
  width,
  cell: (row, query) => filtering(query, filter, of(row))
})

const numberColumn = (name: string, width: number, of: (row: ListedRow) => string): Column => ({
  name,
  width,
  isNumber: true,
  cell: of
})

const tokens = (value: number | undefined): string => (value === undefined ? "–" : count(value))

export const columns: ReadonlyArray<Column> = [
  {
    name: "Ended",
    width: 7,
    cell: (row) => (
      <a href={requestPath(row)} title={`${dayAndClock(row.ts)}, ${row.ts} UTC`}>
        {clock(row.ts)}
      </a>
    )
  },
  {
    name: "Status",
    width: 4.4,
    cell: (row, query) => filtering(query, "status", String(row.status), <Status code={row.status} />)
  },
  filterColumn("Provider", 6.5, "provider", ({ provider }) => provider),
  filterColumn("Model", 12, "model", ({ model }) => model),
  filterColumn("Key", 6.5, "key", (row) => row.key_id),
  filterColumn("Route", 10.5, "route", ({ route }) => route),
  numberColumn("Duration", 5.6, (row) => duration(row.duration_ms)),
  numberColumn("First token", 6, (row) => duration(row.ttft_ms)),
  numberColumn("Overhead", 5.6, (row) => duration(row.overhead_ms)),
  numberColumn("In", 4, ({ usage }) => tokens(usage?.input_tokens)),
  numberColumn("Cached", 4.6, ({ usage }) => tokens(usage?.cached_tokens)),
  numberColumn("Out", 4, ({ usage }) => tokens(usage?.output_tokens)),
  numberColumn("Cost", 6.2, (row) => dollars(row.cost_usd)),
  numberColumn("Calls", 4, ({ attempts }) => count(attempts.length)),
  filterColumn("Error", 10, "error", (row) => row.error_code),
  filterColumn("Client", 9, "client", ({ client }) => client),
  filterColumn("Config", 9, "config", ({ config }) => config),
  filterColumn("Cache", 7, "cache", ({ cache }) => cache),
  filterColumn("Request id", 12, "request_id", (row) => row.request_id),
  filterColumn("Trace id", 12, "trace_id", (row) => row.trace_id),
  {
    name: "Metadata",
    width: 14,
    cell: ({ metadata = {} }, query) =>
      Object.entries(metadata).map(([name, value]) => (
        <span key={name}>{filtering(query, `metadata.${name}`, value, `${name}=${value}`)} </span>
      ))
  }
]

const usual = ["Ended", "Status", "Provider", "Model", "Key", "Route", "Duration", "In", "Out", "Cost", "Error"]
const storedName = "request_columns"

const readChosen = (): ReadonlySet<string> => {
  const stored = localStorage.getItem(storedName)?.split(",")
  return new Set(stored ?? usual)
}

/** The names of the chosen columns. */
export const chosen = signal(readChosen())

export const toggle = (name: string): void => {
  const others = new Set(chosen.value)
  if (!others.delete(name)) others.add(name)
  chosen.value = others
  localStorage.setItem(storedName, [...others].join(","))
}

/** The first column is always there: it leads to the request. */
export const chosenColumns = (): ReadonlyArray<Column> =>
  columns.filter(({ name }, index) => index === 0 || chosen.value.has(name))

export const ColumnMenu = () => (
  <details class="menu">
    <summary>Columns</summary>
    <fieldset class="card">
      <legend>Columns of the list</legend>
      {columns.slice(1).map(({ name }) => (
        <label key={name} class="check">
          <input type="checkbox" checked={chosen.value.has(name)} onChange={() => toggle(name)} />
          {name}
        </label>
      ))}
    </fieldset>
  </details>
)
