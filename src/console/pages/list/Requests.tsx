// The list of requests: filters in the address, requests as they end, older ones by scrolling, export.
// Must not know how a request is shown in full.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import * as client from "../../AdminClient.ts"
import { count } from "../../format.ts"
import { href, place } from "../../Location.ts"
import { messageOf } from "../../parts/Query.ts"
import { useRequestEvents } from "../../RequestEvents.ts"
import { csvOf, ndjsonOf } from "../../requestTexts.ts"
import { ColumnMenu } from "./Columns.tsx"
import { type Query, readFilters } from "./filterQuery.ts"
import { Filters } from "./Filters.tsx"
import { Histogram } from "./Histogram.tsx"
import { emptyList, mostRows, type RequestList, withArrived, withFirst, withOlder } from "./requestList.ts"
import { RequestTable } from "./RequestTable.tsx"

/** Requests of an older page. */
const pageRows = 1000
/** Requests of half a second; of more the latest, as no reader follows them and each costs the service time. */
const mostOfTurn = "125"
/** The next page is loaded when fewer rows are below those in sight. */
const fewRows = 300

const download = (name: string, type: string, text: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

interface Listed {
  readonly list: Signal<RequestList | undefined>
  readonly fault: Signal<string>
  /** Loads the first page again. */
  readonly first: () => Promise<void>
  /** Loads the next page, unless it is loading or there is none. */
  readonly older: () => Promise<void>
}

/** The list of a query; a list of an earlier query is dropped, also when it arrives late. */
const useList = (query: Query): Listed => {
  const name = JSON.stringify(query)
  const list = useSignal<RequestList | undefined>(undefined)
  const fault = useSignal("")
  const current = useRef(name)
  const isLoading = useRef(false)
  current.current = name
  const load = async (
    more: Query,
    add: (list: RequestList, page: client.Page<client.RequestRow>) => RequestList
  ): Promise<void> => {
    try {
      const page = await client.requests({ ...query, ...more })
      if (current.current !== name) return
      list.value = add(list.value ?? emptyList, page)
      fault.value = ""
    } catch (error) {
      if (current.current === name) fault.value = messageOf(error)
    }
  }
  const first = () => load({}, withFirst)
  const older = async (): Promise<void> => {
    const cursor = list.value?.cursor
    if (isLoading.current || typeof cursor !== "string") return
    isLoading.current = true
    await load({ cursor, limit: String(pageRows) }, (now, page) => (now.cursor === cursor ? withOlder(now, page) : now))
    isLoading.current = false
  }
  useEffect(() => {
    list.value = undefined
    void first()
  }, [name])
  return { list, fault, first, older }
}

const Head = ({ isLive, rows }: { readonly isLive: Signal<boolean>; readonly rows: RequestList["rows"] }) => (
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
    <ColumnMenu />
    <button type="button" title="The loaded requests" onClick={() => download("requests.csv", "text/csv", csvOf(rows))}>
      CSV
    </button>
    <button
      type="button"
      title="The loaded requests"
      onClick={() => download("requests.ndjson", "application/x-ndjson", ndjsonOf(rows))}
    >
      NDJSON
    </button>
  </div>
)

const Empty = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <p class="card">
    {isFiltered ? (
      <>
        No request fits these filters. New ones appear by themselves. <a href={href("/requests")}>Clear filters</a>
      </>
    ) : (
      <>
        No request has ended yet. The page <a href={href("/connect")}>Connect</a> has the lines of each client; its
        first request appears here by itself.
      </>
    )}
  </p>
)

interface FootProps {
  readonly list: RequestList
  readonly skipped: number
  readonly older: () => Promise<void>
}

const Foot = ({ list: { cursor, rows }, older, skipped }: FootProps) => (
  <p class="foot muted">
    {count(rows.length)} requests loaded
    {rows.length === mostRows ? ", the most that this page holds; filters find older ones" : ""}
    {skipped === 0 ? "" : `; ${count(skipped)} more ended than the page could show`}.{" "}
    {cursor === null ? null : (
      <button type="button" onClick={() => void older()}>
        Older requests
      </button>
    )}
  </p>
)

export const Requests = () => {
  const query = readFilters(place.value.query)
  const isLive = useSignal(true)
  const skipped = useSignal(0)
  /** Requests that ended while the list is scrolled, so that it stays where it is. */
  const waiting = useSignal<ReadonlyArray<client.RequestRow>>([])
  const isTop = useRef(true)
  const { fault, first, list, older } = useList(query)
  const release = (): void => {
    if (waiting.value.length === 0) return
    list.value = withArrived(list.value ?? emptyList, waiting.value)
    waiting.value = []
  }
  useRequestEvents({ ...query, limit: mostOfTurn }, isLive.value, {
    opened: () => void first(),
    arrived: (event) => {
      skipped.value += event.skipped
      waiting.value = [...event.data, ...waiting.value].slice(0, mostRows)
      if (isTop.current) release()
    }
  })
  useEffect(() => {
    waiting.value = []
    skipped.value = 0
    isTop.current = true
  }, [JSON.stringify(query)])
  const scrolled = (isAtTop: boolean, rowsBelow: number): void => {
    isTop.current = isAtTop
    if (isAtTop) release()
    if (rowsBelow < fewRows) void older()
  }
  const shown = list.value
  return (
    <>
      <Head isLive={isLive} rows={shown?.rows ?? []} />
      <Filters query={query} />
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {shown === undefined ? (
        <p class="muted">Loading …</p>
      ) : shown.rows.length === 0 ? (
        <Empty isFiltered={Object.keys(query).length > 0} />
      ) : (
        <>
          <Histogram rows={shown.rows} query={query} />
          <RequestTable rows={shown.rows} query={query} scrolled={scrolled} />
        </>
      )}
      {waiting.value.length === 0 ? null : (
        <button type="button" class="pill" onClick={() => document.querySelector(".rows")?.scrollTo({ top: 0 })}>
          {count(waiting.value.length)} new ↑
        </button>
      )}
      {shown === undefined ? null : <Foot list={shown} skipped={skipped.value} older={older} />}
    </>
  )
}
