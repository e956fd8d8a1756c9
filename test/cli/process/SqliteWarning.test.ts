// Tests which warnings of Node the command line leaves out.
import { once } from "node:events"
import { expect, it } from "vitest"
import { isSqliteWarning } from "../../../src/cli/process/NodeQuirks.ts"

it("warnings: that of node:sqlite is left out, and no other", async () => {
  const sqlite = "SQLite is an experimental feature and might change at any time"
  expect([
    isSqliteWarning(sqlite, "ExperimentalWarning"),
    isSqliteWarning(sqlite, "Warning"),
    isSqliteWarning("Fetch is an experimental feature", "ExperimentalWarning"),
    isSqliteWarning(new Error(sqlite), undefined)
  ]).toEqual([true, false, false, false])
  const warned = once(process, "warning")
  process.emitWarning(sqlite, "ExperimentalWarning")
  process.emitWarning("Another one", { type: "TestWarning", detail: "of this test" })
  expect(await warned).toEqual([expect.objectContaining({ name: "TestWarning", message: "Another one" })])
})
