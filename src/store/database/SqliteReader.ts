// Effect's SqlClient for reports on a SQLite file: a thread reads with a connection of its own, so that no request waits.
// Must not know any table. It cannot write.
import { Worker } from "node:worker_threads"
import * as Effect from "effect/Effect"
import * as Client from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { sqlError, toInput } from "./SqliteClient.ts"

/** What the thread runs. It is text, so that it needs no file next to the program. */
const program = `
const { parentPort, workerData } = require("node:worker_threads")
const { DatabaseSync } = require("node:sqlite")
let db
parentPort.on("message", ({ number, sql, params }) => {
  try {
    db ??= new DatabaseSync(workerData.path, { readOnly: true, timeout: 1000 })
    parentPort.postMessage({ number, rows: db.prepare(sql).all(...params) })
  } catch ({ message, errcode }) {
    parentPort.postMessage({ number, message, errcode })
  }
})`

type Rows = ReadonlyArray<Record<string, unknown>>

type Answer =
  | { readonly number: number; readonly rows: Rows }
  | { readonly number: number; readonly message: string; readonly errcode: number | undefined }

class Reader implements Connection {
  private readonly path: string
  private worker: Worker | undefined
  private asked = 0
  private readonly waiting = new Map<number, (answer: Effect.Effect<Rows, SqlError>) => void>()

  constructor(path: string) {
    this.path = path
  }

  /** The thread begins with the first report. While none is asked for it does not keep the process alive. */
  private get thread(): Worker {
    if (this.worker !== undefined) return this.worker
    const worker = new Worker(program, {
      eval: true,
      // Older versions of Node warn in each thread that SQLite is experimental.
      execArgv: ["--disable-warning=ExperimentalWarning"],
      workerData: { path: this.path }
    })
    worker.unref()
    worker.on("message", (answer: Answer) => this.answered(answer))
    worker.on("error", (cause) => this.ended(cause))
    this.worker = worker
    return worker
  }

  private answered(answer: Answer): void {
    const resume = this.waiting.get(answer.number)
    this.waiting.delete(answer.number)
    if ("rows" in answer) resume?.(Effect.succeed(answer.rows.map((row) => ({ ...row }))))
    else {
      const cause = Object.assign(new Error(answer.message), { errcode: answer.errcode })
      resume?.(Effect.fail(sqlError(cause, "report")))
    }
  }

  private ended(cause: unknown): void {
    this.worker = undefined
    for (const resume of this.waiting.values()) resume(Effect.fail(sqlError(cause, "report")))
    this.waiting.clear()
  }

  private rows(sql: string, params: ReadonlyArray<unknown>): Effect.Effect<Rows, SqlError> {
    return Effect.callback<Rows, SqlError>((resume) => {
      const number = this.asked++
      this.waiting.set(number, resume)
      this.thread.postMessage({ number, sql, params: params.map(toInput) })
      return Effect.sync(() => this.waiting.delete(number))
    })
  }

  async close(): Promise<void> {
    const { worker } = this
    this.ended(new Error("the store is closed"))
    await worker?.terminate()
  }

  execute: Connection["execute"] = (sql, params, transform) =>
    Effect.map(this.rows(sql, params), (rows) => (transform === undefined ? rows : transform(rows)))

  executeRaw: Connection["executeRaw"] = (sql, params) => this.rows(sql, params)

  executeValues: Connection["executeValues"] = (sql, params) =>
    Effect.map(this.rows(sql, params), (rows) => rows.map((row) => Object.values(row)))

  executeValuesUnprepared: Connection["executeValuesUnprepared"] = (sql, params) => this.executeValues(sql, params)

  executeUnprepared: Connection["executeUnprepared"] = (sql, params, transform) => this.execute(sql, params, transform)

  executeStream: Connection["executeStream"] = (sql, params, transform) =>
    Stream.unwrap(Effect.map(this.execute(sql, params, transform), Stream.fromIterable))
}

/** A client that reads the database file at this path. Statements that write fail. */
export const make = Effect.fnUntraced(function* (path: string) {
  const reader = yield* Effect.acquireRelease(
    Effect.sync(() => new Reader(path)),
    (one) => Effect.promise(() => one.close())
  )
  return yield* Client.make({
    acquirer: Effect.succeed(reader),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})
