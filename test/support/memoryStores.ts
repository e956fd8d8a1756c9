// Fills each database in memory with the tables of a store, so that its migrations find nothing to do. They take 20 ms,
// and most tests start a gateway. Must not change databases in files: their tests run the migrations.
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { tablesFile } from "./buildTables.ts"

const { exec } = DatabaseSync.prototype
let tables: Uint8Array | undefined
const opened = new WeakSet<DatabaseSync>()

/** The store sets its pragmas before anything else. Node exports no other place that all databases pass. */
const execFilled: typeof exec = function (this: DatabaseSync, sql) {
  if (!opened.has(this) && this.location() === null) this.deserialize((tables ??= readFileSync(tablesFile)))
  opened.add(this)
  return exec.call(this, sql)
}

// Setup files run once for each test file, and files share a process.
if (exec.name !== execFilled.name) DatabaseSync.prototype.exec = execFilled
