// The tables of the store and how a database comes to have them, the same on SQLite and PostgreSQL.
// It must not know what is written into them. A migration that was released never changes; what comes later is a new one.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { describeStore, type StoreLocation, storeMemory } from "../domain/settings/storeLocation.ts"
import { layer, onSqlite, reached, reasonOf, StoreUnusable, transaction } from "./Sql.ts"

/** Column types by dialect. Names sort by their bytes everywhere; booleans are whole numbers, 0 and 1. */
const words = (sql: SqlClient.SqlClient) => {
  const word = (sqlite: string, pg: string) => sql.literal(onSqlite(sql) ? sqlite : pg)
  return {
    integer: word("INTEGER", "BIGINT"),
    real: word("REAL", "DOUBLE PRECISION"),
    name: word("TEXT", 'TEXT COLLATE "C"'),
    bytes: word("BLOB", "BYTEA"),
    position: word("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    end: word(") STRICT", ")")
  }
}

/** Records, their versions and audit log, under one revision; the keys that encrypt. */
const records = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { bytes, end, integer, name } = words(sql)
  yield* sql`CREATE TABLE revision (id ${integer} PRIMARY KEY CHECK (id = 1), number ${integer} NOT NULL ${end}`
  yield* sql`INSERT INTO revision (id, number) VALUES (1, 0)`
  yield* sql`CREATE TABLE records (
    kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL,
    created_millis ${integer} NOT NULL, updated_millis ${integer} NOT NULL,
    value TEXT NOT NULL, secret ${bytes}, secret_key_id ${name},
    PRIMARY KEY (kind, id) ${end}`
  yield* sql`CREATE INDEX records_by_secret_key ON records (secret_key_id)`
  yield* sql`CREATE TABLE record_versions (
    kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL,
    created_millis ${integer} NOT NULL, updated_millis ${integer} NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (kind, id, version) ${end}`
  yield* sql`CREATE TABLE audit_log (
    revision ${integer} PRIMARY KEY, at_millis ${integer} NOT NULL, actor TEXT NOT NULL, request_id TEXT,
    action TEXT NOT NULL, kind ${name} NOT NULL, id ${name} NOT NULL, version ${integer} NOT NULL ${end}`
  yield* sql`CREATE TABLE vault_keys (
    id ${name} PRIMARY KEY, master_id ${name} NOT NULL, wrapped ${bytes} NOT NULL,
    made_millis ${integer} NOT NULL, is_current ${integer} NOT NULL ${end}`
  yield* sql`CREATE TABLE vault_values (name ${name} PRIMARY KEY, value ${bytes} NOT NULL, value_key_id ${name} NOT NULL ${end}`
})

/** The request log, its sums, and what keys have spent. Money is in millionths of a US dollar. */
const accounting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name, position } = words(sql)
  yield* sql`CREATE TABLE requests (
    position ${position}, ended_millis ${integer} NOT NULL, request_id ${name} NOT NULL, status ${integer} NOT NULL,
    provider ${name}, model ${name}, key_id ${name}, row TEXT NOT NULL ${end}`
  yield* sql`CREATE INDEX requests_by_id ON requests (request_id)`
  yield* sql`CREATE INDEX requests_by_key ON requests (key_id, position)`
  yield* sql`CREATE TABLE usage_sums (
    day ${name} NOT NULL, key_id ${name} NOT NULL, provider ${name} NOT NULL, model ${name} NOT NULL,
    requests ${integer} NOT NULL, errors ${integer} NOT NULL, input ${integer} NOT NULL, output ${integer} NOT NULL,
    cached ${integer} NOT NULL, cost_micros ${integer} NOT NULL,
    PRIMARY KEY (day, key_id, provider, model) ${end}`
  yield* sql`CREATE TABLE spending (
    key_id ${name} NOT NULL, period ${name} NOT NULL, spent_micros ${integer} NOT NULL, updated_millis ${integer} NOT NULL,
    PRIMARY KEY (key_id, period) ${end}`
})

/** The parts of budgets that processes may spend without asking. */
const leases = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, name } = words(sql)
  yield* sql`CREATE TABLE spending_leases (
    key_id ${name} NOT NULL, period ${name} NOT NULL, holder ${name} NOT NULL, micros ${integer} NOT NULL,
    turn ${integer} NOT NULL, until_millis ${integer} NOT NULL, PRIMARY KEY (key_id, period, holder) ${end}`
})

/**
 * Requests are kept in batches, as they are written: a row and two indices for each were a tenth of the CPU time of a request.
 * The view shows them one by one to whoever asks by SQL. When a key was last used stands with the sums, which outlive them.
 */
const batches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end, integer, position } = words(sql)
  yield* sql`DROP TABLE requests`
  yield* sql`CREATE TABLE request_batches (position ${position}, rows_number ${integer} NOT NULL, packed TEXT NOT NULL ${end}`
  const [each, number] = onSqlite(sql)
    ? [sql.literal("json_each(batch.packed) AS fact"), sql.literal("fact.key")]
    : [
        sql.literal("json_array_elements(batch.packed::json) WITH ORDINALITY AS fact (value, number)"),
        sql.literal("fact.number - 1")
      ]
  yield* sql`CREATE VIEW requests AS SELECT
    batch.position AS batch, ${number} AS number, CAST(fact.value ->> 0 AS ${integer}) AS ended_millis, fact.value ->> 1 AS request_id,
    CAST(fact.value ->> 2 AS ${integer}) AS status, fact.value ->> 3 AS provider, fact.value ->> 4 AS model, fact.value ->> 5 AS key_id,
    fact.value AS packed FROM request_batches AS batch CROSS JOIN ${each}`
  yield* sql`ALTER TABLE usage_sums ADD COLUMN last_millis ${integer} NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX usage_sums_by_key ON usage_sums (key_id, last_millis)`
})

const run = Migrator.make({})({
  loader: Migrator.fromRecord({
    "1_records": records,
    "2_accounting": accounting,
    "3_leases": leases,
    "4_batches": batches
  }),
  table: "migrations"
})

/** Any number, the same in every process: who migrates holds the lock of this name. */
const lockNumber = 787

const unusable = (error: Migrator.MigrationError | SqlError): StoreUnusable => {
  const cause = error._tag === "MigrationError" ? error.cause : error
  return new StoreUnusable({
    message: `the store cannot be migrated: ${isSqlError(cause) ? reasonOf(cause) : error.message}`
  })
}

/**
 * Brings the database to the tables of this version, one process at a time, all or nothing; gives the migrations that ran.
 * A database that is ahead of this version stays as it is.
 */
export const migrate: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  StoreUnusable,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // SQLite's transactions of changes exclude each other anyway.
  const lock = onSqlite(sql) ? Effect.void : Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${lockNumber})`)
  return yield* transaction(sql)(Effect.andThen(lock, run))
}).pipe(Effect.mapError(unusable))

/** The database there, with its tables. Fails when it cannot be reached or is none of ours; `awaited` in the place of `reached` is patient. */
export const database = (
  location: StoreLocation,
  reach: typeof reached = reached
): Layer.Layer<SqlClient.SqlClient, StoreUnusable> =>
  Layer.tap(layer(location), (context) =>
    Effect.provideContext(Effect.andThen(reach(describeStore(location)), migrate), context)
  )

/** A database of this process alone, gone when it ends. */
export const databaseMemory: Layer.Layer<SqlClient.SqlClient> = Layer.orDie(Layer.suspend(() => database(storeMemory)))
