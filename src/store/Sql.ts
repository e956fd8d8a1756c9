// The database of the gateway by its location, and how work on it is bounded and fails.
// It must not know a table.
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { PackageMissing } from "../domain/PackageMissing.ts"
import { describeStore, type StoreLocation } from "../domain/settings/storeLocation.ts"
import * as SqliteClient from "./SqliteClient.ts"

/** The store cannot be used at all; the message says why and what to do. */
export class StoreUnusable extends Schema.TaggedError<StoreUnusable>()("StoreUnusable", {
  message: Schema.String,
  /** Nobody answers there, which may pass by itself. */
  isAway: Schema.optionalKey(Schema.Boolean),
  /** The configuration asks for what is not installed. */
  isUninstalled: Schema.optionalKey(Schema.Literal(true))
}) {}

/** What the driver said, in one line. */
export const reasonOf = ({ reason }: SqlError): string => {
  const { cause } = reason
  const said = cause instanceof Error && cause.message !== "" ? cause.message : (reason.message ?? reason._tag)
  return said.replaceAll(/\s+/g, " ")
}

const uninstalled = new PackageMissing({ setting: "a store.url of PostgreSQL", packages: "the package @effect/sql-pg" })

/** The driver is loaded only where it is used. */
const driver = <A>(load: () => Promise<A>): Effect.Effect<A, StoreUnusable> =>
  Effect.tryPromise({
    try: load,
    catch: () => new StoreUnusable({ message: uninstalled.message, isUninstalled: true })
  })

/** Whole numbers come as numbers on every database; none of ours passes 2^53. */
const numbers = Effect.map(
  driver(() => import("@effect/sql-pg/PgTypes")),
  (PgTypes) => {
    const registry = PgTypes.makeRegistry()
    registry.register(PgTypes.OID.int8, {
      encode: (value: number) => PgTypes.encode(BigInt(value), PgTypes.OID.int8),
      decode: (bytes) => Result.map(PgTypes.decode(bytes, PgTypes.OID.int8, 1), Number)
    })
    return registry
  }
)

const postgres = Effect.fnUntraced(function* ({ url }: Extract<StoreLocation, { kind: "postgres" }>) {
  const { storeAnswerMillis, storeConnections } = yield* Limits
  const PgClient = yield* driver(() => import("@effect/sql-pg/PgClient"))
  return yield* PgClient.make({
    url,
    types: yield* numbers,
    applicationName: "model-gateway",
    connectTimeout: storeAnswerMillis,
    maxConnections: storeConnections
  })
})

/**
 * The client of this database: SQLite by Node's own driver, PostgreSQL by a bounded pool that connects when it is asked.
 * Nothing reconnects by itself, so a server that comes back is not stormed.
 */
export const layer = (location: StoreLocation): Layer.Layer<SqlClient.SqlClient, StoreUnusable> =>
  Layer.effect(
    SqlClient.SqlClient,
    location.kind === "sqlite" ? SqliteClient.make(location.path) : postgres(location)
  ).pipe(
    Layer.provide(Reactivity.layer),
    Layer.catch((error) =>
      Layer.effect(
        SqlClient.SqlClient,
        error._tag === "StoreUnusable"
          ? error
          : new StoreUnusable({ message: `the store ${describeStore(location)} cannot be opened: ${reasonOf(error)}` })
      )
    )
  )

/** True on SQLite, false on PostgreSQL. */
export const onSqlite = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ sqlite: () => true, orElse: () => false })

/**
 * All of the work or nothing. Effect takes it for a defect when a ROLLBACK fails. It does where the connection was lost, and
 * then there is nothing to roll back: it is a failure of the database like any other, and must end no fiber that writes.
 */
export const transaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.catchDefect(sql.withTransaction(work), (defect) =>
      isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect)
    )

