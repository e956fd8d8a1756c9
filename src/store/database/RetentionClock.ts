// The time by which stored rows are too old. A wall clock that is far ahead must not delete them.
// Must not know any table.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { monotonicMillis } from "../../domain/usage/monotonicMillis.ts"
import { dayMillis } from "../../domain/text/days.ts"
import { onSqlite } from "./Sql.ts"

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
