// Keeps the result of the bench in docs/performance.md: one machine, one commit, one table, one chart.
// It refuses results of few processes and of changed sources; where processes disagree, the page has no verdict.
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { arch, cpus, release, totalmem } from "node:os"
import { join } from "node:path"
import type { Verdict } from "./goals.ts"

export interface Row {
  readonly name: string
  /** Medians of the bare proxy, the gateway and Portkey; NaN where there is none. */
  readonly cells: ReadonlyArray<number>
}

export interface Result {
  readonly machine: string
  readonly commit: string
  readonly date: string
  /** Processes of each side. */
  readonly processes: number
  readonly rows: ReadonlyArray<Row>
  readonly verdicts: ReadonlyArray<Verdict>
}

const root = join(import.meta.dirname, "../..")
const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()

/** The commit of this tree; `+` after it for changes that are not committed. */
export const commitOf = (...folders: ReadonlyArray<string>): string =>
  `${git("rev-parse", "--short=10", "HEAD")}${git("status", "--porcelain", "--", "src", "bench", ...folders) === "" ? "" : "+"}`

/** The time of a load from 8 MiB in random order. It shows how much of the shared caches the neighbours of a virtual machine leave. */
const loadNanos = (): number => {
  const cells = new Int32Array(2 ** 21)
  // A multiplier of a full period (Hull and Dobell), so that the next cell is neither near nor foreseen.
  for (let at = 0; at < cells.length; at++) cells[at] = (at * 1_664_525 + 1_013_904_223) & (cells.length - 1)
  const steps = 4 * cells.length
  let at = 0
  const began = performance.now()
  for (let step = 0; step < steps; step++) at = cells[at] ?? 0
  return at < 0 ? Number.NaN : ((performance.now() - began) * 1e6) / steps
}

export const machineName = (): string =>
  `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} processors, ${Math.round(totalmem() / 2 ** 30)} GiB, ${arch()}, Linux ${release().split("-")[0]}, Node ${process.versions.node}, ${Math.round(loadNanos())} ns for a load from 8 MiB`

const leastProcesses = 5

/** Why a result is not kept; undefined for one that is. */
export const whyNotKept = (
  { commit, processes }: Result,
  run: { readonly isPinned: boolean; readonly isPart: boolean }
): string | undefined => {
  if (processes < leastProcesses) return `medians of ${processes} processes; at least ${leastProcesses} are needed`
  if (run.isPart) return "a part of the scenarios, or a quick run"
  if (!run.isPinned) return "taskset is missing, so the sides share processors with the load"
  if (commit.endsWith("+")) return "src or bench differ from the commit"
  return undefined
}

const cell = (value: number): string =>
  Number.isNaN(value) ? "" : Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2)

const words: Readonly<Record<Verdict["word"], string>> = {
  aim: "reached, the aim too",
  must: "reached",
  noisy: "no verdict",
  FAIL: "missed",
  "left out": "left out"
}

/** The Markdown between the marks of the page. */
export const resultMarkdown = ({ commit, date, machine, processes, rows, verdicts }: Result): string =>
  [
    `Measured by \`npm run bench -- --keep\` at commit ${commit} on ${date}: ${machine}. Medians of ${processes} processes of each side.`,
    "",
    "![CPU time of the gateway relative to the bare proxy](images/performance.svg)",
    "",
    "| figure | bare proxy | gateway | Portkey |",
    "| --- | --- | --- | --- |",
    ...rows
      .filter(({ cells }) => cells.some((one) => !Number.isNaN(one)))
      .map(({ cells, name }) => `| ${name} | ${cells.map(cell).join(" | ")} |`),
    "",
    "| goal | required | measured | spread | result |",
    "| --- | --- | --- | --- | --- |",
    ...verdicts
      .filter(({ word }) => word !== "left out")
      .map(({ goal, spread, value, word }) =>
        [
          "",
          goal.figure,
          `${goal.up ? "at least" : "at most"} ${goal.must} ${goal.unit}`.trim(),
          cell(value),
          goal.steady ? `${spread.toFixed(0)} %` : "",
          words[word],
          ""
        ]
          .join(" | ")
          .trim()
      )
  ].join("\n")

const barHeight = 22
const labelWidth = 330
const chartWidth = 820

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** A bar for each row with CPU time on both sides: the gateway's, divided by the bare proxy's. */
export const chartSvg = ({ commit, rows }: Result): string => {
  const bars = rows.flatMap(({ cells: [bare = Number.NaN, gateway = Number.NaN], name }) =>
    name.includes("CPU us") && bare > 0 && !Number.isNaN(gateway)
      ? [{ label: name.replace(/: CPU us.*$/, ""), ratio: gateway / bare }]
      : []
  )
  const most = Math.max(2, ...bars.map(({ ratio }) => ratio))
  const widthOf = (ratio: number): number => Math.round((ratio / most) * (chartWidth - labelWidth - 60))
  const height = bars.length * barHeight + 50
  const lineAt = labelWidth + widthOf(1)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${chartWidth}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<title>CPU time of the gateway relative to the bare proxy, commit ${commit}</title>`,
    `<rect width="${chartWidth}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="20" font-weight="bold">CPU time, gateway / bare proxy (1 is the bare proxy)</text>`,
    ...bars.flatMap(({ label, ratio }, at) => {
      const top = 34 + at * barHeight
      return [
        `<text x="${labelWidth - 8}" y="${top + 14}" text-anchor="end">${escaped(label)}</text>`,
        `<rect x="${labelWidth}" y="${top + 2}" width="${widthOf(ratio)}" height="${barHeight - 6}" fill="#3b6ea5"/>`,
        `<text x="${labelWidth + widthOf(ratio) + 6}" y="${top + 14}">${ratio.toFixed(2)}</text>`
      ]
    }),
    `<line x1="${lineAt}" y1="30" x2="${lineAt}" y2="${height - 14}" stroke="#c0392b" stroke-dasharray="4 3"/>`,
    "</svg>",
    ""
  ].join("\n")
}

const [opening, closing] = ["<!-- bench -->", "<!-- /bench -->"]

/** The page with the result between its marks. */
export const pageWith = (page: string, result: Result): string => {
  const [start, end] = [page.indexOf(opening), page.indexOf(closing)]
  if (start < 0 || end < start) throw new Error(`docs/performance.md lacks the marks ${opening} and ${closing}`)
  return `${page.slice(0, start + opening.length)}\n\n${resultMarkdown(result)}\n\n${page.slice(end)}`
}

/** Writes the page and the chart. */
export const keep = (result: Result): void => {
  const page = join(root, "docs", "performance.md")
  writeFileSync(page, pageWith(readFileSync(page, "utf8"), result))
  mkdirSync(join(root, "docs", "images"), { recursive: true })
  writeFileSync(join(root, "docs", "images", "performance.svg"), chartSvg(result))
}
