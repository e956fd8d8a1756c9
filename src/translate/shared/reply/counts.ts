// Reads token counts from upstreams and merges the counts of a stream.
// Must not depend on an upstream's field names.
import type { Json, JsonObject } from "../../../domain/text/json.ts"

/**
 * Above any real count. Sums of larger numbers overflow the store's columns, and the store would reject the whole
 * write.
 */
const mostTokens = 2 ** 30

/** Reads a count as a whole number of at least zero; any other value counts as zero. */
export const readCount = (value: Json | undefined): number =>
  typeof value === "number" && value > 0 && value < mostTokens ? Math.trunc(value) : 0

/** Stream counts repeat and grow: the last value wins per field; a missing field keeps its value. */
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
