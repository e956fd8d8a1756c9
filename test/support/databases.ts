// The databases of the store tests: SQLite, and PostgreSQL or, without one, PGlite in its place; before a release all three.
// Must not depend on a table. Warns when there is no PostgreSQL.
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { defaultLimits, Limits } from "../../src/domain/Limits.ts"
import { parseStoreUrl, type StoreLocation } from "../../src/domain/settings/storeLocation.ts"
import { database } from "../../src/store/database/Migrations.ts"
import { masterKeysGiven, randomMasterText } from "../../src/store/Encryption.ts"
import * as Store from "../../src/store/Store.ts"
import { tablesFile } from "./buildTables.ts"
import { recordInto } from "./keptStores.ts"
import { patientLimits } from "./patientLimits.ts"
import { isRelease } from "./release.ts"

export interface Database {
  readonly name: string
  /** False where all connections share one session, so that two parallel clients differ from real ones. */
  readonly takesSeveral: boolean
  /** One without tables, gone with its scope. */
  readonly empty: Effect.Effect<StoreLocation, never, Scope.Scope>
  /** One with the tables of this version, so that its migrations find nothing to do. Gone with its scope. */
  readonly location: Effect.Effect<StoreLocation, never, Scope.Scope>
}

const located = (url: string): StoreLocation => Result.getOrThrow(parseStoreUrl(url))

/** A directory that is gone with its scope. */
export const directory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const sqliteFile = Effect.map(directory, (path) => join(path, "gateway.db"))

const sqlite: Database = {
  name: "SQLite",
  takesSeveral: true,
  empty: Effect.map(sqliteFile, (path) => located(`sqlite:${path}`)),
  location: Effect.map(sqliteFile, (path) => {
    // The set-up of the tests makes the file. A bench, which has none, begins with an empty database.
    if (process.env["VITEST"] !== undefined) copyFileSync(tablesFile, path)
    return located(`sqlite:${path}`)
  })
}

/** The value of a parameter, which the statements of a block cannot have. */
const literal = (value: unknown): string => (typeof value === "number" ? String(value) : `'${String(value)}'`)

/** Records what the migrations of an empty database do, as one statement: they take 50 ms, and most tests need them. */
const tablesBlock = async (empty: Database["empty"]): Promise<string> => {
  const statements: Parameters<typeof recordInto>[0] = []
  const migrated = Effect.flatMap(empty, (at) => Effect.provide(Effect.void, Layer.fresh(database(at))))
  await Effect.runPromise(recordInto(statements)(Effect.scoped(migrated)))
  const texts = statements
    .filter(([text]) => !text.startsWith("SELECT"))
    .map(([text, ...params]) => text.replaceAll(/\$(\d+)/g, (_match, at) => literal(params[Number(at) - 1])))
  return `DO $block$ BEGIN ${texts.join(";\n")}; END $block$`
}

/** Empty databases with their tables made in one statement. */
const withTables = (
  empty: Database["empty"],
  run: (at: StoreLocation, statement: string) => Effect.Effect<unknown>
): Database["location"] => {
  let block: Promise<string> | undefined
  return Effect.gen(function* () {
    const text = yield* Effect.promise(() => (block ??= tablesBlock(empty)))
    return yield* Effect.tap(empty, (at) => run(at, text))
  })
}

/** PostgreSQL in this process. Starting it takes a second, so all tests of a process share one, emptied after every use. */
const pglite = (): Database => {
  let started: Promise<PGlite> | undefined
  const engine = Effect.promise(() => (started ??= PGlite.create()))
  const serve = Effect.flatMap(engine, (db) =>
    Effect.promise(async () => {
      const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port: 0, maxConnections: 20 })
      await server.start()
      return server
    })
  )
  const run = (text: string) => Effect.flatMap(engine, (db) => Effect.promise(() => db.exec(text)))
  const stop = (server: PGLiteSocketServer) =>
    Effect.andThen(
      Effect.promise(() => server.stop()),
      run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    )
  const empty = Effect.map(Effect.acquireRelease(serve, stop), (server) =>
    located(`postgres://postgres@${server.getServerConn()}/postgres`)
  )
  return { name: "PGlite", takesSeveral: false, empty, location: withTables(empty, (_at, text) => run(text)) }
}

const statement = (url: string, text: string) =>
  Effect.scoped(
    Effect.flatMap(PgClient.make({ url: Redacted.make(url), connectTimeout: patientLimits.storeAnswerMillis }), (sql) =>
      sql.unsafe(text)
    )
  ).pipe(Effect.provide(Reactivity.layer), Effect.orDie)

/** A schema of its own in the database at this URL. */
const postgres = (url: string): Database => {
  const empty = Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() => {
        const schema = `gateway_${randomBytes(6).toString("hex")}`
        return Effect.as(statement(url, `CREATE SCHEMA ${schema}`), schema)
      }),
      (schema) => statement(url, `DROP SCHEMA ${schema} CASCADE`)
    ),
    (schema) =>
      located(`${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent(`-c search_path=${schema}`)}`)
  )
  const location = withTables(empty, (at, text) =>
    at.kind === "postgres" ? statement(Redacted.value(at.url), text) : Effect.void
  )
  return { name: "PostgreSQL", takesSeveral: true, empty, location }
}

const given = process.env["TEST_POSTGRES_URL"]
if (given === undefined)
  console.warn("\n*** LEFT OUT: the store on a real PostgreSQL: TEST_POSTGRES_URL is not set ***\n")

/** PGlite is in the place of a PostgreSQL that is not there. Before a release it is one of its own. */
export const databases: ReadonlyArray<Database> = [
  sqlite,
  ...(isRelease || given === undefined ? [pglite()] : []),
  ...(given === undefined ? [] : [postgres(given)])
]

/** For work that is to end well on a busy machine too. */
export const patiently = Effect.provideService(Limits, { ...defaultLimits, ...patientLimits })

/** A master key of this test. */
export const someMasters = () => masterKeysGiven([Redacted.make(randomMasterText())], "the key of this test")

/** The limits of a test, without those that a busy machine exceeds: the driver's own timer is on the real clock. */
const patience = Layer.effect(
  Limits,
  Effect.map(Limits, (limits) => ({ ...limits, ...patientLimits }))
)

/** The whole store on an empty database. */
export const storeOn = ({ location }: Database, masters = someMasters()) =>
  Layer.orDie(Layer.unwrap(Effect.map(location, (at) => Store.layer(at, masters)))).pipe(Layer.provide(patience))
