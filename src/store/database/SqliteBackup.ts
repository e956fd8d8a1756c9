// Copies of the store's SQLite file: made while gateways run, checked, and put back while none runs.
// Must not know records or secrets, only that a store has a table of migrations and of vault keys.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import { StoreUnusable } from "./Sql.ts"

const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ")

const attempt = <A>(what: string, run: () => A): Effect.Effect<A, StoreUnusable> =>
  Effect.try({
    try: run,
    catch: (error) =>
      error instanceof StoreUnusable ? error : new StoreUnusable({ message: `${what}: ${textOf(error)}` })
  })

const withDatabase = <A>(path: string, readOnly: boolean, use: (db: DatabaseSync) => A): A => {
  const db = new DatabaseSync(path, { readOnly, timeout: 1_000 })
  try {
    return use(db)
  } finally {
    db.close()
  }
}

const toDisk = (path: string): void => {
  const file = openSync(path, "r+")
  fsyncSync(file)
  closeSync(file)
}

/** Writes one consistent state of the database to a new file that only this user may read. Returns its bytes. */
export const backupSqlite = (source: string, target: string): Effect.Effect<number, StoreUnusable> =>
  attempt(`the backup ${target} cannot be written`, () => {
    if (!existsSync(source)) throw new StoreUnusable({ message: `there is no store at ${source}` })
    closeSync(openSync(target, "wx", 0o600))
    try {
      withDatabase(source, true, (db) => db.prepare("VACUUM INTO ?").run(target))
      toDisk(target)
    } catch (error) {
      rmSync(target)
      throw error
    }
    return statSync(target).size
  })

const unusable = (path: string, why: string): StoreUnusable =>
  new StoreUnusable({ message: `${path} is not a backup of a gateway's store: ${why}` })

/** Fails for damaged and foreign files. Returns the ids of the master keys that its secrets need. */
export const checkBackup = (path: string): Effect.Effect<ReadonlyArray<string>, StoreUnusable> =>
  attempt(`${path} is not a backup of a gateway's store`, () => {
    if (!existsSync(path)) throw new StoreUnusable({ message: `there is no file ${path}` })
    return withDatabase(path, true, (db) => {
      const damage = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
      if (damage !== "ok") throw unusable(path, String(damage))
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name IN ('migrations', 'vault_keys')").all()
      if (tables.length < 2) throw unusable(path, "it has no tables of one")
      return db
        .prepare("SELECT DISTINCT master_id FROM vault_keys ORDER BY master_id")
        .all()
        .map((row) => String(row["master_id"]))
    })
  })

/** Only the last connection can leave the write-ahead log, so this fails while a gateway has the store open. */
const refuseRunning = (path: string): void => {
  const mode = withDatabase(path, false, (db) => {
    try {
      return db.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"]
    } catch (error) {
      if (/locked/.test(textOf(error))) return "locked"
      throw error
    }
  })
  if (mode !== "delete")
    throw new StoreUnusable({ message: `a gateway has the store ${path} open: stop it, then restore again` })
}

/**
 * Puts a checked copy in the place of the store. The store that was there is kept, and its path is returned; undefined
 * where there was none.
 */
export const restoreSqlite = (
  source: string,
  target: string,
  nowMillis: number
): Effect.Effect<string | undefined, StoreUnusable> =>
  attempt(`the store ${target} cannot be replaced`, () => {
    const wasThere = existsSync(target)
    if (wasThere) refuseRunning(target)
    const draft = `${target}.restoring`
    copyFileSync(source, draft)
    chmodSync(draft, 0o600)
    toDisk(draft)
    const backup = `${target}.before-${new Date(nowMillis).toISOString().replaceAll(/[:.]/g, "-")}`
    if (wasThere) renameSync(target, backup)
    for (const end of ["-wal", "-shm"]) rmSync(`${target}${end}`, { force: true })
    renameSync(draft, target)
    return wasThere ? backup : undefined
  })
