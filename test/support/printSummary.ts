// Prints the end of a whole run from vitest's JSON reports: each failure, then passed, failed and skipped tests.
// Must not run tests, nor judge them: it fails only when there is no such report.
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { stripVTControlCharacters } from "node:util"

interface Report {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numFailedTestSuites: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName: string
      readonly ancestorTitles: ReadonlyArray<string>
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

/** Lines of a failure, and characters of each, that are printed again. */
const shownLines = 8
const shownCharacters = 300

const shown = (message: string): string =>
  stripVTControlCharacters(message)
    .split("\n")
    .slice(0, shownLines)
    .map((line) => `  ${line.slice(0, shownCharacters)}`)
    .join("\n")

/** The failures at the end of the output as well: of a long log often the end alone is kept. */
const failuresOf = ({ testResults }: Report): ReadonlyArray<string> =>
  testResults.flatMap(({ assertionResults, message, name, status }) => {
    const path = relative(process.cwd(), name)
    const failed = assertionResults.filter((test) => test.status === "failed")
    if (failed.length === 0) return status === "failed" ? [`failed: ${path}\n${shown(message)}`] : []
    return failed.map((test) => `failed: ${path}: ${test.fullName}\n${shown(test.failureMessages.join("\n"))}`)
  })

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

const reports = process.argv.slice(2).map((path): Report => JSON.parse(readFileSync(path, "utf8")))
for (const failure of reports.flatMap(failuresOf)) console.log(failure)
for (const report of reports) console.log(lineFor(report))
