// What the gateway did in a range of time: tiles against the range before, charts, top models, keys and errors, and circuits.
// It must not know how sums are made, or how a circuit opens.
import { useEffect, useRef } from "preact/hooks"
import { gatewayMetrics, type Metric, topUsage, type UsageRow, usageSeries } from "../AdminClient.ts"
import { change, count, dollars, duration, percent } from "../format.ts"
import { gatewayAddress } from "../gatewayAddress.ts"
import { href, navigate, place } from "../Location.ts"
import { Chart, type Line } from "../parts/Chart.tsx"
import { Card, Loading, Page, Tile, Top } from "../parts/Display.tsx"
import { useQuery, useRequestEvents } from "../parts/Query.ts"
import {
  type Bucket,
  type Frame,
  frameOf,
  inBands,
  quantile,
  shareOf,
  sumRows,
  type Sums,
  timeline
} from "../usageSums.ts"

type Rows = ReadonlyArray<UsageRow>

interface Range {
  readonly name: string
  readonly label: string
  readonly bucket: Bucket
  readonly parts: number
}

const hour: Range = { name: "1h", label: "1 hour", bucket: "minute", parts: 60 }
const ranges: ReadonlyArray<Range> = [
  { name: "15m", label: "15 minutes", bucket: "minute", parts: 15 },
  hour,
  { name: "24h", label: "24 hours", bucket: "hour", parts: 24 },
  { name: "7d", label: "7 days", bucket: "hour", parts: 168 },
  { name: "30d", label: "30 days", bucket: "day", parts: 30 }
]

const mostNames = 6
/** The range moves on also where nothing ends. */
const everyMillis = 30_000
/** What many requests change is loaded once in this time. */
const restMillis = 2000

interface View {
  readonly frame: Frame
  readonly all: Rows
  readonly before: Rows
  readonly statuses: Rows
  readonly models: Rows
  readonly topModels: Rows
  readonly topKeys: Rows
  readonly topErrors: Rows
  readonly providers: Rows
  readonly circuits: ReadonlyArray<Metric>
}

const load = async ({ bucket, parts }: Range): Promise<View> => {
  const frame = frameOf(Date.now(), bucket, parts)
  const { before, from, to } = frame
  const [all, statuses, models, topModels, topKeys, topErrors, providers, circuits] = await Promise.all([
    usageSeries({ bucket, from: before, to }),
    usageSeries({ bucket, from, to, groupBy: "status" }),
    usageSeries({ bucket, from, to, groupBy: "model" }),
    topUsage({ bucket, from, to, groupBy: "model" }, "cost", mostNames),
    topUsage({ bucket, from, to, groupBy: "key" }, "requests", mostNames),
    topUsage({ bucket, from, to, groupBy: "error" }, "errors", mostNames),
    topUsage({ bucket, from, to, groupBy: "provider" }, "requests", 2 * mostNames),
    gatewayMetrics("gateway_circuit_state")
  ])
  const isCurrent = ({ start = "" }: UsageRow): boolean => Date.parse(start) >= from
  return {
    frame,
    all: all.filter(isCurrent),
    before: all.filter((row) => !isCurrent(row)),
    statuses,
    models,
    topModels,
    topKeys,
    topErrors,
    providers,
    circuits
  }
}

const overheadOf = ({ overhead, requests }: Sums): number | undefined =>
  requests === 0 ? undefined : overhead / requests

