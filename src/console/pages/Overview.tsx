// What the gateway did in a range of time: tiles against the range before, charts, and the top models, keys and errors.
// Must not know how sums are made.
import * as client from "../AdminClient.ts"
import { change, count, dollars, duration, percent } from "../format.ts"
import { href, navigate, place } from "../Location.ts"
import { Chart } from "../parts/Chart.tsx"
import { Days } from "../parts/Days.tsx"
import { useQuery } from "../parts/Query.ts"
import { Tile } from "../parts/Tile.tsx"
import { Top } from "../parts/Top.tsx"
import { between, divide, percentile, shareOf, type Summary, summarize, top } from "../summary.ts"

type Rows = ReadonlyArray<client.RequestRow>

const minute = 60_000
const ranges = [
  { name: "15m", label: "15 minutes", millis: 15 * minute },
  { name: "1h", label: "1 hour", millis: 60 * minute },
  { name: "24h", label: "24 hours", millis: 24 * 60 * minute },
  { name: "7d", label: "7 days", days: 7 },
  { name: "30d", label: "30 days", days: 30 }
] as const

const parts = 30
const pageRows = 1000
/** Most requests that are read for one view. */
const mostPages = 5
const everyMillis = 5000

interface View {
  readonly now: number
  readonly rows: Rows
  /** False: there are older requests in the range than those that were read. */
  readonly isWhole: boolean
}

/** The requests of the range and of the range before. */
const load = async (millis: number): Promise<View> => {
  const now = Date.now()
  const since = new Date(now - 2 * millis).toISOString()
  const rows: Array<client.RequestRow> = []
  let cursor: string | null = null
  for (let page = 0; page < mostPages; page++) {
    const query = { since, limit: String(pageRows), ...(cursor === null ? {} : { cursor }) }
    const answer: client.Page<client.RequestRow> = await client.requests(query)
    rows.push(...answer.data)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return { now, rows, isWhole: cursor === null }
}

const Tiles = ({ before, now }: { readonly before: Summary; readonly now: Summary }) => (
  <dl class="tiles">
    <Tile name="Requests" value={count(now.requests)} delta={change(before.requests, now.requests)} />
    <Tile name="Errors" value={percent(shareOf(now.errors, now.requests))} delta={change(before.errors, now.errors)} />
    <Tile name="Duration, median" value={duration(now.p50)} delta={change(before.p50 ?? 0, now.p50 ?? 0)} />
    <Tile name="Duration, 95 %" value={duration(now.p95)} delta={change(before.p95 ?? 0, now.p95 ?? 0)} />
    <Tile name="First token" value={duration(now.ttft)} delta={change(before.ttft ?? 0, now.ttft ?? 0)} />
    <Tile name="Gateway overhead" value={duration(now.overhead)} />
    <Tile name="Tokens in" value={count(now.input)} delta={change(before.input, now.input)} />
    <Tile name="Tokens out" value={count(now.output)} delta={change(before.output, now.output)} />
    <Tile name="Tokens cached" value={count(now.cached)} />
    <Tile name="Cost" value={dollars(now.cost)} delta={change(before.cost, now.cost)} />
    <Tile name="Answers from the cache" value={count(now.hits)} />
  </dl>
)

const ofStatus = (rows: Rows, first: number): number =>
  rows.filter(({ status }) => Math.floor(status / 100) === first).length

const Charts = ({ from, rows, to }: { readonly rows: Rows; readonly from: number; readonly to: number }) => {
  const divided = divide(rows, from, to, parts)
  const { seconds } = divided
  const each = <A,>(of: (rows: Rows) => A): ReadonlyArray<A> => divided.rows.map(of)
  const share = (at: number) =>
    each(
      (some) =>
        percentile(
          some.map(({ duration_ms: millis }) => millis),
          at
        ) ?? null
    )
  return (
    <div class="charts">
      <Chart
        title="Requests by status"
        seconds={seconds}
        print={count}
        isStacked
        lines={[
          { name: "2xx", color: "--good", values: each((some) => ofStatus(some, 2)) },
          { name: "4xx", color: "--warn", values: each((some) => ofStatus(some, 4)) },
          { name: "5xx", color: "--bad", values: each((some) => ofStatus(some, 5)) }
        ]}
      />
      <Chart
        title="Duration"
        seconds={seconds}
        print={duration}
        lines={[
          { name: "median", color: "--one", values: share(0.5) },
          { name: "95 %", color: "--two", values: share(0.95) }
        ]}
      />
      <Chart
        title="Tokens"
        seconds={seconds}
        print={count}
        isStacked
        lines={[
          { name: "in", color: "--one", values: each((some) => summarize(some).input) },
          { name: "out", color: "--two", values: each((some) => summarize(some).output) }
        ]}
      />
      <Chart
        title="Cost"
        seconds={seconds}
        print={dollars}
        isStacked
        lines={[{ name: "US dollars", color: "--three", values: each((some) => summarize(some).cost) }]}
      />
    </div>
  )
}

const Empty = () => (
  <section class="card">
    <h2>No requests in this range</h2>
    <p>Send one, and it appears here within seconds:</p>
    <pre>{`curl ${location.origin}/v1/models -H "x-gateway-api-key: $GATEWAY_KEY"`}</pre>
  </section>
)

const Shown = ({ millis, view }: { readonly view: View; readonly millis: number }) => {
  const { isWhole, now, rows } = view
  const current = between(rows, now - millis, now + minute)
  const before = between(rows, now - 2 * millis, now - millis)
  if (current.length === 0) return <Empty />
  return (
    <>
      {isWhole ? null : <p class="note">Made of the latest {count(rows.length)} requests of this range.</p>}
      <Tiles now={summarize(current)} before={summarize(before)} />
      <Charts rows={current} from={now - millis} to={now} />
      <div class="charts">
        <Top
          title="Models by cost"
          print={dollars}
          filter="model"
          rows={top(
            current,
            ({ model }) => model,
            ({ cost_usd: cost }) => cost ?? 0,
            6
          )}
        />
        <Top
          title="Keys by requests"
          print={count}
          filter="key"
          rows={top(
            current,
            ({ key_id: id }) => id,
            () => 1,
            6
          )}
        />
        <Top
          title="Errors"
          print={count}
          rows={top(
            current,
            ({ error_code: code }) => code,
            () => 1,
            6
          )}
        />
      </div>
    </>
  )
}

const Recent = ({ millis, name }: { readonly name: string; readonly millis: number }) => {
  const { data, fault } = useQuery(name, () => load(millis), everyMillis)
  return (
    <>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {data.value === undefined ? <p class="muted">Loading …</p> : <Shown view={data.value} millis={millis} />}
    </>
  )
}

export const Overview = () => {
  const name = place.value.query.get("range") ?? "1h"
  const range = ranges.find((one) => one.name === name) ?? ranges[1]
  return (
    <>
      <div class="title">
        <h1>Overview</h1>
        <select
          aria-label="Range"
          data-search
          value={range.name}
          onChange={(event) => navigate(href("/", { range: event.currentTarget.value }))}
        >
          {ranges.map((one) => (
            <option key={one.name} value={one.name}>
              {one.label}
            </option>
          ))}
        </select>
      </div>
      {"days" in range ? <Days days={range.days} /> : <Recent name={range.name} millis={range.millis} />}
    </>
  )
}
