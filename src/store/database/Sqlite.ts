// Effect's SqlClient on the SQLite that comes with Node: a file in a thread of its own, or a database in memory.
// Must not know any table.
import { closeSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import { runInThisContext } from "node:vm"
import { Worker } from "node:worker_threads"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { Limits } from "../../domain/Limits.ts"

/**
 * On the disk once it is acknowledged. IMMEDIATE takes the write lock first, so that no later statement fails for lack
 * of it.
 */
const durableBegin = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE"
/** Does not wait for the disk. It survives a crash of the process, perhaps not a loss of power. */
export const lazyBegin = "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE"

type Row = Readonly<Record<string, unknown>>

/** A statement with its parameters, or a script of several without any. */
interface Ask {
  readonly sql: string
  readonly params: ReadonlyArray<SQLInputValue>
  readonly isScript?: boolean
  readonly each?: EachRow
}

/** The statement runs once for each row of a JSON array in UTF-8. */
interface EachRow {
  readonly json: Uint8Array
  /** The members of a row that are the parameters, in their order. Objects and lists are stored as JSON. */
  readonly names: ReadonlyArray<string | number>
  /** The parameter before those of the first row; one more for each row. */
  readonly first?: number
}

interface OpenOptions {
  readonly path: string
  readonly isReader: boolean
  /** How long a statement waits while another process writes. */
  readonly lockMillis: number
}

interface Engine {
  readonly db: DatabaseSync
  readonly ask: (ask: Ask) => ReadonlyArray<Row>
}

/** Opens a database. It is text, so that a thread runs it without a file next to the program. */
const openingText = `({ isReader, lockMillis, path }) => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  const mostStatements = 200
  const db = new DatabaseSync(path, { readOnly: isReader, timeout: lockMillis, enableForeignKeyConstraints: true })
  const statements = new Map()
  const prepare = (sql) => {
    const before = statements.get(sql)
    if (before !== undefined) return before
    const made = db.prepare(sql)
    statements.set(sql, made)
    if (statements.size > mostStatements) statements.delete(statements.keys().next().value)
    return made
  }
  const stored = (value) => {
    if (value === undefined) return null
    if (typeof value === "boolean") return Number(value)
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value
  }
  const runEach = (statement, { first, json, names }) =>
    JSON.parse(Buffer.from(json).toString()).flatMap((row, at) => {
      const params = names.map((name) => stored(row[name]))
      return statement.all(...(first === undefined ? params : [first + at, ...params]))
    })
  const ask = ({ each, isScript, params, sql }) => {
    if (isScript) {
      db.exec(sql)
      return []
    }
    return each === undefined ? prepare(sql).all(...params) : runEach(prepare(sql), each)
  }
  return { db, ask }
}`

/** What the thread runs: it answers asks in their order. The first one opens the database. */
const threadText = `
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
const open = ${openingText}
let engine
parentPort.on("message", ({ number, isClose, ...asked }) => {
  try {
    if (isClose) engine?.db.close()
    else engine ??= open(workerData)
    const rows = isClose ? [] : engine.ask(asked)
    parentPort.postMessage({ number, rows, isTransaction: !isClose && engine.db.isTransaction })
  } catch ({ message, errcode }) {
    parentPort.postMessage({ number, message, errcode, isTransaction: engine?.db.isTransaction ?? false })
  }
})`

/** Node has SQLite's result code in `errcode`; Effect reads `errno`. */
const sqlError = (cause: unknown): SqlError => {
  const coded = cause instanceof Error && "errcode" in cause ? Object.assign(cause, { errno: cause.errcode }) : cause
  const message = cause instanceof Error ? cause.message : "SQLite failed"
  return new SqlError({ reason: classifySqliteError(coded, { message, operation: "execute" }) })
}

/** SQLite has no booleans. */
const toInput = (value: unknown): SQLInputValue => {
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

/** A database that answers asks one after another. */
interface Answering {
  readonly ask: (ask: Ask) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  readonly isTransaction: () => boolean
  readonly close: Effect.Effect<void>
}

/** A database of this thread. */
const openHere = (options: OpenOptions): Answering => {
  const open: (options: OpenOptions) => Engine = runInThisContext(openingText)
  const { ask, db } = open(options)
  return {
    // Node's rows have no prototype, unlike those of other drivers.
    ask: (asked) => Effect.try({ try: () => ask(asked).map((row) => ({ ...row })), catch: sqlError }),
    isTransaction: () => db.isTransaction,
    close: Effect.sync(() => db.close())
  }
}

type Answer = { readonly number: number; readonly isTransaction: boolean } & (
  | { readonly rows: ReadonlyArray<Row> }
  | { readonly message: string; readonly errcode: number | undefined }
)

/** A database in a thread, which begins with the first ask. It keeps the process alive only while an ask waits. */
class DatabaseThread implements Answering {
  private readonly options: OpenOptions
  private worker: Worker | undefined
  private lastNumber = 0
  private isWithin = false
  private readonly waiting = new Map<number, (answer: Effect.Effect<ReadonlyArray<Row>, SqlError>) => void>()

  constructor(options: OpenOptions) {
    this.options = options
  }

  private get thread(): Worker {
    if (this.worker !== undefined) return this.worker
    const worker = new Worker(threadText, {
      eval: true,
      // Older versions of Node warn in each thread that SQLite is experimental.
      execArgv: ["--disable-warning=ExperimentalWarning"],
      workerData: this.options
    })
    worker.on("message", (answer: Answer) => this.answered(answer))
    worker.on("error", (cause) => this.ended(cause))
    this.worker = worker
    return worker
  }

  private answered(answer: Answer): void {
    this.isWithin = answer.isTransaction
    const resume = this.waiting.get(answer.number)
    this.waiting.delete(answer.number)
    if (this.waiting.size === 0) this.worker?.unref()
    if ("rows" in answer) resume?.(Effect.succeed(answer.rows))
    else resume?.(Effect.fail(sqlError(Object.assign(new Error(answer.message), { errcode: answer.errcode }))))
  }

  private ended(cause: unknown): void {
    this.worker = undefined
    this.isWithin = false
    for (const resume of this.waiting.values()) resume(Effect.fail(sqlError(cause)))
    this.waiting.clear()
  }

  private send(asked: Ask | { readonly isClose: true }): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    return Effect.callback<ReadonlyArray<Row>, SqlError>((resume) => {
      const number = this.lastNumber++
      const { thread } = this
      this.waiting.set(number, resume)
      thread.ref()
      thread.postMessage({ ...asked, number })
    })
  }

  ask(asked: Ask): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    return this.send(asked)
  }

  isTransaction(): boolean {
    return this.isWithin
  }

  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { worker } = this
      if (worker === undefined) return Effect.void
      const end = Effect.promise(() => {
        this.ended(new Error("the store is closed"))
        return worker.terminate()
      })
      return Effect.asVoid(Effect.andThen(Effect.ignore(this.send({ isClose: true })), end))
    })
  }
}