const postgresTransaction =
  (sql: SqlClient.SqlClient, setting: string, value: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.provideService(
      transaction(sql)(Effect.andThen(sql`SELECT set_config(${setting}, ${value}, true)`, work)),
      SqlClient.BeginTransaction,
      "BEGIN ISOLATION LEVEL READ COMMITTED"
    )

/**
 * All of the work or nothing, and on the disk once it is acknowledged. A PostgreSQL server ends the transaction of a process that
 * stands still, so that the others need not wait for it.
 */
export const durably = (sql: SqlClient.SqlClient) =>
  onSqlite(sql) ? transaction(sql) : postgresTransaction(sql, "idle_in_transaction_session_timeout", "5s")

/** All of the work or nothing, without waiting for the disk: it survives the process, and a loss of power perhaps not. */
export const lazily = (sql: SqlClient.SqlClient) =>
  onSqlite(sql)
    ? <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
        Effect.provideService(transaction(sql)(work), SqlClient.BeginTransaction, SqliteClient.lazyBegin)
    : postgresTransaction(sql, "synchronous_commit", "off")

/** SQLite: full, disk error, read-only. PostgreSQL: disk full, out of resources, a replica that only reads. */
const fullSqlite: ReadonlySet<number> = new Set([8, 10, 13])
const fullPostgres = /^(?:53|25006)/

const codeOf = ({ reason: { cause } }: SqlError): string | number | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("errcode" in cause && typeof cause.errcode === "number") return cause.errcode & 0xff
  return "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

const isFull = (error: SqlError): boolean => {
  const code = codeOf(error)
  return typeof code === "number" ? fullSqlite.has(code) : code !== undefined && fullPostgres.test(code)
}

/** PostgreSQL: it begins, ends, or has no connection to spare. */
const soonPostgres: ReadonlySet<unknown> = new Set(["57P01", "57P02", "57P03", "53300"])

const isAway = (error: SqlError): boolean => error.reason._tag === "ConnectionError" || soonPostgres.has(codeOf(error))

/** Gives the answer or the failure of the work; who is interrupted leaves at once, the work tidies up behind. */
const leavable = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(work), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    )
  )

/** Clients whose last work failed, so that an outage is told once. */
const silent = new WeakSet<SqlClient.SqlClient>()

/**
 * Makes failures of the database `StoreUnavailable` and tells the log why, once an outage. On PostgreSQL the work has
 * `storeAnswerMillis`; a server that stands still is given up, whatever state its connection is in.
 */
export const answered = Effect.map(Effect.all([SqlClient.SqlClient, Limits]), ([sql, { storeAnswerMillis }]) => {
  const isLocal = onSqlite(sql)
  const told = (why: string, reason: StoreUnavailable["reason"]): Effect.Effect<never, StoreUnavailable> => {
    const first = !silent.has(sql)
    silent.add(sql)
    return Effect.andThen(first ? Effect.logError(`store: ${why}`) : Effect.void, new StoreUnavailable({ reason }))
  }
  return <A, E, R>(
    work: Effect.Effect<A, E, R>
  ): Effect.Effect<A, Exclude<E, Extract<E, SqlError>> | StoreUnavailable, R> => {
    const failing = work.pipe(
      Effect.tap(() => (silent.delete(sql) ? Effect.logInfo("store: it answers again") : Effect.void)),
      Effect.catchIf(
        (error: E): error is Extract<E, SqlError> => isSqlError(error),
        (error) => told(reasonOf(error), isFull(error) ? "full" : "unreachable")
      )
    )
    return isLocal
      ? failing
      : Effect.timeoutOrElse(leavable(failing), {
          duration: storeAnswerMillis,
          orElse: () => told(`no answer in ${storeAnswerMillis} ms`, "unreachable")
        })
  }
})

/** Asks the database whether it is there, so that a server that stands still does not hold up the start. */
export const reached = (where: string): Effect.Effect<void, StoreUnusable, SqlClient.SqlClient> =>
  Effect.flatMap(Effect.all([SqlClient.SqlClient, Limits]), ([sql, { storeAnswerMillis }]) => {
    const unreached = (why: string, away: boolean) =>
      new StoreUnusable({ message: `the store ${where} cannot be reached: ${why}`, isAway: away })
    const asked = Effect.mapError(Effect.asVoid(sql`SELECT 1`), (error) => unreached(reasonOf(error), isAway(error)))
    return Effect.timeoutOrElse(leavable(asked), {
      duration: storeAnswerMillis,
      orElse: () => Effect.fail(unreached(`no answer in ${storeAnswerMillis} ms`, true))
    })
  })

const pauseMillis = 500

/** The same for a service that is to stay: a server that is away at its start is waited for, and the log told of it once. */
export const awaited = (where: string): Effect.Effect<void, StoreUnusable, SqlClient.SqlClient> =>
  Effect.flatMap(Limits, ({ storeStartMillis }) => {
    let told = false
    const tell = ({ isAway: away, message }: StoreUnusable): Effect.Effect<void> => {
      if (told || away !== true) return Effect.void
      told = true
      return Effect.logWarning(`${message}; it is waited for`)
    }
    return storeStartMillis === 0
      ? reached(where)
      : Effect.retry(Effect.tapError(reached(where), tell), {
          while: ({ isAway: away }) => away === true,
          schedule: Schedule.spaced(pauseMillis).pipe(Schedule.jittered, Schedule.upTo({ duration: storeStartMillis }))
        })
  })