const Tiles = ({ before, now }: { readonly before: Sums; readonly now: Sums }) => {
  const times = (name: string, of: (sums: Sums) => number | undefined) => (
    <Tile name={name} value={duration(of(now))} delta={change(of(before) ?? 0, of(now) ?? 0)} />
  )
  const counts = (name: string, of: (sums: Sums) => number) => (
    <Tile name={name} value={count(of(now))} delta={change(of(before), of(now))} />
  )
  return (
    <dl class="tiles">
      {counts("Requests", ({ requests }) => requests)}
      <Tile
        name="Errors"
        value={percent(shareOf(now.errors, now.requests))}
        delta={change(shareOf(before.errors, before.requests), shareOf(now.errors, now.requests))}
      />
      {times("Duration, median", ({ bands }) => quantile(bands, 0.5))}
      {times("Duration, 95 %", ({ bands }) => quantile(bands, 0.95))}
      {times("First token, median", ({ firstBands }) => quantile(firstBands, 0.5))}
      {times("Gateway overhead, mean", overheadOf)}
      {counts("Tokens in", ({ input }) => input)}
      {counts("Tokens out", ({ output }) => output)}
      {counts("Tokens cached", ({ cached }) => cached)}
      <Tile name="Cost" value={dollars(now.cost)} delta={change(before.cost, now.cost)} />
      {counts("Answers from the cache", ({ hits }) => hits)}
    </dl>
  )
}

const circuitStates = [
  { word: "closed", color: "good" },
  { word: "half open", color: "warn" },
  { word: "open", color: "bad" }
]

const Circuit = ({ metric: { labels, value } }: { readonly metric: Metric }) => {
  const state = circuitStates[value]
  return (
    <li>
      {labels["target"]}: <b class={state?.color}>circuit {state?.word}</b>
    </li>
  )
}

/** The providers of a range with their errors and durations, and the circuits of their targets. */
const Targets = ({ circuits, providers }: View) => (
  <section class="card" aria-label="Providers and circuits">
    <h2>Providers and circuits</h2>
    <div class="strip">
      {providers
        .filter(({ provider }) => provider !== "")
        .map(({ duration_bands: bands = [], errors, provider = "", requests }) => {
          const share = shareOf(errors, requests)
          return (
            <ul key={provider} class="plain">
              <li>
                <a href={href("/requests", { provider })}>{provider}</a>
              </li>
              <li>{count(requests)} requests</li>
              <li>
                <b class={share === 0 ? "good" : share < 0.05 ? "warn" : "bad"}>{percent(share)} errors</b>
              </li>
              <li class="muted">95 % within {duration(quantile(bands, 0.95))}</li>
              {circuits
                .filter(({ labels }) => labels["target"]?.startsWith(`${provider}/`))
                .map((metric) => (
                  <Circuit key={metric.labels["target"]} metric={metric} />
                ))}
            </ul>
          )
        })}
    </div>
  </section>
)

const colors = ["--one", "--two", "--three", "--good", "--warn", "--muted"]
const others = "others"

/** The cost over time by model; all but the most expensive models are one line. */
const costLines = ({ frame, models, topModels }: View): ReadonlyArray<Line> => {
  const named = topModels
    .slice(0, colors.length - 1)
    .flatMap(({ cost_usd: cost, model = "" }) => (cost > 0 ? [model] : []))
  const nameOf = ({ model = "" }: UsageRow): string => (named.includes(model) ? model : others)
  return [...named, others].map((name, index) => ({
    name,
    color: name === others ? "--muted" : (colors[index] ?? "--muted"),
    values: timeline(
      frame,
      models.filter((row) => nameOf(row) === name),
      (rows) => sumRows(rows).cost
    )
  }))
}

/** Bands of the admin API, several together. */
const durations: ReadonlyArray<readonly [name: string, color: string, first: number, last: number]> = [
  ["to 100 ms", "--good", 0, 3],
  ["to 1 s", "--three", 4, 6],
  ["to 5 s", "--one", 7, 8],
  ["to 30 s", "--warn", 9, 10],
  ["longer", "--bad", 11, 13]
]

