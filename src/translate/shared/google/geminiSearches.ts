// Counts the searches of Google's that an answer was grounded in, which are billed alongside its tokens.
// Must not depend on what a search costs.
import { isJsonObject, type Json } from "../../../domain/text/json.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"

/** Different queries of one candidate's `groundingMetadata`; an empty one is not billed. */
export const countSearches = (grounding: Json | undefined): number => {
  const queries = isJsonObject(grounding) ? grounding["webSearchQueries"] : undefined
  return Array.isArray(queries) ? new Set(queries.filter((query) => query !== "")).size : 0
}

/** The usage with the searches of all candidates. */
export const withSearches = (usage: Usage, searches: number): Usage => (searches === 0 ? usage : { ...usage, searches })
