// A chart over time, with the same values as a table for readers without the picture.
// It must not know what the values mean.
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"

export interface Line {
  readonly name: string
  /** The custom property with its color. */
  readonly color: string
  readonly values: ReadonlyArray<number | null>
}

export interface ChartOptions {
  readonly title: string
  /** Begins of the parts in seconds since 1970. */
  readonly seconds: ReadonlyArray<number>
  readonly lines: ReadonlyArray<Line>
  readonly print: (value: number) => string
  /** True: values are drawn as bars on top of each other. */
  readonly isStacked?: boolean
}

const height = 150

/** Reads a color of the theme as a canvas takes it. */
type ColorOf = (name: string) => string

/** A custom property itself is `light-dark(...)`, which no canvas takes; the color of an element is resolved. */
const colorsAt = (element: HTMLElement): ColorOf => {
  const probe = document.createElement("span")
  element.append(probe)
  return (name) => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
}

/** Each line with those below it added, the topmost first, so that lower bars are drawn over higher ones. */
const stack = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  let below: ReadonlyArray<number> = []
  const stacked = lines.map((line) => {
    below = line.values.map((value, index) => (value ?? 0) + (below[index] ?? 0))
    return { ...line, values: below }
  })
  return stacked.toReversed()
}

const optionsOf = ({ isStacked = false, print }: ChartOptions, lines: ReadonlyArray<Line>, element: HTMLElement) => {
  const colorOf = colorsAt(element)
  const axis = { stroke: colorOf("--muted"), grid: { stroke: colorOf("--line"), width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.8, 24] })
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      y: { range: (_: uPlot, _low: number, high: number): [number, number] => [0, high > 0 ? high * 1.1 : 1] }
    },
    axes: [axis, { ...axis, size: 64, values: (_: uPlot, ticks: Array<number>) => ticks.map(print) }],
    series: [
      {},
      ...lines.map(({ color }) => ({
        stroke: colorOf(color),
        ...(isStacked && bars !== undefined
          ? { fill: colorOf(color), paths: bars, width: 0, points: { show: false } }
          : { width: 2, spanGaps: true, points: { size: 5 } })
      }))
    ]
  }
}

const Values = ({ lines, print, seconds }: ChartOptions) => (
  <table>
    <thead>
      <tr>
        <th scope="col">From</th>
        {lines.map(({ name }) => (
          <th scope="col" key={name}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {seconds.map((second, index) => (
        <tr key={second}>
          <th scope="row">{new Date(second * 1000).toLocaleString()}</th>
          {lines.map(({ name, values }) => (
            <td key={name}>{values[index] === null ? "–" : print(values[index] ?? 0)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** The values as a table, which is made when it is opened. */
export const DataTable = (options: ChartOptions) => {
  const isOpen = useSignal(false)
  return (
    <details class="values" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>Values of {options.title.toLowerCase()}</summary>
      {isOpen.value ? <Values {...options} /> : null}
    </details>
  )
}

export const Chart = (options: ChartOptions) => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const { isStacked = false, lines, seconds } = options
    const drawn = isStacked ? stack(lines) : lines
    const data: uPlot.AlignedData = [[...seconds], ...drawn.map(({ values }) => [...values])]
    const plot = new uPlot(optionsOf(options, drawn, element), data, element)
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
      element.replaceChildren()
    }
  })
  return (
    <section class="card chart">
      <h2>{options.title}</h2>
      <ul class="legend">
        {options.lines.map(({ color, name }) => (
          <li key={name}>
            <span class="dot" style={{ background: `var(${color})` }} />
            {name}
          </li>
        ))}
      </ul>
      <div ref={box} class="plot" aria-hidden="true" />
      <DataTable {...options} />
    </section>
  )
}
