// The SQL client of a store, its transactions, and how failures and refused writes of the database are reported.
// Must not know any table.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../../domain/GatewayError.ts"
import { Limits } from "../../domain/Limits.ts"
import { PackageMissing } from "../../domain/settings/Settings.ts"
import {
  describeStore,
  parsePostgresUrl,
  type PostgresHost,
  type StoreLocation
} from "../../domain/settings/storeLocation.ts"
import { hostChoice, hostOptions, movingOptions, tlsOf } from "./PostgresOptions.ts"
import * as Sqlite from "./Sqlite.ts"

/** Why the database takes no writes; a check of readiness has this text. */
export type WriteRefusal = "disk_full" | "disk_error" | "read_only"

/**
 * A kind of write that nothing repeats, such as a change by the admin API, is forgotten after this time, once a write of
 * another kind commits.
 */
const forgottenMillis = 60 * 1000

interface Refused {
  readonly refusal: WriteRefusal
  readonly atMillis: number
}

/**
 * A full disk still commits small writes and answers reads. So a kind of write counts as refused until a write of this
 * kind commits.
 */
export class RefusedWrites {
  readonly #byKind = new Map<object, Refused>()

  /** Undefined while no kind of write is refused. */
  get refusal(): WriteRefusal | undefined {
    for (const { refusal } of this.#byKind.values()) return refusal
    return undefined
  }

  /** Returns whether this is the first kind that is refused. */
  add(kind: object, refusal: WriteRefusal, nowMillis: number): boolean {
    const isFirst = this.#byKind.size === 0
    this.#byKind.set(kind, { refusal, atMillis: nowMillis })
    return isFirst
  }

  /** A write of this kind was committed. Returns whether it ended the last refusal. */
  committed(kind: object, nowMillis: number): boolean {
    if (this.#byKind.size === 0) return false
    for (const [other, { atMillis }] of this.#byKind)
      if (other === kind || nowMillis - atMillis >= forgottenMillis) this.#byKind.delete(other)
    return this.#byKind.size === 0
  }
}

/** The store cannot be used at all; the message has the reason and the remedy. */
export class StoreUnusable extends Schema.TaggedError<StoreUnusable>()("StoreUnusable", {
  message: Schema.String,
  /** The server does not answer, which may be temporary. */
  isAway: Schema.optionalKey(Schema.Boolean),
  /** The configuration needs a package that is not installed. */
  isUninstalled: Schema.optionalKey(Schema.Literal(true))
}) {}

/** The driver's message, in one line. */
export const reasonOf = ({ reason }: SqlError): string => {
  const { cause } = reason
  const text = cause instanceof Error && cause.message !== "" ? cause.message : (reason.message ?? reason._tag)
  return text.replaceAll(/\s+/g, " ")
}

const uninstalled = new PackageMissing({ setting: "a store.url of PostgreSQL", packages: "the package @effect/sql-pg" })

/** Loads the driver where it is used. */
const driver = <A>(load: () => Promise<A>): Effect.Effect<A, StoreUnusable> =>
  Effect.tryPromise({
    try: load,
    catch: () => new StoreUnusable({ message: uninstalled.message, isUninstalled: true })
  })

/** Decodes BIGINT as a number on PostgreSQL, as SQLite does; no value of the store passes 2^53. */
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

type PostgresUrl = Extract<StoreLocation, { kind: "postgres" }>

const unusable = (location: PostgresUrl, reason: string) =>
  new StoreUnusable({ message: `the store ${describeStore(location)} cannot be opened: ${reason}` })

const postgres = Effect.fnUntraced(function* (location: PostgresUrl) {
  const { storeAnswerMillis, storeConnections } = yield* Limits
  const PgClient = yield* driver(() => import("@effect/sql-pg/PgClient"))
  const fail = (reason: string) => Effect.fail(unusable(location, reason))
  const address = yield* Effect.catch(Effect.fromResult(parsePostgresUrl(Redacted.value(location.url))), fail)
  const tls = yield* Effect.catch(tlsOf(address), fail)
  const common = {
    username: address.user,
    password: address.password,
    database: address.database,
    startupOptions: address.options,
    types: yield* numbers,
    applicationName: "model-gateway",
    connectTimeout: storeAnswerMillis,
    // A pooler in transaction mode gives each transaction another session, which knows no statement by its name.
    prepare: false
  }
  const { hosts, mustWrite } = address
  const [first, ...others] = hosts
  if (others.length === 0)
    return yield* PgClient.make({ ...common, ...hostOptions(first, tls), maxConnections: storeConnections })
  const isFit = (host: PostgresHost) =>
    Effect.scoped(
      Effect.flatMap(PgClient.makeClient({ ...common, ...hostOptions(host, tls) }), (sql) =>
        Effect.map(
          sql<{ readonly read_only: string }>`SELECT current_setting('transaction_read_only') AS read_only`,
          ([row]) => !mustWrite || row?.read_only === "off"
        )
      )
    ).pipe(Effect.orElseSucceed(() => false))
  const choice = yield* hostChoice(hosts, isFit)
  return yield* PgClient.make({ ...common, ...movingOptions(choice, tls), maxConnections: storeConnections })
})

/**
 * Where reports read, which may take long: undefined where the SQL client of the store is as good. On a SQLite file it is
 * a client of its own, whose reads leave the event loop to the requests.
 */
export const ReportSql = Context.Reference<SqlClient.SqlClient | undefined>("gateway/store/ReportSql", {
  defaultValue: () => undefined
})

const reportLayer = (location: StoreLocation): Layer.Layer<never, never, Reactivity.Reactivity> =>
  location.kind === "sqlite" && location.path !== ":memory:"
    ? Layer.effect(ReportSql, Sqlite.makeReader(location.path))
    : Layer.empty

/**
 * The SQL client of this database: SQLite with Node's own driver, PostgreSQL with a bounded pool that connects on demand.
 * Nothing reconnects in the background, so a server that returns is not flooded.
 */
export const sqlClientLayer = (location: StoreLocation): Layer.Layer<SqlClient.SqlClient, StoreUnusable> =>
  Layer.effect(SqlClient.SqlClient, location.kind === "sqlite" ? Sqlite.make(location.path) : postgres(location)).pipe(
    Layer.merge(reportLayer(location)),
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
 * All of the work or nothing. Effect turns a failed ROLLBACK into a defect. A ROLLBACK fails on a lost connection, where
 * nothing is left to roll back. So the defect becomes an ordinary failure, which no writing fiber dies of.
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
 * All of the work or nothing, and on the disk once it is acknowledged. PostgreSQL ends the transaction of a process that
 * stopped in the middle, so that other processes need not wait for it.
 */
export const durableTransaction = (sql: SqlClient.SqlClient) =>
  onSqlite(sql) ? transaction(sql) : postgresTransaction(sql, "idle_in_transaction_session_timeout", "5s")

/**
 * All of the work or nothing, without waiting for the disk. It survives a crash of the process, perhaps not a loss of
 * power.
 */
export const lazyTransaction = (sql: SqlClient.SqlClient) =>
  onSqlite(sql)
    ? <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
        Effect.provideService(transaction(sql)(work), SqlClient.BeginTransaction, Sqlite.lazyBegin)
    : postgresTransaction(sql, "synchronous_commit", "off")

const codeOf = ({ reason: { cause } }: SqlError): string | number | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("errcode" in cause && typeof cause.errcode === "number") return cause.errcode & 0xff
  return "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

/** Why a database takes no writes, by SQLite's result code or PostgreSQL's error code. Its reads may still succeed. */
const refusals: ReadonlyMap<string | number | undefined, WriteRefusal> = new Map<string | number, WriteRefusal>([
  [8, "read_only"],
  [10, "disk_error"],
  [13, "disk_full"],
  ["25006", "read_only"],
  ["53100", "disk_full"],
  ["58030", "disk_error"]
])

/**
 * PostgreSQL: shutting down (57P01, 57P02), starting (57P03), too many connections (53300). These pass by themselves.
 */
const soonPostgres: ReadonlySet<unknown> = new Set(["57P01", "57P02", "57P03", "53300"])

const isAway = (error: SqlError): boolean => error.reason._tag === "ConnectionError" || soonPostgres.has(codeOf(error))

/** SQLite: too big (18), a constraint (19), another type (20). */
const dataCodes: ReadonlySet<unknown> = new Set([18, 19, 20])

/** The database does not take these values: sent again unchanged they fail again. PostgreSQL: classes 21 to 23, and 54. */
export const isDataFault = (error: SqlError): boolean => {
  const code = codeOf(error)
  return typeof code === "string" ? /^(?:2[123]|54)/.test(code) : dataCodes.has(code)
}

/** Returns the result of the work. An interruption returns immediately, while the work cleans up in the background. */
const leavable = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(work), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    )
  )

/** Clients whose last work failed, so that an outage is logged once. */
const failed = new WeakSet<SqlClient.SqlClient>()

const refusedWrites = new WeakMap<SqlClient.SqlClient, RefusedWrites>()

const refusedBy = (sql: SqlClient.SqlClient): RefusedWrites => {
  const known = refusedWrites.get(sql)
  if (known !== undefined) return known
  const made = new RefusedWrites()
  refusedWrites.set(sql, made)
  return made
}

/** Why the database of this client refuses writes, as far as its own writes have shown. */
export const writeRefusal = (sql: SqlClient.SqlClient): WriteRefusal | undefined => refusedWrites.get(sql)?.refusal

/** Reports the start and the end of the time in which writes of a kind are refused. */
const reportRefusals = (sql: SqlClient.SqlClient) => {
  const refused = refusedBy(sql)
  const kind = {}
  const committed = Effect.suspend(() =>
    refused.refusal === undefined
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (now) =>
          refused.committed(kind, now) ? Effect.logInfo("store: it takes writes again") : Effect.void
        )
  )
  const refuse = (refusal: WriteRefusal, error: SqlError): Effect.Effect<never, StoreUnavailable> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.andThen(
        refused.add(kind, refusal, now)
          ? Effect.logError(`store: it takes no writes (${refusal}): ${reasonOf(error)}`)
          : Effect.void,
        new StoreUnavailable({ reason: "full" })
      )
    )
  return { committed, refuse }
}

