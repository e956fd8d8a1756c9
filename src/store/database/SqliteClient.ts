// Effect's SqlClient on the SQLite that comes with Node: one connection, one statement or transaction at a time.
// Must not know any table.
import { closeSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { Limits } from "../../domain/Limits.ts"

/** How long a statement blocks this process while another process writes. A longer wait yields between attempts. */
const busyMillis = 50
const statementsKept = 200

/**
 * On the disk once it is acknowledged. IMMEDIATE takes the write lock first, so that no later statement fails for lack
 * of it.
 */
export const durableBegin = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE"
/** Does not wait for the disk. It survives a crash of the process, perhaps not a loss of power. */
export const lazyBegin = "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE"

/** Node has SQLite's result code in `errcode`; Effect reads `errno`. */
export const sqlError = (cause: unknown, operation: string): SqlError => {
  const coded = cause instanceof Error && "errcode" in cause ? Object.assign(cause, { errno: cause.errcode }) : cause
  return new SqlError({
    reason: classifySqliteError(coded, { message: cause instanceof Error ? cause.message : "SQLite failed", operation })
  })
}

/** SQLite has no booleans. */
export const toInput = (value: unknown): SQLInputValue => {
  if (value === null || value === undefined) return null
  if (typeof value === "boolean") return value ? 1 : 0
  if (
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof Uint8Array
  )
    return value
  throw new TypeError(`a ${typeof value} cannot be stored`)
}

/** Tries about every 5 ms, for so long. */
const retrySchedule = (millis: number) =>
  Schedule.spaced(5).pipe(Schedule.jittered, Schedule.upTo({ duration: millis }))

class Sqlite implements Connection {
  readonly db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  readonly #lockMillis: number

  constructor(path: string, lockMillis: number) {
    this.#lockMillis = lockMillis
    this.db = new DatabaseSync(path, { timeout: lockMillis, enableForeignKeyConstraints: true })
    try {
      this.db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = ${busyMillis}`)
    } catch (error) {
      this.db.close()
      throw error
    }
  }

  #prepare(sql: string): StatementSync {
    const kept = this.#statements.get(sql)
    if (kept !== undefined) return kept
    const made = this.db.prepare(sql)
    this.#statements.set(sql, made)
    const [first] = this.#statements.keys()
    if (this.#statements.size > statementsKept && first !== undefined) this.#statements.delete(first)
    return made
  }

  /** Outside a transaction, waits for a lock that another process holds. */
  #attempt<A>(operation: string, run: () => A): Effect.Effect<A, SqlError> {
    const once = Effect.try({ try: run, catch: (cause) => sqlError(cause, operation) })
    const isLocked = ({ reason }: SqlError): boolean => reason._tag === "LockTimeoutError" && !this.db.isTransaction
    // A schedule costs more than most statements, and few statements meet a lock.
    return Effect.catchIf(once, isLocked, () =>
      Effect.retry(once, { while: isLocked, schedule: retrySchedule(this.#lockMillis) })
    )
  }

  #rows(sql: string, params: ReadonlyArray<unknown>): ReadonlyArray<Record<string, unknown>> {
    // Node's rows have no prototype, unlike those of other drivers.
    return this.#prepare(sql)
      .all(...params.map(toInput))
      .map((row) => ({ ...row }))
  }

  execute: Connection["execute"] = (sql, params, transform) =>
    this.#attempt("execute", () => {
      const rows = this.#rows(sql, params)
      return transform === undefined ? rows : transform(rows)
    })

  executeRaw: Connection["executeRaw"] = (sql, params) =>
    this.#attempt("execute", () => this.#prepare(sql).run(...params.map(toInput)))

  executeValues: Connection["executeValues"] = (sql, params) =>
    this.#attempt("execute", () => this.#rows(sql, params).map((row) => Object.values(row)))

  executeValuesUnprepared: Connection["executeValuesUnprepared"] = (sql, params) => this.executeValues(sql, params)

  executeUnprepared: Connection["executeUnprepared"] = (sql, params, transform) =>
    sql === durableBegin || sql === lazyBegin
      ? this.#attempt("begin", () => {
          this.db.exec(sql)
          return []
        })
      : this.execute(sql, params, transform)

  executeStream: Connection["executeStream"] = (sql, params, transform) =>
    Stream.unwrap(Effect.map(this.execute(sql, params, transform), Stream.fromIterable))
}

/** Makes the file readable for its owner only. */
const makeFile = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, "a", 0o600))
}

/**
 * A client on the database file at this path, or in memory for `:memory:`. An absent file is made. The client uses a
 * write-ahead log. Fails when the file cannot be opened or is not a database.
 */
export const make = Effect.fnUntraced(function* (path: string) {
  const { storeLockMillis } = yield* Limits
  const connection = yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        if (path !== ":memory:") makeFile(path)
        return new Sqlite(path, storeLockMillis)
      },
      catch: (cause) => sqlError(cause, "open")
    }),
    ({ db }) => Effect.sync(() => db.close())
  )
  return yield* Client.make({
    ...Client.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: Semaphore.makeUnsafe(1),
      isTransaction: ({ db }) => db.isTransaction
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    beginTransaction: durableBegin,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})
