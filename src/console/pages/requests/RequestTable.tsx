// The table of requests and its columns: of a list of any length only the rows in sight are in the page.
// It must not know how rows are loaded.
import { signal, useSignal } from "@preact/signals"
import type { ComponentChildren, RefObject } from "preact"
import { clock, count, dayAndClock, dollars, duration } from "../../format.ts"
import { href, navigate } from "../../Location.ts"
import { Headings, Status } from "../../parts/Display.tsx"
import { Check } from "../../parts/Fields.tsx"
import type { ListedRow, Query } from "./requestList.ts"
import { useEffect, useRef } from "preact/hooks"

interface Column {
  readonly name: string
  /** In rem. Columns of fixed widths do not move while rows come and go. */
  readonly width: number
  readonly isNumber?: boolean
  readonly cell: (row: ListedRow, query: Query) => ComponentChildren
}

const requestPath = ({ id }: Pick<ListedRow, "id">): string => href(`/requests/${encodeURIComponent(id)}`)

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

export const allColumns: ReadonlyArray<Column> = [
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
export const chosenNames = signal(readChosen())

export const toggle = (name: string): void => {
  const others = new Set(chosenNames.value)
  if (!others.delete(name)) others.add(name)
  chosenNames.value = others
  localStorage.setItem(storedName, [...others].join(","))
}

/** The first column is always there: it leads to the request. */
const chosenColumns = (): ReadonlyArray<Column> =>
  allColumns.filter(({ name }, index) => index === 0 || chosenNames.value.has(name))

export const ColumnMenu = () => (
  <details class="menu">
    <summary>Columns</summary>
    <fieldset class="card">
      <legend>Columns of the list</legend>
      {allColumns.slice(1).map(({ name }) => (
        <Check key={name} label={name} isChecked={chosenNames.value.has(name)} change={() => toggle(name)} />
      ))}
    </fieldset>
  </details>
)

type Box = RefObject<HTMLDivElement | null>

/** Height of a row in pixels, which the style sheet has as well. */
const rowHeight = 32
/** Rows above and below those in sight, so that a quick scroll shows no gap. */
const spare = 8

interface TableProps {
  readonly rows: ReadonlyArray<ListedRow>
  readonly query: Query
  /** The list is scrolled: whether its top is in sight, and how many rows follow those in sight. */
  readonly scrolled: (isTop: boolean, rowsBelow: number) => void
}

/** The first row in sight, and how many fit. */
const useWindow = (box: Box, props: TableProps) => {
  const latest = useRef(props)
  latest.current = props
  const { rows } = props
  const sight = useSignal({ first: 0, fit: 40 })
  const look = (): void => {
    const element = box.current
    if (element === null) return
    const first = Math.floor(element.scrollTop / rowHeight)
    const fit = Math.ceil(element.clientHeight / rowHeight)
    if (first !== sight.value.first || fit !== sight.value.fit) sight.value = { first, fit }
    latest.current.scrolled(element.scrollTop < rowHeight, latest.current.rows.length - first - fit)
  }
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const resized = new ResizeObserver(look)
    resized.observe(element)
    return () => resized.disconnect()
  }, [])
  const { first, fit } = sight.value
  const from = Math.min(Math.max(0, first - spare), rows.length)
  return { from, to: Math.min(rows.length, first + fit + spare), look }
}

const isControl = (element: HTMLElement | undefined, names: string): boolean => element?.matches(names) === true

/** The row under the keyboard, by j and k; Enter opens it. */
const useChosen = (box: Box, rows: TableProps["rows"]): string | undefined => {
  const chosen = useSignal<string | undefined>(undefined)
  const reveal = (at: number): void => {
    const element = box.current
    if (element === null) return
    const above = at * rowHeight
    if (above < element.scrollTop) element.scrollTop = above
    // The heading covers one row.
    const below = above + 2 * rowHeight - element.clientHeight
    if (below > element.scrollTop) element.scrollTop = below
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const focused = event.target instanceof HTMLElement ? event.target : undefined
      if (isControl(focused, "input, select, textarea")) return
      if (event.key === "j" || event.key === "k") {
        // A link that keeps the focus would take the next Enter.
        if (!isControl(focused, ".rows")) focused?.blur()
        const at = rows.findIndex(({ id }) => id === chosen.value)
        const next = event.key === "j" ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0)
        chosen.value = rows[next]?.id
        reveal(next)
      } else if (event.key === "Enter" && chosen.value !== undefined && !isControl(focused, "a, button, summary"))
        navigate(requestPath({ id: chosen.value }))
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [rows])
  return chosen.value
}

interface RowProps {
  readonly columns: ReadonlyArray<Column>
  readonly index: number
  readonly isChosen: boolean
  readonly query: Query
  readonly row: ListedRow
}

const Row = ({ columns, index, isChosen, query, row }: RowProps) => (
  <tr class={isChosen ? "chosen" : ""} aria-selected={isChosen} aria-rowindex={index + 2}>
    {columns.map(({ cell, isNumber, name }) => (
      <td key={name} class={isNumber === true ? "number" : ""}>
        {cell(row, query)}
      </td>
    ))}
  </tr>
)

/** The height of the rows that are not in the page. */
const Gap = ({ columns, rows }: { readonly columns: number; readonly rows: number }) =>
  rows === 0 ? null : (
    <tr class="gap" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  )

export const RequestTable = (props: TableProps) => {
  const { query, rows } = props
  const box = useRef<HTMLDivElement>(null)
  const { from, look, to } = useWindow(box, props)
  const chosen = useChosen(box, rows)
  const columns = chosenColumns()
  const width = columns.reduce((sum, column) => sum + column.width, 0)
  return (
    <div ref={box} class="wide rows" tabIndex={0} role="region" aria-label="Requests" onScroll={look}>
      <table class="list" aria-rowcount={rows.length + 1} style={{ minWidth: `${width}rem` }}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.name} style={{ width: `${column.width}rem` }} />
          ))}
        </colgroup>
        <Headings columns={columns} />
        <tbody>
          <Gap key="above" columns={columns.length} rows={from} />
          {rows.slice(from, to).map((row, index) => (
            <Row
              key={row.id}
              row={row}
              index={from + index}
              columns={columns}
              query={query}
              isChosen={row.id === chosen}
            />
          ))}
          <Gap key="below" columns={columns.length} rows={rows.length - to} />
        </tbody>
      </table>
    </div>
  )
}
