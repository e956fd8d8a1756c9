// What `doctor` found out: one row of its table.
// It must not know how it was found.
import { styleText } from "node:util"
import { evenly } from "../table.ts"

export interface Finding {
  /** What was looked at. */
  readonly check: string
  /** `warn`: it works, but perhaps not as meant. */
  readonly status: "ok" | "warn" | "fail"
  readonly detail: string
  /** The line to run, the variable to set or the role to grant. */
  readonly todo?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail })
export const warn = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "warn",
  detail,
  ...(todo === undefined ? {} : { todo })
})
export const fail = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "fail",
  detail,
  ...(todo === undefined ? {} : { todo })
})

const colours = { ok: "green", warn: "yellow", fail: "red" } as const

const coloured = ({ status }: Finding, line: string): string =>
  styleText(colours[status], status, { stream: process.stdout }) + line.slice(status.length)

/** A line for each, and one below it for what to do. Coloured on a terminal that wants it. */
export const findingLines = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> => {
  const rows = findings.flatMap((finding) => [
    { finding, cells: [finding.status, finding.check, finding.detail] },
    ...(finding.todo === undefined ? [] : [{ finding: undefined, cells: ["", "", `-> ${finding.todo}`] }])
  ])
  const lines = evenly(rows.map(({ cells }) => cells))
  return rows.map(({ finding }, at) => (finding === undefined ? (lines[at] ?? "") : coloured(finding, lines[at] ?? "")))
}
