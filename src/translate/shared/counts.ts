// Token counts as upstreams give them.
// It must not know any upstream's names of counts.
import type { Json, JsonObject } from "../../domain/json.ts"

/** A count of an answer: a whole number of at least zero, whatever was sent. */
export const count = (value: Json | undefined): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0

/** The counts of a stream repeat and grow: the last value wins per field, and a field that is missing resets nothing. */
export const mergeUsage = (before: JsonObject | undefined, metadata: JsonObject): JsonObject => {
  const news = lacksNulls(metadata) ? metadata : Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
  return before === undefined || holdsAllOf(news, before) ? news : { ...before, ...news }
}

const lacksNulls = (metadata: JsonObject): boolean => {
  for (const field in metadata) if (metadata[field] === null) return false
  return true
}

const holdsAllOf = (news: JsonObject, before: JsonObject): boolean => {
  for (const field in before) if (news[field] === undefined) return false
  return true
}
