// The counts of a chat as the Responses API names them: always all of them.
// It must not know the source of the counts. Rule: R609.
import type { Usage } from "../../wire/openai/ChatReply.ts"
import type { ResponseUsage } from "../../wire/openai/responses/Response.ts"

export const usageOf = (usage: Usage): ResponseUsage => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: {
    cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cache_write_tokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0
  },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
  total_tokens: usage.total_tokens
})

const tiers: ReadonlySet<string> = new Set(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"])

/** A tier by a word of the published list; upstreams have words of their own. */
export const serviceTier = (...words: ReadonlyArray<string | undefined>): string =>
  words.find((word) => word !== undefined && tiers.has(word)) ?? "default"
