// The sums of days in the store, by key, provider and model, and by every dimension: written with each batch.
// Must not know when batches are written, or how reports read the sums.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { UsageBucket } from "../../domain/usage/usageSums.ts"
import { bulkInsert } from "../database/BulkRows.ts"
import { addedSums, dimensionsOf, rowsOf, sumNames } from "./sumColumns.ts"

const insertSums = bulkInsert({
  table: "usage_sums",
  texts: ["day", ...dimensionsOf("usage_sums")],
  numbers: [...sumNames, "last_millis"],
  then: `ON CONFLICT (day, key_id, provider, model) DO UPDATE SET ${addedSums("usage_sums")},
    last_millis = CASE WHEN excluded.last_millis > usage_sums.last_millis THEN excluded.last_millis ELSE usage_sums.last_millis END`
})
const insertDetails = bulkInsert({
  table: "usage_details",
  texts: ["day", ...dimensionsOf("usage_details")],
  numbers: sumNames,
  then: `ON CONFLICT (day, key_id, provider, model, config, client, metadata) DO UPDATE SET ${addedSums("usage_details")}`
})

/** Adds these sums to the stored ones, in two statements on PostgreSQL. */
export const addDays = (sql: SqlClient.SqlClient, buckets: ReadonlyArray<UsageBucket>): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    insertSums(sql, rowsOf("usage_sums", buckets, { withLast: true })),
    Effect.asVoid(insertDetails(sql, rowsOf("usage_details", buckets)))
  )

/** Deletes the sums of the days before this one. */
export const trimDays = (sql: SqlClient.SqlClient, day: string): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    sql`DELETE FROM usage_sums WHERE day < ${day}`,
    Effect.asVoid(sql`DELETE FROM usage_details WHERE day < ${day}`)
  )
