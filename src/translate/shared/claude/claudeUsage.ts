// Converts Claude's token usage to OpenAI's inclusive convention.
// Must not depend on streams: the merged counts of a stream have the same form as a unary answer's.
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import { readCount } from "../reply/counts.ts"

/** `input_tokens` excludes tokens read from a cache and written to one, so both are added. */
export const claudeUsage = (counts: JsonObject | undefined): Usage => {
  const read = counts?.["cache_read_input_tokens"]
  const written = counts?.["cache_creation_input_tokens"]
  const details = counts?.["output_tokens_details"]
  const thoughts = isJsonObject(details) ? details["thinking_tokens"] : undefined
  const tier = counts?.["service_tier"]
  const lives = counts?.["cache_creation"]
  const hour = isJsonObject(lives) ? readCount(lives["ephemeral_1h_input_tokens"]) : 0
  const tools = counts?.["server_tool_use"]
  const searches = isJsonObject(tools) ? readCount(tools["web_search_requests"]) : 0
  const prompt = readCount(counts?.["input_tokens"]) + readCount(read) + readCount(written)
  const completion = readCount(counts?.["output_tokens"])
  const promptDetails = {
    cached_tokens: readCount(read),
    ...(typeof written === "number" ? { cache_write_tokens: readCount(written) } : {}),
    ...(hour > 0 ? { cache_write_1h_tokens: hour } : {})
  }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: promptDetails,
    ...(typeof thoughts === "number"
      ? { completion_tokens_details: { reasoning_tokens: Math.min(readCount(thoughts), completion) } }
      : {}),
    ...(counts === undefined ? {} : { upstream: counts }),
    ...(searches > 0 ? { searches } : {}),
    ...(typeof tier === "string" ? { service_tier: tier } : {})
  }
}
