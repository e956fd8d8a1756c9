// Tests the Grafana dashboard: its metrics and labels exist, in the form of their kind, and none is left out.
// Must not need Grafana.
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { metrics, type MetricSpec, prometheusName } from "../src/telemetry/metrics.ts"

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string; readonly legendFormat: string }>
}
interface Dashboard {
  readonly panels: ReadonlyArray<Panel>
  readonly templating: { readonly list: ReadonlyArray<{ readonly name: string; readonly definition?: string }> }
}

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "deploy", "grafana-dashboard.json")
const dashboard: Dashboard = JSON.parse(readFileSync(file, "utf8"))
const specs = new Map(
  Object.values<MetricSpec>(metrics).map((spec) => [prometheusName(spec.name).replaceAll(".", "_"), spec])
)

/** Names as PromQL may use them: of a histogram only its parts. */
const usable = new Map(
  [...specs].flatMap(([name, spec]) =>
    (spec.kind === "histogram" ? ["_bucket", "_sum", "_count"].map((part) => name + part) : [name]).map(
      (one) => [one, spec] as const
    )
  )
)

const words = new Set([
  "sum",
  "min",
  "max",
  "by",
  "rate",
  "increase",
  "histogram_quantile",
  "le",
  "time",
  "label_values",
  "__rate_interval",
  "provider",
  "datasource"
])
const queries = dashboard.panels.flatMap(({ targets = [], title }) => targets.map((target) => ({ title, ...target })))
const variables = dashboard.templating.list.flatMap(({ definition, name }) =>
  definition === undefined ? [] : [{ title: name, expr: definition, legendFormat: "" }]
)

/** Names of an expression that stand outside braces, quotes, ranges and groupings. */
const namesIn = (expr: string): ReadonlyArray<string> =>
  [...expr.replace(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|"[^"]*"/g, " ").matchAll(/[a-z_][a-z\d_]*/g)]
    .map(([name]) => name)
    .filter((name) => !words.has(name))

const labelsIn = (expr: string, legend: string): ReadonlyArray<string> => [
  ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(",").map((label) => label.trim())),
  ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    [...list.matchAll(/([a-z_]+)=~?"/g)].map(([, label = ""]) => label)
  ),
  ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label)
]

describe("Grafana dashboard", () => {
  it.each([...queries, ...variables])("dashboard: $title: $expr", ({ expr, legendFormat }) => {
    const names = namesIn(expr)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !usable.has(name))).toEqual([])
    const known = names.flatMap((name) => usable.get(name)?.labels ?? [])
    expect(labelsIn(expr, legendFormat).filter((label) => ![...known, "le", "instance"].includes(label))).toEqual([])
  })

  it("dashboard: counters use a rate, and histograms a quantile", () => {
    for (const { expr } of queries) {
      for (const name of namesIn(expr)) {
        const kind = usable.get(name)?.kind
        expect([expr, kind === "gauge" || /(rate|increase)\(/.test(expr)]).toEqual([expr, true])
        expect([expr, !name.endsWith("_bucket") || expr.includes("histogram_quantile(")]).toEqual([expr, true])
      }
    }
  })

  it("dashboard: shows every metric", () => {
    const shown = new Set(
      queries
        .flatMap(({ expr }) => namesIn(expr))
        .flatMap((name) => [...specs].filter(([, spec]) => spec === usable.get(name)).map(([own]) => own))
    )
    expect([...specs.keys()].filter((name) => !shown.has(name))).toEqual([])
  })

  it("dashboard: panels have their own ids and do not overlap", () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const [at, { gridPos: one, title }] of panels.entries()) {
      expect([title, one.x + one.w <= 24]).toEqual([title, true])
      const upon = panels
        .slice(at + 1)
        .filter(
          ({ gridPos: other }) =>
            one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h
        )
      expect([title, upon.map((other) => other.title)]).toEqual([title, []])
    }
  })
})
