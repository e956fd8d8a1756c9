// The columns of the tables of sums: those of the dimensions, those of the sums, and rows of both.
// Must not run a query.
import { add, type UsageBucket } from "../../domain/usage/usageSums.ts"

/** The values of a row: texts, then numbers. */
export type SumRow = ReadonlyArray<string | number>

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

const textsOf = (table: DaysTable, { client, config, key, metadata, model, provider }: UsageBucket["by"]) =>
  table === "usage_sums" ? [key, provider, model] : [key, provider, model, config, client, metadata]

/**
 * The rows of a table: the time of a bucket's day, its dimensions, its sums, and where the table has it its last moment.
 * Buckets of one row are added up, because one statement cannot add to a row twice.
 */
export const rowsOf = (
  table: DaysTable,
  buckets: ReadonlyArray<UsageBucket>,
  { timeOf = (day) => day, withLast = false }: { timeOf?: (day: string) => string; withLast?: boolean } = {}
): ReadonlyArray<SumRow> => {
  const merged = new Map<string, { texts: SumRow; sums: UsageBucket["sums"]; lastMillis: number }>()
  for (const { by, lastMillis, sums } of buckets) {
    const texts = [timeOf(by.day), ...textsOf(table, by)]
    const name = texts.join("\n")
    const row = merged.get(name)
    if (row === undefined) merged.set(name, { texts, sums: { ...sums }, lastMillis })
    else {
      add(row.sums, sums)
      row.lastMillis = Math.max(row.lastMillis, lastMillis)
    }
  }
  return Array.from(merged.values(), ({ lastMillis, sums, texts }) => [
    ...texts,
    sums.requests,
    sums.errors,
    sums.input,
    sums.output,
    sums.cached,
    sums.costMicros,
    ...(withLast ? [lastMillis] : [])
  ])
}
