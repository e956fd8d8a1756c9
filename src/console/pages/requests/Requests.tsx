// The list of requests: filters in the address, requests as they end, older ones by scrolling, bars over time, export.
// It must not know how a request is shown in full.
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { type Page, type RequestRow, requests } from "../../AdminClient.ts"
import { count, dayAndClock } from "../../format.ts"
import { href, navigate, place } from "../../Location.ts"
import { DataTable } from "../../parts/Chart.tsx"
import { Fault, Loading, Title } from "../../parts/Display.tsx"
import { Check } from "../../parts/Fields.tsx"
import { messageOf, useRequestEvents } from "../../parts/Query.ts"
import {
  type Bin,
  binsOf,
  classes,
  csvOf,
  emptyList,
  type FilterField,
  hasMore,
  type ListedRow,
  mainFilters,
  metadataText,
  moreFilters,
  mostRows,
  ndjsonOf,
  type Query,
  readFilters,
  type RequestList,
  withArrived,
  withFirst,
  withMetadata,
  withOlder
} from "./requestList.ts"
import { ColumnMenu, RequestTable } from "./RequestTable.tsx"

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly hint?: string | undefined
  /** True: the key `/` leads here. */
  readonly isFirst?: boolean
  readonly change: (text: string) => void
}

/** Shows another value when the address has one. Rows that arrive draw the page again, which leaves a half typed text. */
const TextField = ({ change, hint, isFirst = false, label, value }: TextFieldProps) => {
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (input.current !== null) input.current.value = value
  }, [value])
  return (
    <label>
      {label}
      <input
        ref={input}
        {...(isFirst ? { "data-search": true } : {})}
        placeholder={hint ?? ""}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => change(event.currentTarget.value)}
      />
    </label>
  )
}

interface FieldProps {
  readonly field: FilterField
  readonly query: Query
  readonly isFirst?: boolean
}

const Field = ({ field: { hint, label, name }, isFirst = false, query }: FieldProps) => (
  <TextField
    label={label}
    value={query[name] ?? ""}
    hint={hint}
    isFirst={isFirst}
    change={(text) => navigate(href("/requests", { ...query, [name]: text.trim() }))}
  />
)

/** The filters of the list as a form; each change is an address. */
const Filters = ({ query }: { readonly query: Query }) => (
  <div class="filters" role="search" aria-label="Filters of requests">
    {mainFilters.map((field, index) => (
      <Field key={field.name} field={field} query={query} isFirst={index === 0} />
    ))}
    <details class="more" open={hasMore(query)}>
      <summary>More filters</summary>
      <div class="filters">
        {moreFilters.map((field) => (
          <Field key={field.name} field={field} query={query} />
        ))}
        <TextField
          label="Metadata"
          value={metadataText(query)}
          hint="team=red"
          change={(text) => navigate(href("/requests", withMetadata(query, text)))}
        />
      </div>
    </details>
    {Object.keys(query).length === 0 ? null : (
      <a class="clear" href={href("/requests")}>
        Clear filters
      </a>
    )}
  </div>
)

const mostBins = 60
/** Fewer bins leave room at the end, so that no bar is wider than a tenth. */
const fewBins = 10
/** Height of the picture in its own units. */
const height = 40

const totalOf = ({ counts }: Bin): number => classes.reduce((total, name) => total + counts[name], 0)

interface BarProps {
  readonly bin: Bin
  /** Where the bar is, counted in bars. */
  readonly index: number
  /** The requests of the tallest bar. */
  readonly most: number
  readonly query: Query
}

const shownMoment = (millis: number | undefined): string =>
  millis === undefined ? "" : dayAndClock(new Date(millis).toISOString())

const Bar = ({ bin, index, most, query }: BarProps) => {
  let below = height
  const moment = (millis: number): string => new Date(millis).toISOString()
  const open = () => navigate(href("/requests", { ...query, since: moment(bin.from), until: moment(bin.to) }))
  return (
    <g onClick={open}>
      <title>
        {count(totalOf(bin))} requests from {dayAndClock(moment(bin.from))}
      </title>
      <rect class="hit" x={index} y={0} width={1} height={height} />
      {classes.map((name) => {
        const tall = (bin.counts[name] / most) * height
        below -= tall
        return tall === 0 ? null : (
          <rect key={name} class={`bar-${name}`} x={index + 0.08} y={below} width={0.84} height={tall} />
        )
      })}
    </g>
  )
}

const colors = { "2xx": "--good", "4xx": "--warn", "5xx": "--bad" }

/** The loaded requests as bars by the class of their status; a click on a bar filters by its time. */
const Histogram = ({ query, rows }: { readonly rows: ReadonlyArray<ListedRow>; readonly query: Query }) => {
  const bins = useMemo(() => binsOf(rows, mostBins), [rows])
  const width = Math.max(bins.length, fewBins)
  const most = Math.max(1, ...bins.map(totalOf))
  return (
    <section class="card histogram" aria-label="Requests over time">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {bins.map((bin, index) => (
          <Bar key={bin.from} bin={bin} index={index} most={most} query={query} />
        ))}
      </svg>
      <p class="range muted">
        <span>{shownMoment(bins[0]?.from)}</span>
        <span>at most {count(most)} in a bar</span>
        <span>{shownMoment(bins.at(-1)?.to)}</span>
      </p>
      <DataTable
        title="the loaded requests over time"
        seconds={bins.map(({ from }) => from / 1000)}
        lines={classes.map((name) => ({ name, color: colors[name], values: bins.map(({ counts }) => counts[name]) }))}
        print={count}
      />
    </section>
  )
}

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
  const load = async (more: Query, add: (list: RequestList, page: Page<RequestRow>) => RequestList): Promise<void> => {
    try {
      const page = await requests({ ...query, ...more })
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
  <Title title="Requests">
    <Check label="Live" isChecked={isLive.value} change={(isOn) => (isLive.value = isOn)} />
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
  </Title>
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
  const waiting = useSignal<ReadonlyArray<RequestRow>>([])
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
      <Fault text={fault.value} />
      {shown === undefined ? (
        <Loading />
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
