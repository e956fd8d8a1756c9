// Which stored rows are too old or too many: the clock by which rows expire, and the sweep of a table that many keys fill.
// Must not know what a row holds, or who a key belongs to.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { dayMillis, monotonicMillis } from "../../domain/time.ts"
import { onSqlite } from "./Sql.ts"

/** Rows that one transaction removes: PostgreSQL answers in time, and others write in between. */
export const removedRows = 1_000

export type RetentionClock = Effect.Effect<number, SqlError>

/** The time of PostgreSQL's own clock. SQLite has that of this process. */
const databaseMillis = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  onSqlite(sql)
    ? Effect.succeed(0)
    : Effect.map(
        sql<{
          readonly millis: number
        }>`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS millis`,
        ([row]) => row?.millis ?? 0
      )

/**
 * The wall clock, where it is at most a day ahead of the newest row that earlier processes stored (`newest`, undefined
 * without rows), of the database's own clock, or of the time that has passed since it was. Else the latest of these.
 */
export const makeRetentionClock = (
  sql: SqlClient.SqlClient,
  newest: Effect.Effect<number | undefined, SqlError>
): RetentionClock => {
  let trusted: { readonly millis: number; readonly atMillis: number } | undefined
  let isReported = false
  return Effect.clockWith((clock) =>
    Effect.gen(function* () {
      const wall = clock.currentTimeMillisUnsafe()
      const at = monotonicMillis(clock)
      const before =
        trusted === undefined ? ((yield* newest) ?? wall) : trusted.millis + Math.max(0, at - trusted.atMillis)
      const latest = Math.max(before, yield* databaseMillis(sql))
      const isTrusted = wall <= latest + dayMillis
      if (!isTrusted && !isReported)
        yield* Effect.logWarning(
          `store: the clock of this machine, ${new Date(wall).toISOString()}, is more than a day ahead of the store, ${new Date(latest).toISOString()}: old rows are kept by the time of the store`
        )
      isReported = !isTrusted
      trusted = { millis: isTrusted ? wall : latest, atMillis: at }
      return trusted.millis
    })
  )
}

// Makes room in a table that many keys fill: the keys that hold the most bytes lose their oldest rows.

interface Holding {
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
interface SharedTable {
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
