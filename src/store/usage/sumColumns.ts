// The columns of the tables of sums: those of the dimensions, those of the sums, and a row of both.
// Must not run a query.
import type { UsageBucket } from "../../domain/usage/usageSums.ts"

/** The sums of days by key, provider and model, and by every dimension. */
export type DaysTable = "usage_sums" | "usage_details"

export const sumNames = ["requests", "errors", "input", "output", "cached", "cost_micros"] as const

/** The assignments that add the sums of a row to those of a stored row. */
export const addedSums = (table: string): string =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ")

/** The columns of the dimensions of a table, without its day or period. */
export const dimensionsOf = (table: DaysTable): ReadonlyArray<string> =>
  table === "usage_sums"
    ? ["key_id", "provider", "model"]
    : ["key_id", "provider", "model", "config", "client", "metadata"]

/** The row of a bucket in a table. */
export const rowOf = (table: DaysTable, { by, sums: { costMicros, ...counts } }: UsageBucket) => ({
  day: by.day,
  key_id: by.key,
  provider: by.provider,
  model: by.model,
  ...(table === "usage_sums" ? {} : { config: by.config, client: by.client, metadata: by.metadata }),
  requests: counts.requests,
  errors: counts.errors,
  input: counts.input,
  output: counts.output,
  cached: counts.cached,
  cost_micros: costMicros
})
