// A finding of `doctor`: one row of its table.
// Must not check anything.
import { styleText } from "node:util"
import { alignColumns } from "../output/table.ts"

export interface Finding {
  /** The subject of the check. */
  readonly check: string
  /** `warn`: it works, but probably not as intended. */
  readonly status: "ok" | "warn" | "fail"
  readonly detail: string
  /** The fix: a command to run, a variable to set or a role to grant. */
  readonly todo?: string
}

export const okFinding = (check: string, detail: string): Finding => ({ check, status: "ok", detail })
export const warnFinding = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "warn",
  detail,
  ...(todo === undefined ? {} : { todo })
})
export const failFinding = (check: string, detail: string, todo?: string): Finding => ({
  check,
  status: "fail",
  detail,
  ...(todo === undefined ? {} : { todo })
})

const colours = { ok: "green", warn: "yellow", fail: "red" } as const

const colourStatus = ({ status }: Finding, line: string): string =>
  styleText(colours[status], status, { stream: process.stdout }) + line.slice(status.length)

/** One line per finding, and its fix on the line below. Coloured on a terminal that supports colours. */
export const findingLines = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> => {
  const rows = findings.flatMap((finding) => [
    { finding, cells: [finding.status, finding.check, finding.detail] },
    ...(finding.todo === undefined ? [] : [{ finding: undefined, cells: ["", "", `-> ${finding.todo}`] }])
  ])
  const lines = alignColumns(rows.map(({ cells }) => cells))
  return rows.map(({ finding }, at) =>
    finding === undefined ? (lines[at] ?? "") : colourStatus(finding, lines[at] ?? "")
  )
}
