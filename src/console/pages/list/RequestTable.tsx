// The table of requests: of a list of any length only the rows in sight are in the page.
// Must not know how rows are loaded.
import { useSignal } from "@preact/signals"
import type { RefObject } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { navigate } from "../../Location.ts"
import { type Column, chosenColumns, requestPath } from "./Columns.tsx"
import type { Query } from "./filterQuery.ts"
import type { ListedRow } from "./requestList.ts"

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
        <thead>
          <tr>
            {columns.map(({ isNumber, name }) => (
              <th key={name} scope="col" class={isNumber === true ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
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