class SqliteConnection implements Connection {
  readonly database: Answering

  constructor(database: Answering) {
    this.database = database
  }

  private rows(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, SqlError> {
    return Effect.flatMap(Effect.try({ try: () => params.map(toInput), catch: sqlError }), (inputs) =>
      this.database.ask({ sql, params: inputs })
    )
  }

  execute: Connection["execute"] = (sql, params, transform) =>
    Effect.map(this.rows(sql, params), (rows) => (transform === undefined ? rows : transform(rows)))

  executeRaw: Connection["executeRaw"] = (sql, params) => this.rows(sql, params)

  executeValues: Connection["executeValues"] = (sql, params) =>
    Effect.map(this.rows(sql, params), (rows) => rows.map((row) => Object.values(row)))

  executeValuesUnprepared: Connection["executeValuesUnprepared"] = (sql, params) => this.executeValues(sql, params)

  executeUnprepared: Connection["executeUnprepared"] = (sql, params, transform) =>
    sql === durableBegin || sql === lazyBegin
      ? this.database.ask({ sql, params: [], isScript: true })
      : this.execute(sql, params, transform)

  executeStream: Connection["executeStream"] = (sql, params, transform) =>
    Stream.unwrap(Effect.map(this.execute(sql, params, transform), Stream.fromIterable))
}

const connections = new WeakMap<Client.SqlClient, SqliteConnection>()

/** Runs a statement once for each row, in the current transaction. Returns the rows that the statements return. */
export const forEachRow = <A extends object>(
  client: Client.SqlClient,
  sql: string,
  each: EachRow
): Effect.Effect<ReadonlyArray<A>, SqlError> => {
  const connection = connections.get(client)
  if (connection === undefined) return Effect.die(new Error("rows are given one by one on SQLite only"))
  // The statement names the columns of its rows.
  return Effect.map(connection.database.ask({ sql, params: [], each }), (rows) => rows as ReadonlyArray<A>)
}

/** Makes the file readable for its owner only. */
const makeFile = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, "a", 0o600))
}

/** A database for as long as the scope. */
const connect = (database: Answering): Effect.Effect<SqliteConnection, never, Scope.Scope> =>
  Effect.as(
    Effect.acquireRelease(Effect.succeed(database), () => database.close),
    new SqliteConnection(database)
  )

/**
 * A client on the database file at this path, or in memory for `:memory:`. An absent file is made. The client uses a
 * write-ahead log. Fails when the file cannot be opened or is not a database.
 */
export const make = Effect.fnUntraced(function* (path: string) {
  const { storeLockMillis } = yield* Limits
  const options: OpenOptions = { path, isReader: false, lockMillis: storeLockMillis }
  const database = yield* Effect.try({
    try: () => {
      if (path === ":memory:") return openHere(options)
      makeFile(path)
      return new DatabaseThread(options)
    },
    catch: sqlError
  })
  const connection = yield* connect(database)
  yield* database.ask({ sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", params: [], isScript: true })
  const client = yield* Client.make({
    ...Client.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: Semaphore.makeUnsafe(1),
      isTransaction: () => database.isTransaction()
    }),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    beginTransaction: durableBegin,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
  connections.set(client, connection)
  return client
})

/** How long a report waits for a lock, which no writer of a write-ahead log takes for long. */
const readerLockMillis = 1000

/**
 * A client that reads the database file at this path in another thread, so that nothing waits for a report. Statements
 * that write fail.
 */
export const makeReader = Effect.fnUntraced(function* (path: string) {
  const connection = yield* connect(new DatabaseThread({ path, isReader: true, lockMillis: readerLockMillis }))
  return yield* Client.make({
    acquirer: Effect.succeed(connection),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})
