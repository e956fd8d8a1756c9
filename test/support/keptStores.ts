// Kept stores: the statements of one release on an empty store and on a filled one, and what it read; recorded and run again.
// Must not know what the statements do.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { CurrentTransformer } from "effect/sql/Statement"

type Value = string | number | null | { readonly base64: string }
type KeptStatement = readonly [sql: string, ...params: ReadonlyArray<Value>]

/** The store of one release on one database. */
export interface KeptStore {
  /** Makes the tables and fills them. */
  readonly fill: ReadonlyArray<KeptStatement>
  /** All that the release read then. */
  readonly filled: unknown
  /** What the next process of the release did, and all that it read then. */
  readonly use: ReadonlyArray<KeptStatement>
  readonly used: unknown
}

export const keptFolder = join(import.meta.dirname, "..", "fixtures", "stores")

/** The file of a release, by the number of its last migration. */
export const keptFile = (migration: number, dialect: string): string =>
  join(keptFolder, `${String(migration).padStart(3, "0")}.${dialect}.json`)

/** The last migrations of the releases that have kept stores, the oldest first. */
export const keptReleases = (): ReadonlyArray<number> =>
  [...new Set(readdirSync(keptFolder).map((name) => Number.parseInt(name, 10)))].toSorted((one, other) => one - other)

export const keptStore = (migration: number, dialect: string): KeptStore =>
  JSON.parse(readFileSync(keptFile(migration, dialect), "utf8"))

/** The name of the client's dialect in file names. */
export const dialectOf = (sql: SqlClient.SqlClient): string =>
  sql.onDialectOrElse({ sqlite: () => "sqlite", orElse: () => "postgres" })

const toValue = (param: unknown): Value => {
  if (param instanceof Uint8Array) return { base64: Buffer.from(param).toString("base64") }
  if (typeof param === "string" || typeof param === "number" || param === null) return param
  throw new TypeError(`a ${typeof param} has no form in a kept store`)
}

const ofValue = (value: Value): unknown =>
  typeof value === "object" && value !== null ? Buffer.from(value.base64, "base64") : value

/** Runs the work and adds each of its statements to the list. */
export const recordInto =
  (statements: Array<KeptStatement>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(work, CurrentTransformer, (statement) => {
      const [sql, params] = statement.compile()
      statements.push([sql, ...params.map(toValue)])
      return Effect.succeed(statement)
    })

/** Runs recorded statements in one transaction, and returns the rows of each. */
export const replay = (statements: ReadonlyArray<KeptStatement>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.forEach(statements, ([text, ...params]) => sql.unsafe(text, params.map(ofValue))))
  )
