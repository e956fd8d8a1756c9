// Token counts of an OpenAI-compatible upstream: its own object, made whole.
// It must not know streams.
import { isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import { count } from "../shared/reply/counts.ts"
import { fields, restOf } from "./rest.ts"

const usageFields = fields(
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_tokens_details",
  "completion_tokens_details"
)

/** Zeros when the upstream counts nothing. The total is the sum of both, as for every other family. */
export const usageOf = (given: JsonObject | undefined): Usage => {
  const prompt = count(given?.["prompt_tokens"])
  const completion = count(given?.["completion_tokens"])
  const promptDetails = detailsOf(given?.["prompt_tokens_details"], "cached_tokens", prompt)
  const completionDetails = detailsOf(given?.["completion_tokens_details"], "reasoning_tokens", completion)
  return {
    ...(given === undefined ? undefined : restOf(given, usageFields)),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(promptDetails === undefined ? {} : { prompt_tokens_details: promptDetails }),
    ...(completionDetails === undefined ? {} : { completion_tokens_details: completionDetails })
  }
}

/** Whatever is named a count is one; the one that is a share of the whole is never more than it. */
const detailsOf = (given: JsonObject[string], share: string, whole: number): JsonObject | undefined => {
  if (!isJsonObject(given)) return undefined
  const kept = Object.entries(given).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    if (!name.endsWith("_tokens")) return [[name, value] as const]
    return typeof value === "number"
      ? [[name, name === share ? Math.min(count(value), whole) : count(value)] as const]
      : []
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