const makeCall = (isWrite: boolean) =>
  Effect.map(Effect.all([SqlClient.SqlClient, Limits]), ([sql, { storeAnswerMillis }]) => {
    const isLocal = onSqlite(sql)
    const writes = isWrite ? reportRefusals(sql) : undefined
    const fail = (why: string, reason: StoreUnavailable["reason"]): Effect.Effect<never, StoreUnavailable> => {
      const first = !failed.has(sql)
      failed.add(sql)
      return Effect.andThen(first ? Effect.logError(`store: ${why}`) : Effect.void, new StoreUnavailable({ reason }))
    }
    const answered = Effect.suspend(() =>
      failed.delete(sql) ? Effect.logInfo("store: it answers again") : Effect.void
    )
    const succeeded = writes === undefined ? answered : Effect.andThen(answered, writes.committed)
    const failedWith = (error: SqlError): Effect.Effect<never, StoreUnavailable> => {
      const refusal = refusals.get(codeOf(error))
      return writes !== undefined && refusal !== undefined
        ? writes.refuse(refusal, error)
        : fail(reasonOf(error), refusals.has(codeOf(error)) ? "full" : "unreachable")
    }
    return <A, E, R>(
      work: Effect.Effect<A, E, R>
    ): Effect.Effect<A, Exclude<E, Extract<E, SqlError>> | StoreUnavailable, R> => {
      const failing = work.pipe(
        Effect.tap(() => succeeded),
        Effect.catchIf((error: E): error is Extract<E, SqlError> => isSqlError(error), failedWith)
      )
      return isLocal
        ? failing
        : Effect.timeoutOrElse(leavable(failing), {
            duration: storeAnswerMillis,
            orElse: () => fail(`no answer in ${storeAnswerMillis} ms`, "unreachable")
          })
    }
  })

