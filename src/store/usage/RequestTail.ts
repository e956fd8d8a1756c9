// The end of the request log: the batches that were written since the last read, by any gateway on the store.
// Must not know who reads, or how often.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { RequestRow } from "../../domain/RequestRow.ts"
import type { RecentRequests } from "../../domain/usage/usageSums.ts"
import { type Batch, latestRows } from "./batchedRows.ts"

/**
 * Positions are given out before transactions commit, so that a batch can appear below a later one. So many positions
 * before the last one are looked at again.
 */
const overlap = 32

interface Place {
  readonly position: number
  readonly rows_number: number
}

const placesAfter = (sql: SqlClient.SqlClient, position: number) =>
  sql<Place>`SELECT position, rows_number FROM request_batches WHERE position > ${position} ORDER BY position DESC`

/** As many of the newest batches as have `most` rows together. */
const newest = (places: ReadonlyArray<Place>, most: number): ReadonlyArray<Place> => {
  let rows = 0
  const end = places.findIndex((place) => (rows += place.rows_number) >= most)
  return end < 0 ? places : places.slice(0, end + 1)
}

/**
 * A reader: each run returns the rows that were written since the run before, the latest first and `most` at most. The
 * texts of older batches are not read, only counted.
 */
export const followRows = (
  sql: SqlClient.SqlClient,
  most: number
): Effect.Effect<Effect.Effect<RecentRequests, SqlError>, SqlError> =>
  Effect.gen(function* () {
    const [last] = yield* sql<Pick<Place, "position">>`SELECT MAX(position) AS position FROM request_batches`
    let after = last?.position ?? 0
    let seen = new Set((yield* placesAfter(sql, after - overlap)).map(({ position }) => position))
    return Effect.gen(function* () {
      const places = yield* placesAfter(sql, after - overlap)
      const fresh = places.filter(({ position }) => !seen.has(position))
      const read = newest(fresh, most).map(({ position }) => position)
      const batches =
        read.length === 0
          ? []
          : yield* sql<Batch>`SELECT position, packed FROM request_batches WHERE ${sql.in("position", read)} ORDER BY position DESC`
      after = places[0]?.position ?? after
      seen = new Set(places.map(({ position }) => position))
      const rows: Array<RequestRow> = []
      for (const batch of batches) rows.push(...latestRows(batch, most - rows.length))
      const total = fresh.reduce((sum, place) => sum + place.rows_number, 0)
      return { rows, skipped: total - rows.length }
    })
  })
