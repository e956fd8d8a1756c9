// Takes a store back to migration 10 or 11, so that the migrations after it run again.
// Must not be used for stores whose content matters.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { onSqlite } from "../../src/store/database/Sql.ts"
import { rowsOfBatch } from "../../src/store/usage/RequestRows.ts"
import { packedOf } from "./requestRows.ts"

const laterTables = [
  "compatibility",
  "usage_sum_periods",
  "usage_detail_periods",
  "usage_rolled",
  "console_sessions",
  "request_metadata",
  "request_rows"
]

/** Writes the rows of this version into the text of their batch, where versions up to migration 17 have them. */
const packBatches = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const batches = yield* sql<{ readonly position: number }>`SELECT position FROM request_batches WHERE packed = '[]'`
  for (const { position } of batches) {
    const packed = JSON.stringify((yield* rowsOfBatch(sql, position)).map(packedOf))
    yield* sql`UPDATE request_batches SET packed = ${packed} WHERE position = ${position}`
  }
})

export const backToMigration = Effect.fnUntraced(function* (migration: 10 | 11) {
  const sql = yield* SqlClient.SqlClient
  yield* packBatches
  yield* sql`DROP TRIGGER request_batches_unpacked ${sql.literal(onSqlite(sql) ? "" : "ON request_batches")}`
  if (!onSqlite(sql)) yield* sql`DROP FUNCTION unpack_requests`
  yield* sql`DROP VIEW requests`
  // Migration 11 makes the view, migration 18 makes it again.
  yield* sql`CREATE VIEW requests AS SELECT position FROM request_batches`
  for (const table of laterTables) yield* sql`DROP TABLE ${sql.literal(table)}`
  yield* sql`DROP INDEX request_contents_by_key`
  yield* sql`ALTER TABLE request_contents DROP COLUMN key_id`
  if (migration < 11) yield* sql`DROP TABLE usage_details`
  yield* sql`DELETE FROM migrations WHERE migration_id > ${migration}`
})
