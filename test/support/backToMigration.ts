// Takes a store back to migration 10 or 11, so that the migrations after it run again.
// Must not be used for stores whose content matters.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

const laterTables = [
  "compatibility",
  "usage_sum_periods",
  "usage_detail_periods",
  "usage_rolled",
  "request_batch_names",
  "console_sessions"
]

export const backToMigration = Effect.fnUntraced(function* (migration: 10 | 11) {
  const sql = yield* SqlClient.SqlClient
  for (const table of laterTables) yield* sql`DROP TABLE ${sql.literal(table)}`
  yield* sql`DROP INDEX request_contents_by_key`
  yield* sql`ALTER TABLE request_contents DROP COLUMN key_id`
  if (migration < 11) yield* sql`DROP TABLE usage_details`
  yield* sql`DELETE FROM migrations WHERE migration_id > ${migration}`
})
