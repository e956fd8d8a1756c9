// Proves that reports are fast on a store of a million sums and requests, and that no other work waits for them.
// Must not know how a report is read. The measure is test/bench/reports.ts.
import { runCommand } from "../kit/command.ts"
import { atMost, type Figure, none, type Promised, type Run, shown } from "../proof.ts"

const line = /^(.+): (\d+) ms; other work waited at most (\d+) ms$/gm
const rows = 1_000_000

const prove = async ({ note }: Run): Promise<ReadonlyArray<Figure>> => {
  const { code, output } = await runCommand("test/bench/reports.ts", String(rows))
  const reports = [...output.matchAll(line)]
    .map(([, name = "", took, waited]) => ({ name, took: Number(took), waited: Number(waited) }))
    // The start of the thread is paid once in the life of a process.
    .filter(({ name }) => !name.startsWith("the first report"))
  if (code !== 0 || reports.length === 0) {
    note(output.slice(-500))
    return [none("runs of test/bench/reports.ts that failed", 1)]
  }
  for (const { name, took, waited } of reports)
    if (took > 200 || waited > 20) note(`${name}: ${took} ms, others waited ${waited} ms`)
  return [
    shown(`reports on ${rows.toLocaleString("en")} sums and as many requests`, reports.length),
    atMost("slowest report", Math.max(...reports.map(({ took }) => took)), 200, "ms"),
    atMost("longest wait of other work", Math.max(...reports.map(({ waited }) => waited)), 20, "ms")
  ]
}

export const reports: Promised = {
  id: "reports",
  sentence: "Reports are fast on a large store, and no other request waits for one.",
  prove
}
