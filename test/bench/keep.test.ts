// Tests what the bench keeps: which results it refuses, the page and the chart.
// Must not measure anything.
import { describe, expect, it } from "vitest"
import { type FiguresByName, type Goal, judge, noFigures } from "./goals.ts"
import { chartSvg, pageWith, type Result, whyNotKept } from "./keep.ts"

const goal: Goal = {
  id: "sample",
  figure: "unary CPU",
  must: 1.6,
  aim: 1.35,
  up: false,
  unit: "",
  steady: true,
  of: () => []
}
const result: Result = {
  machine: "a machine",
  commit: "0123456789",
  date: "2027-01-31",
  processes: 5,
  rows: [
    { name: "unary: CPU us per request", cells: [50, 75, 400] },
    { name: "responses: CPU us", cells: [Number.NaN, 1234, Number.NaN] }
  ],
  verdicts: [{ goal, value: 1.5, spread: 4, word: "must" }]
}
const whole = { isPinned: true, isPart: false }

describe("results that the bench keeps", () => {
  it("kept results: few processes, a part, shared processors and changed sources are refused", () => {
    expect([
      whyNotKept(result, whole),
      whyNotKept({ ...result, processes: 4 }, whole),
      whyNotKept(result, { ...whole, isPart: true }),
      whyNotKept(result, { ...whole, isPinned: false }),
      whyNotKept({ ...result, commit: "0123456789+" }, whole)
    ]).toEqual([
      undefined,
      "medians of 4 processes; at least 5 are needed",
      "a part of the scenarios, or a quick run",
      "taskset is missing, so the sides share processors with the load",
      "src or bench differ from the commit"
    ])
  })

  it("verdicts: ratios that are more than 15 % apart have none, but for one at each end of five", () => {
    const words = (ratios: ReadonlyArray<number>) => {
      const all: FiguresByName = {
        bare: { ...noFigures(), unaryCpuMicros: ratios.map(() => 1) },
        gateway: { ...noFigures(), unaryCpuMicros: [...ratios] }
      }
      return judge(all)[0]?.word
    }
    expect([words([1.4, 1.4, 1.5]), words([1.2, 1.4, 1.5]), words([2, 2.1, 2]), words([2, 3, 2])]).toEqual([
      "must",
      "noisy",
      "FAIL",
      "noisy"
    ])
    expect([words([1, 1.4, 1.4, 1.4, 3]), words([1, 1.2, 1.4, 1.5, 3])]).toEqual(["must", "noisy"])
  })

  it("page: the result replaces what is between its marks", () => {
    expect(pageWith("# P\n\n<!-- bench -->\nold\n<!-- /bench -->\n\nrest\n", result)).toBe(
      [
        "# P",
        "",
        "<!-- bench -->",
        "",
        "Measured by `npm run bench -- --keep` at commit 0123456789 on 2027-01-31: a machine. Medians of 5 processes of each side.",
        "",
        "![CPU time of the gateway relative to the bare proxy](images/performance.svg)",
        "",
        "| figure | bare proxy | gateway | Portkey |",
        "| --- | --- | --- | --- |",
        "| unary: CPU us per request | 50.00 | 75.00 | 400 |",
        "| responses: CPU us |  | 1,234 |  |",
        "",
        "| goal | required | measured | spread | result |",
        "| --- | --- | --- | --- | --- |",
        "| unary CPU | at most 1.6 | 1.50 | 4 % | reached |",
        "",
        "<!-- /bench -->",
        "",
        "rest",
        ""
      ].join("\n")
    )
    expect(() => pageWith("# P\n", result)).toThrow("docs/performance.md lacks the marks")
  })

  it("chart: a bar for each figure of both sides, and a line at the bare proxy", () => {
    expect(chartSvg(result).split("\n").slice(3)).toEqual([
      '<text x="8" y="20" font-weight="bold">CPU time, gateway / bare proxy (1 is the bare proxy)</text>',
      '<text x="322" y="48" text-anchor="end">unary</text>',
      '<rect x="330" y="36" width="323" height="16" fill="#3b6ea5"/>',
      '<text x="659" y="48">1.50</text>',
      '<line x1="545" y1="30" x2="545" y2="58" stroke="#c0392b" stroke-dasharray="4 3"/>',
      "</svg>",
      ""
    ])
  })
})
