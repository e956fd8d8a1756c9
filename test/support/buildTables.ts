// Makes the tables of a store before the tests, as bytes of a database, so that stores in memory start from a copy.
// Must not hold a row that a gateway writes after its migrations.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const dir = join(import.meta.dirname, "../../.cache/tables")

/** An empty database with the tables of this version. */
export const tablesFile = join(dir, "memory.db")

/** Test files import the path alone, so the store is loaded here. */
export const setup = async (): Promise<void> => {
  const [Effect, Layer, { database }] = await Promise.all([
    import("effect/Effect"),
    import("effect/Layer"),
    import("../../src/store/database/Migrations.ts")
  ])
  mkdirSync(dir, { recursive: true })
  const folder = mkdtempSync(join(dir, "made-"))
  const path = join(folder, "memory.db")
  await Effect.runPromise(Effect.scoped(Layer.build(database({ kind: "sqlite", path }))))
  const db = new DatabaseSync(path)
  // A database in memory cannot have a write-ahead log.
  db.exec("PRAGMA journal_mode = DELETE; VACUUM")
  db.close()
  renameSync(path, tablesFile)
  rmSync(folder, { recursive: true })
}
