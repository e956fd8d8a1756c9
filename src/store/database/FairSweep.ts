// Makes room in a table that many keys fill: the keys that hold the most bytes lose their oldest rows.
// Must not know what a row holds, or who a key belongs to.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { onSqlite } from "./Sql.ts"

export interface Holding {
  readonly owner: string
  readonly bytes: number
}

/**
 * The bytes that each owner must lose until all hold `most` together, as if always the owner with the most lost one byte.
 * Owners below the level that they reach lose nothing.
 */
export const surplusOf = (holdings: ReadonlyArray<Holding>, most: number): ReadonlyArray<Holding> => {
  const rising = holdings.toSorted((a, b) => a.bytes - b.bytes)
  let left = most
  for (const [at, { bytes }] of rising.entries()) {
    const level = Math.floor(left / (rising.length - at))
    if (bytes > level) return rising.slice(at).map(({ bytes: held, owner }) => ({ owner, bytes: held - level }))
    left -= bytes
  }
  return []
}

/** A table with the columns `id`, `key_id` and `bytes_number`; `since` is the column of its time. */
export interface SharedTable {
  readonly name: "responses" | "request_contents"
  readonly since: "created_millis" | "ended_millis"
}

interface Sized {
  readonly id: string
  readonly bytes_number: number
}

/**
 * Removes the oldest rows of the owners with the most bytes until the table holds `most` bytes, at most `mostRows` rows.
 * Returns the number of rows that left. Reads one sum for each owner, and the rows that leave.
 */
export const sweepFairly = (
  sql: SqlClient.SqlClient,
  { name, since }: SharedTable,
  { most, mostRows }: { readonly most: number; readonly mostRows: number }
): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [table, time] = [sql.literal(name), sql.literal(since)]
    const holdings = yield* sql<Holding>`SELECT key_id AS owner, CAST(SUM(bytes_number) AS ${sql.literal(
      onSqlite(sql) ? "INTEGER" : "BIGINT"
    )}) AS bytes FROM ${table} GROUP BY key_id`
    let gone = 0
    for (const { bytes, owner } of surplusOf(holdings, most)) {
      if (gone >= mostRows) break
      const oldest = yield* sql<Sized>`SELECT id, bytes_number FROM ${table} WHERE key_id = ${owner}
        ORDER BY ${time}, id LIMIT ${mostRows - gone}`
      let over = bytes
      const leaving = oldest.filter(({ bytes_number: size }) => {
        const leaves = over > 0
        over -= size
        return leaves
      })
      gone += leaving.length
      const ids = leaving.map(({ id }) => id)
      if (ids.length > 0) yield* sql`DELETE FROM ${table} WHERE ${sql.in("id", ids)}`
    }
    return gone
  })
