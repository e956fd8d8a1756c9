// Prints the last line of a whole run from vitest's JSON reports: passed, failed, skipped, and the skipped tests.
// Must not run tests; it exits with 1 when a report is missing or contains a failure.
import { readFileSync } from "node:fs"
import { relative } from "node:path"

interface Report {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numFailedTestSuites: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly ancestorTitles: ReadonlyArray<string>
    }>
  }>
}

const skippedIn = ({ testResults }: Report): ReadonlyArray<string> =>
  testResults.flatMap(({ assertionResults, name }) =>
    assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ ancestorTitles }) => [relative(process.cwd(), name), ...ancestorTitles.slice(0, 1)].join(": "))
  )

const counted = (names: ReadonlyArray<string>): string => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} of ${name}`).join("; ")
}

const lineFor = (report: Report): string => {
  // A file that does not load fails without a failed test.
  const failed = report.numFailedTests === 0 && !report.success ? report.numFailedTestSuites : report.numFailedTests
  const skipped = skippedIn(report)
  const what = skipped.length === 0 ? "" : ` (${counted(skipped)})`
  return `${report.numPassedTests} passed, ${failed} failed, ${skipped.length} skipped${what}`
}

const [path = ""] = process.argv.slice(2)
const report: Report = JSON.parse(readFileSync(path, "utf8"))
console.log(lineFor(report))
process.exitCode = report.success ? 0 : 1
