// Token counts of Claude in OpenAI's inclusive convention.
// It must not know streams: the merged object of a stream is read like a unary one.
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import { count } from "../reply/counts.ts"

/** `input_tokens` leaves out what was read from a cache or written to one, so both are added. */
export const usageOf = (counts: JsonObject | undefined): Usage => {
  const read = counts?.["cache_read_input_tokens"]
  const written = counts?.["cache_creation_input_tokens"]
  const details = counts?.["output_tokens_details"]
  const thoughts = isJsonObject(details) ? details["thinking_tokens"] : undefined
  const tier = counts?.["service_tier"]
  const prompt = count(counts?.["input_tokens"]) + count(read) + count(written)
  const completion = count(counts?.["output_tokens"])
  const promptDetails = {
    ...(typeof read === "number" ? { cached_tokens: count(read) } : {}),
    ...(typeof written === "number" ? { cache_write_tokens: count(written) } : {})
  }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(Object.keys(promptDetails).length > 0 ? { prompt_tokens_details: promptDetails } : {}),
    ...(typeof thoughts === "number"
      ? { completion_tokens_details: { reasoning_tokens: Math.min(count(thoughts), completion) } }
      : {}),
    ...(counts === undefined ? {} : { upstream: counts }),
    ...(typeof tier === "string" ? { service_tier: tier } : {})
  }
}
