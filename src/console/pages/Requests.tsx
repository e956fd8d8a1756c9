// The list of requests: filters in the address, new requests as they end, older ones on demand, export.
// Must not know how a request is shown in full.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as client from "../AdminClient.ts"
import { clock, count, dayAndClock, dollars, duration } from "../format.ts"
import { href, navigate, place } from "../Location.ts"
import { List } from "../parts/List.tsx"
import { useQuery } from "../parts/Query.ts"
import { Status } from "../parts/Status.tsx"
import { csvOf, ndjsonOf } from "../requestTexts.ts"

const filters = ["status", "provider", "model", "key", "request_id"] as const
type Filter = (typeof filters)[number]

const words: Readonly<Record<Filter, string>> = {
  status: "Status",
  provider: "Provider",
  model: "Model",
  key: "Key",
  request_id: "Request id"
}

const everyMillis = 2000

type Query = Readonly<Partial<Record<Filter, string>>>

const readQuery = (query: URLSearchParams): Query =>
  Object.fromEntries(
    filters.flatMap((name) => {
      const value = query.get(name)
      return value === null ? [] : [[name, value]]
    })
  )

const Filters = ({ query }: { readonly query: Query }) => (
  <div class="filters">
    {filters.map((name, index) => (
      <label key={name}>
        {words[name]}
        <input
          {...(index === 0 ? { "data-search": true } : {})}
          value={query[name] ?? ""}
          spellcheck={false}
          onChange={(event) => navigate(href("/requests", { ...query, [name]: event.currentTarget.value.trim() }))}
        />
      </label>
    ))}
    <a href={href("/requests")}>Clear</a>
  </div>
)

/** A value that filters the list when it is clicked. */
const Value = ({
  name,
  query,
  value
}: {
  readonly query: Query
  readonly name: Filter
  readonly value?: string | undefined
}) => (value === undefined ? <>–</> : <a href={href("/requests", { ...query, [name]: value })}>{value}</a>)

const Row = ({
  isChosen,
  query,
  row
}: {
  readonly row: client.RequestRow
  readonly query: Query
  readonly isChosen: boolean
}) => (
  <tr class={isChosen ? "chosen" : ""} aria-selected={isChosen}>
    <td title={row.ts}>
      <a href={href(`/requests/${encodeURIComponent(row.id)}`)} title={dayAndClock(row.ts)}>
        {clock(row.ts)}
      </a>
    </td>
    <td>
      <a href={href("/requests", { ...query, status: String(row.status) })}>
        <Status code={row.status} />
      </a>
    </td>
    <td>
      <Value query={query} name="provider" value={row.provider} />
    </td>
    <td>
      <Value query={query} name="model" value={row.model} />
    </td>
    <td>
      <Value query={query} name="key" value={row.key_id} />
    </td>
    <td>{row.route}</td>
    <td class="number">{duration(row.duration_ms)}</td>
    <td class="number">{row.usage === undefined ? "–" : count(row.usage.input_tokens)}</td>
    <td class="number">{row.usage === undefined ? "–" : count(row.usage.output_tokens)}</td>
    <td class="number">{dollars(row.cost_usd)}</td>
    <td>{row.error_code ?? ""}</td>
  </tr>
)

const headings = ["Ended", "Status", "Provider", "Model", "Key", "Route", "Duration", "In", "Out", "Cost", "Error"]
const numbers = new Set(["Duration", "In", "Out", "Cost"])

const download = (name: string, type: string, text: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** The row under the keyboard, by j and k; Enter opens it. */
const useChosen = (rows: ReadonlyArray<client.RequestRow>): string | undefined => {
  const chosen = useSignal<string | undefined>(undefined)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const focused = event.target instanceof HTMLElement ? event.target : undefined
      if (focused?.matches("input, select, textarea") === true) return
      const at = rows.findIndex(({ id }) => id === chosen.value)
      if (event.key === "j" || event.key === "k") {
        // A link that keeps the focus would take the next Enter.
        focused?.blur()
        chosen.value = rows[event.key === "j" ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0)]?.id
      } else if (event.key === "Enter" && chosen.value !== undefined && focused?.matches("a, button, summary") !== true)
        navigate(href(`/requests/${encodeURIComponent(chosen.value)}`))
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [rows])
  return chosen.value
}

interface TableProps {
  readonly rows: ReadonlyArray<client.RequestRow>
  readonly query: Query
}

const Table = ({ query, rows }: TableProps) => {
  const chosen = useChosen(rows)
  if (rows.length === 0)
    return <p class="card">No request fits. Send one, or clear the filters; new requests appear by themselves.</p>
  return (
    <List label="Requests" headings={headings} numbers={numbers}>
      {rows.map((row) => (
        <Row key={row.id} row={row} query={query} isChosen={row.id === chosen} />
      ))}
    </List>
  )
}

/** Older pages below the first one; they do not change. */
const useOlder = (name: string, query: Query, first: client.Page<client.RequestRow> | undefined) => {
  const older = useSignal<
    { readonly name: string; readonly rows: TableProps["rows"]; readonly cursor: string | null } | undefined
  >(undefined)
  const current = older.value?.name === name ? older.value : undefined
  const cursor = current === undefined ? first?.next_cursor : current.cursor
  const more = async (): Promise<void> => {
    if (typeof cursor !== "string") return
    // The first page moves on; what it showed stays in the list.
    const before = current?.rows ?? first?.data ?? []
    const page = await client.requests({ ...query, cursor })
    older.value = { name, rows: [...before, ...page.data], cursor: page.next_cursor }
  }
  const seen = new Set(first?.data.map(({ id }) => id))
  const rows = [...(first?.data ?? []), ...(current?.rows ?? []).filter(({ id }) => !seen.has(id))]
  return { rows, more: typeof cursor === "string" ? more : undefined }
}

export const Requests = () => {
  const query = readQuery(place.value.query)
  const name = JSON.stringify(query)
  const isLive = useSignal(true)
  const { data, fault } = useQuery(name, () => client.requests(query), isLive.value ? everyMillis : undefined)
  const { more, rows } = useOlder(name, query, data.value)
  return (
    <>
      <div class="title">
        <h1>Requests</h1>
        <label class="check">
          <input
            type="checkbox"
            checked={isLive.value}
            onChange={(event) => (isLive.value = event.currentTarget.checked)}
          />
          Live
        </label>
        <button type="button" onClick={() => download("requests.csv", "text/csv", csvOf(rows))}>
          CSV
        </button>
        <button type="button" onClick={() => download("requests.ndjson", "application/x-ndjson", ndjsonOf(rows))}>
          NDJSON
        </button>
      </div>
      <Filters query={query} />
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {data.value === undefined ? <p class="muted">Loading …</p> : <Table rows={rows} query={query} />}
      {more === undefined ? null : (
        <button type="button" onClick={() => void more()}>
          Older requests
        </button>
      )}
    </>
  )
}
