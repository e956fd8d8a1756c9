// Runs the migrations of the store, and refuses a database that this version cannot work on.
// Must not know any table of the store but those of migrations and compatibility.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { describeStore, type StoreLocation, storeMemory } from "../../domain/settings/storeLocation.ts"
import { checkReachable, onSqlite, reasonOf, sqlClientLayer, StoreUnusable, transaction } from "./Sql.ts"
import { migrations } from "./Tables.ts"

const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: "migrations" })

/** The last migration of this version. */
export const lastMigration = Object.keys(migrations).length

/** The last migration of the release before this one. A new release sets it to that of the newest kept store. */
export const compatibleFrom = 12

/** The advisory lock of migrations. Any number will do, as long as every process uses the same. */
const lockNumber = 787

const unusable = (error: Migrator.MigrationError | SqlError): StoreUnusable => {
  const cause = error._tag === "MigrationError" ? error.cause : error
  return new StoreUnusable({
    message: `the store cannot be migrated: ${isSqlError(cause) ? reasonOf(cause) : error.message}`
  })
}

/**
 * Brings the database to the tables of this version, one process at a time, all or nothing. Returns the migrations that
 * ran. A database with later migrations stays as it is.
 */
export const migrate: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  StoreUnusable,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // On SQLite a write transaction excludes other writers already.
  const lock = onSqlite(sql) ? Effect.void : Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${lockNumber})`)
  const mark = sql`UPDATE compatibility SET from_migration = ${compatibleFrom} WHERE from_migration < ${compatibleFrom}`
  return yield* transaction(sql)(Effect.andThen(lock, Effect.tap(run, mark)))
}).pipe(Effect.mapError(unusable))

/** The last migration that the database has; undefined for one without tables. Nothing is written. */
export const readMigration: Effect.Effect<number | undefined, SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = onSqlite(sql)
    ? yield* sql<{ readonly name: string | null }>`SELECT name FROM sqlite_master WHERE name = 'migrations'`
    : yield* sql<{ readonly name: string | null }>`SELECT CAST(to_regclass('migrations') AS TEXT) AS name`
  if ((table?.name ?? null) === null) return undefined
  const [last] = yield* sql<{ readonly id: number | null }>`SELECT MAX(migration_id) AS id FROM migrations`
  return last?.id ?? undefined
})

/** Fails for a migrated store whose release is two or more after this one, before anything is written to it. */
const checkCompatible = (where: string): Effect.Effect<void, StoreUnusable, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [mark] = yield* sql<{ readonly from_migration: number }>`SELECT from_migration FROM compatibility`
    const needed = mark?.from_migration ?? 0
    if (needed > lastMigration)
      return yield* new StoreUnusable({
        message: `the store ${where} is of a version too far ahead: it needs migration ${needed}, and this version has ${lastMigration}; start the version that used it last or the one before that, or restore a backup from before the upgrade`
      })
  }).pipe(Effect.catchIf(isSqlError, unusable))

/** Migrates the database that this client reaches, and fails for one that this version cannot work on. */
export const prepareDatabase = (where: string, reach: typeof checkReachable = checkReachable) =>
  Effect.andThen(reach(where), Effect.tap(migrate, checkCompatible(where)))

/**
 * A database with its tables. Fails when it is unreachable or has foreign tables. With `awaitReachable` the start waits
 * for it.
 */
export const database = (
  location: StoreLocation,
  reach?: typeof checkReachable
): Layer.Layer<SqlClient.SqlClient, StoreUnusable> =>
  Layer.tap(sqlClientLayer(location), (context) =>
    Effect.provideContext(prepareDatabase(describeStore(location), reach), context)
  )

/** A database of this process only; it ends with the process. */
export const databaseMemory: Layer.Layer<SqlClient.SqlClient> = Layer.orDie(Layer.suspend(() => database(storeMemory)))