const Charts = ({ view }: { readonly view: View }) => {
  const { all, frame, statuses } = view
  const seconds = frame.starts.map((start) => start / 1000)
  const line = (name: string, color: string, rows: Rows, of: (rows: Rows) => number): Line => ({
    name,
    color,
    values: timeline(frame, rows, of)
  })
  const ofStatus = (status: string, color: string): Line =>
    line(
      status,
      color,
      statuses.filter((row) => row.status === status),
      (rows) => sumRows(rows).requests
    )
  const shared = { seconds, isStacked: true }
  return (
    <div class="charts">
      <Chart
        {...shared}
        title="Requests by status"
        print={count}
        lines={[ofStatus("2xx", "--good"), ofStatus("4xx", "--warn"), ofStatus("5xx", "--bad")]}
      />
      <Chart
        {...shared}
        title="Requests by duration"
        print={count}
        lines={durations.map(([name, color, first, last]) => line(name, color, all, inBands(first, last)))}
      />
      <Chart
        {...shared}
        title="Tokens"
        print={count}
        lines={[
          line("in", "--one", all, (rows) => sumRows(rows).input - sumRows(rows).cached),
          line("in, cached", "--three", all, (rows) => sumRows(rows).cached),
          line("out", "--two", all, (rows) => sumRows(rows).output)
        ]}
      />
      <Chart {...shared} title="Cost by model" print={dollars} lines={costLines(view)} />
    </div>
  )
}

const Tops = ({ topErrors, topKeys, topModels }: View) => {
  const named = (rows: Rows, name: "model" | "key" | "error", of: (row: UsageRow) => number) =>
    rows.flatMap((row): ReadonlyArray<readonly [string, number]> => {
      const text = row[name] ?? ""
      return text === "" || of(row) === 0 ? [] : [[text, of(row)]]
    })
  return (
    <div class="charts">
      <Top
        title="Models by cost"
        print={dollars}
        filter="model"
        rows={named(topModels, "model", (row) => row.cost_usd)}
      />
      <Top
        title="Keys by requests"
        print={count}
        filter="key"
        rows={named(topKeys, "key", ({ requests }) => requests)}
      />
      <Top title="Errors" print={count} rows={named(topErrors, "error", ({ errors }) => errors)} />
    </div>
  )
}

const Empty = () => (
  <Card title="No requests in this range">
    <p>Send one, and it appears here within seconds:</p>
    <pre>
      {`curl ${gatewayAddress}/v1/chat/completions -H "x-gateway-api-key: $GATEWAY_KEY" \\
  -H "content-type: application/json" \\
  -d '{"model":"@google/gemini-3.8-flash","messages":[{"role":"user","content":"Hello"}]}'`}
    </pre>
    <p>
      The page <a href={href("/connect")}>Connect</a> has the lines of each client.
    </p>
  </Card>
)

const Shown = ({ view }: { readonly view: View }) => {
  const now = sumRows(view.all)
  if (now.requests === 0) return <Empty />
  return (
    <>
      <Tiles now={now} before={sumRows(view.before)} />
      <Targets {...view} />
      <Charts view={view} />
      <Tops {...view} />
    </>
  )
}

/** Loads again when requests have ended, at most once in a while. */
const useNews = (name: string, reload: () => Promise<void>): void => {
  const latest = useRef(reload)
  latest.current = reload
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const soon = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void latest.current()
    }, restMillis)
  }
  useRequestEvents({ limit: "1" }, true, { opened: () => undefined, arrived: soon })
  useEffect(() => () => clearTimeout(timer.current), [name])
}

export const Overview = () => {
  const name = place.value.query.get("range") ?? ""
  const range = ranges.find((one) => one.name === name) ?? hour
  const { data, fault, reload } = useQuery(range.name, () => load(range), everyMillis)
  useNews(range.name, reload)
  const isCurrent = data.value?.frame.starts.length === range.parts
  const choice = (
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
  )
  return (
    <Page title="Overview" side={choice} fault={fault.value}>
      {data.value === undefined || !isCurrent ? <Loading /> : <Shown view={data.value} />}
    </Page>
  )
}