/**
 * Bounds reads of the store: failures of the database become `StoreUnavailable`, and each outage is logged once. On
 * PostgreSQL the work has `storeAnswerMillis`; a server that hangs is given up, whatever the state of its connection.
 */
export const makeStoreCall = makeCall(false)

/**
 * The same for transactions that write, of one kind for each use of this effect. A database that answers but refuses
 * writes is reported once, and once when it takes them again.
 */
export const makeStoreWrite = makeCall(true)

/**
 * Fails when the database does not answer within `storeAnswerMillis`, so that a hanging server does not block the
 * start.
 */
export const checkReachable = (where: string): Effect.Effect<void, StoreUnusable, SqlClient.SqlClient> =>
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

/** The start of a service: waits up to `storeStartMillis` for a server that is away, and logs that once. */
export const awaitReachable = (where: string): Effect.Effect<void, StoreUnusable, SqlClient.SqlClient> =>
  Effect.flatMap(Limits, ({ storeStartMillis }) => {
    let reported = false
    const report = ({ isAway: away, message }: StoreUnusable): Effect.Effect<void> => {
      if (reported || away !== true) return Effect.void
      reported = true
      return Effect.logWarning(`${message}; it is waited for`)
    }
    return storeStartMillis === 0
      ? checkReachable(where)
      : Effect.retry(Effect.tapError(checkReachable(where), report), {
          while: ({ isAway: away }) => away === true,
          schedule: Schedule.spaced(pauseMillis).pipe(Schedule.jittered, Schedule.upTo({ duration: storeStartMillis }))
        })
  })
