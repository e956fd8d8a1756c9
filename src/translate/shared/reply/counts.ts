// Reads token counts from upstreams and merges the counts of a stream.
// Must not depend on an upstream's field names.
import { answerBounds } from "../../../domain/Limits.ts"
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
  return mergeFields(before, news)
}

/**
 * The fields of several events together; the last value wins. A copy of all fields for each new one would take quadratic
 * time, so new names beyond the bound are left out.
 */
export const mergeFields = (before: JsonObject | undefined, news: JsonObject): JsonObject => {
  if (before === undefined || holdsAllOf(news, before)) return news
  const all = new Map<string, Json | undefined>()
  for (const field in before) {
    if (all.size === answerBounds.fields) break
    all.set(field, before[field])
  }
  for (const field in news) if (all.size < answerBounds.fields || all.has(field)) all.set(field, news[field])
  return Object.fromEntries(all)
}

const lacksNulls = (metadata: JsonObject): boolean => {
  for (const field in metadata) if (metadata[field] === null) return false
  return true
}

const holdsAllOf = (news: JsonObject, before: JsonObject): boolean => {
  for (const field in before) if (news[field] === undefined) return false
  return true
}
