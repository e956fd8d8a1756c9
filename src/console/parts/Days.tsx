// What the gateway did in a number of UTC days, from the sums of usage: tiles against the days before, and charts.
// Must not know single requests.
import * as client from "../AdminClient.ts"
import { change, count, dollars, percent } from "../format.ts"
import { dayBefore, daysUntil, shareOf, sumUsage, top } from "../summary.ts"
import { Chart, type Line } from "./Chart.tsx"
import { useQuery } from "./Query.ts"
import { Tile } from "./Tile.tsx"
import { Top } from "./Top.tsx"

type Rows = ReadonlyArray<client.UsageRow>

interface View {
  readonly now: number
  readonly rows: Rows
}

const everyMillis = 60_000

/** The sums of the days and of as many days before, by day and model. */
const load = async (days: number): Promise<View> => {
  const now = Date.now()
  const query = { from: dayBefore(now, 2 * days - 1), to: dayBefore(now, 0), group_by: "day,model" }
  return { now, rows: (await client.usage(query)).data }
}

const colors = ["--one", "--two", "--three", "--good", "--muted"]
const others = "others"

/** The models with the highest cost, highest first. */
const costs = (rows: Rows, most: number): ReadonlyArray<readonly [name: string, value: number]> =>
  top(
    rows,
    ({ model }) => (model === "" ? undefined : model),
    ({ cost_usd: cost }) => cost,
    most
  )

/** The cost of each day by model; all but the most expensive models are one line. */
const costLines = (days: ReadonlyArray<string>, rows: Rows): ReadonlyArray<Line> => {
  const named = costs(rows, colors.length - 1).map(([name]) => name)
  const nameOf = ({ model = others }: client.UsageRow): string => (named.includes(model) ? model : others)
  return [...named.filter((name) => name !== others), others].map((name, index) => ({
    name,
    color: colors[index] ?? "--muted",
    values: days.map((day) => sumUsage(rows.filter((row) => row.day === day && nameOf(row) === name)).cost)
  }))
}

const Tiles = ({ before, rows }: { readonly before: Rows; readonly rows: Rows }) => {
  const [now, then] = [sumUsage(rows), sumUsage(before)]
  return (
    <dl class="tiles">
      <Tile name="Requests" value={count(now.requests)} delta={change(then.requests, now.requests)} />
      <Tile name="Errors" value={percent(shareOf(now.errors, now.requests))} delta={change(then.errors, now.errors)} />
      <Tile name="Tokens in" value={count(now.input)} delta={change(then.input, now.input)} />
      <Tile name="Tokens out" value={count(now.output)} delta={change(then.output, now.output)} />
      <Tile name="Tokens cached" value={count(now.cached)} delta={change(then.cached, now.cached)} />
      <Tile name="Cost" value={dollars(now.cost)} delta={change(then.cost, now.cost)} />
    </dl>
  )
}

const Shown = ({ days, view }: { readonly view: View; readonly days: number }) => {
  const names = daysUntil(view.now, days)
  const first = names[0] ?? ""
  const rows = view.rows.filter(({ day = "" }) => day >= first)
  const seconds = names.map((day) => Date.parse(day) / 1000)
  const sums = names.map((name) => sumUsage(rows.filter(({ day }) => day === name)))
  return (
    <>
      <Tiles rows={rows} before={view.rows.filter(({ day = "" }) => day < first)} />
      <div class="charts">
        <Chart
          title="Requests a day"
          seconds={seconds}
          print={count}
          isStacked
          lines={[
            { name: "without error", color: "--good", values: sums.map(({ errors, requests }) => requests - errors) },
            { name: "with error", color: "--bad", values: sums.map(({ errors }) => errors) }
          ]}
        />
        <Chart
          title="Tokens a day"
          seconds={seconds}
          print={count}
          isStacked
          lines={[
            { name: "in", color: "--one", values: sums.map(({ input }) => input) },
            { name: "out", color: "--two", values: sums.map(({ output }) => output) }
          ]}
        />
        <Chart title="Cost a day by model" seconds={seconds} print={dollars} isStacked lines={costLines(names, rows)} />
        <Top title="Models by cost" print={dollars} filter="model" rows={costs(rows, 6)} />
      </div>
    </>
  )
}

export const Days = ({ days }: { readonly days: number }) => {
  const { data, fault } = useQuery(String(days), () => load(days), everyMillis)
  return (
    <>
      <p class="fault" role="alert">
        {fault.value}
      </p>
      {data.value === undefined ? <p class="muted">Loading …</p> : <Shown view={data.value} days={days} />}
    </>
  )
}
