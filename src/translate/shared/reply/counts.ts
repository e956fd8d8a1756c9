// Token counts as upstreams give them.
// It must not know any upstream's names of counts.
import type { Json, JsonObject } from "../../../domain/text/json.ts"

/** No request has as many. Sums of larger numbers fit no column of the store, which would refuse all that is written with them. */
const mostTokens = 2 ** 30

/** A count of an answer: a whole number of at least zero, whatever was sent; what cannot be one counts nothing. */
export const count = (value: Json | undefined): number =>
  typeof value === "number" && value > 0 && value < mostTokens ? Math.trunc(value) : 0

/** The counts of a stream repeat and grow: the last value wins per field, and a field that is missing resets nothing. */
export const mergeUsage = (before: JsonObject | undefined, metadata: JsonObject): JsonObject => {
  const news = lacksNulls(metadata)
    ? metadata
    : Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
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
