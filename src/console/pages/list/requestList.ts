// The rows of the list of requests: pages of the admin API and requests that arrive, the newest first, each once.
// Must not know how rows are shown.
import type { Page, RequestRow } from "../../AdminClient.ts"

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
  const known = new Set(list.slice(0, overlap).map(({ id }) => id))
  return rows.filter(({ id }) => !known.has(id))
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
