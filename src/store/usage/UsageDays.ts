// The sums of days in the store, by key, provider and model, and by every dimension: written with each batch.
// Must not know when batches are written, or how reports read the sums.
import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { UsageBucket } from "../../domain/usage/usageSums.ts"
import { addedSums, rowOf } from "./sumColumns.ts"

/** Adds these sums to the stored ones. */
export const addDays = (sql: SqlClient.SqlClient, buckets: ReadonlyArray<UsageBucket>): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    buckets,
    (bucket) =>
      Effect.andThen(
        sql`INSERT INTO usage_sums ${sql.insert({ ...rowOf("usage_sums", bucket), last_millis: bucket.lastMillis })}
          ON CONFLICT (day, key_id, provider, model) DO UPDATE SET ${sql.literal(addedSums("usage_sums"))},
            last_millis = CASE WHEN excluded.last_millis > usage_sums.last_millis THEN excluded.last_millis ELSE usage_sums.last_millis END`,
        sql`INSERT INTO usage_details ${sql.insert(rowOf("usage_details", bucket))}
          ON CONFLICT (day, key_id, provider, model, config, client, metadata) DO UPDATE SET ${sql.literal(addedSums("usage_details"))}`
      ),
    { discard: true }
  )

/** Deletes the sums of the days before this one. */
export const trimDays = (sql: SqlClient.SqlClient, day: string): Effect.Effect<void, SqlError> =>
  Effect.andThen(
    sql`DELETE FROM usage_sums WHERE day < ${day}`,
    Effect.asVoid(sql`DELETE FROM usage_details WHERE day < ${day}`)
  )
