// The loaded requests over time, as bars by the class of their status; a click on a bar filters by its time.
// Must not know how requests are loaded.
import { useMemo } from "preact/hooks"
import { href, navigate } from "../../Location.ts"
import { count, dayAndClock } from "../../format.ts"
import { DataTable } from "../../parts/Chart.tsx"
import { type Bin, binsOf, classes } from "./histogramBins.ts"
import type { Query } from "./filterQuery.ts"
import type { ListedRow } from "./requestList.ts"

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

export const Histogram = ({ query, rows }: { readonly rows: ReadonlyArray<ListedRow>; readonly query: Query }) => {
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
