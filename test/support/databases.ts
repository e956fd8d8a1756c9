// The databases of the store tests, each empty at first: SQLite, and PostgreSQL or, without one, PGlite in its place.
// Must not depend on a table. Warns when there is no PostgreSQL.
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
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
import { masterKeysGiven, randomMasterText } from "../../src/store/MasterKeys.ts"
import * as Store from "../../src/store/Store.ts"

export interface Database {
  readonly name: string
  /** False where all connections share one session, so that two parallel clients differ from real ones. */
  readonly takesSeveral: boolean
  /** An empty one, gone with its scope. */
  readonly location: Effect.Effect<StoreLocation, never, Scope.Scope>
}

const located = (url: string): StoreLocation => Result.getOrThrow(parseStoreUrl(url))

/** A directory that is gone with its scope. */
export const directory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const sqlite: Database = {
  name: "SQLite",
  takesSeveral: true,
  location: Effect.map(directory, (path) => located(`sqlite:${path}/gateway.db`))
}

/** PostgreSQL in this process. Starting it takes a second, so a test file has one, emptied after every use. */
const pglite = async (): Promise<Database> => {
  const engine = await PGlite.create()
  const serve = Effect.promise(async () => {
    const server = new PGLiteSocketServer({ db: engine, host: "127.0.0.1", port: 0, maxConnections: 20 })
    await server.start()
    return server
  })
  const emptied = (server: PGLiteSocketServer) =>
    Effect.promise(() => server.stop().then(() => engine.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public")))
  return {
    name: "PGlite",
    takesSeveral: false,
    location: Effect.map(Effect.acquireRelease(serve, emptied), (server) =>
      located(`postgres://postgres@${server.getServerConn()}/postgres`)
    )
  }
}

const statement = (url: string, text: string) =>
  Effect.scoped(Effect.flatMap(PgClient.make({ url: Redacted.make(url) }), (sql) => sql.unsafe(text))).pipe(
    Effect.provide(Reactivity.layer),
    Effect.orDie
  )

/** A schema of its own in the database at this URL. */
const postgres = (url: string): Database => ({
  name: "PostgreSQL",
  takesSeveral: true,
  location: Effect.map(
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
})

const given = process.env["TEST_POSTGRES_URL"]
if (given === undefined)
  console.warn("\n*** LEFT OUT: the store on a real PostgreSQL: TEST_POSTGRES_URL is not set ***\n")

export const databases: ReadonlyArray<Database> = [sqlite, given === undefined ? await pglite() : postgres(given)]

/** For work on the real clock that is to end well on a busy machine too. */
export const patiently = Effect.provideService(Limits, {
  ...defaultLimits,
  storeAnswerMillis: 60_000,
  storeLockMillis: 60_000
})

/** A master key of this test. */
export const someMasters = () => masterKeysGiven([Redacted.make(randomMasterText())], "the key of this test")

/** The whole store on an empty database. */
export const storeOn = ({ location }: Database, masters = someMasters()) =>
  Layer.orDie(Layer.unwrap(Effect.map(location, (at) => Store.layer(at, masters))))
