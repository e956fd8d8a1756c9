// Completes the token usage of an OpenAI-compatible upstream.
// Must not depend on streams.
import { isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import { readCount } from "../shared/reply/counts.ts"
import { fieldNames, unreadFields } from "./rest.ts"

const usageFields = fieldNames(
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_tokens_details",
  "completion_tokens_details"
)

/** Zeros when the upstream sends no counts. The total is the sum of prompt and completion, as in every other family. */
export const openAiUsage = (given: JsonObject | undefined): Usage => {
  const prompt = readCount(given?.["prompt_tokens"])
  const completion = readCount(given?.["completion_tokens"])
  const promptDetails = detailsOf(given?.["prompt_tokens_details"], "cached_tokens", prompt)
  const completionDetails = detailsOf(given?.["completion_tokens_details"], "reasoning_tokens", completion)
  return {
    ...(given === undefined ? undefined : unreadFields(given, usageFields)),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, ...promptDetails },
    ...(completionDetails === undefined ? {} : { completion_tokens_details: completionDetails })
  }
}

/** Normalises all counts in details; the share never exceeds the whole. */
const detailsOf = (given: JsonObject[string], share: string, whole: number): JsonObject | undefined => {
  if (!isJsonObject(given)) return undefined
  const kept = Object.entries(given).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    if (!name.endsWith("_tokens")) return [[name, value] as const]
    return typeof value === "number"
      ? [[name, name === share ? Math.min(readCount(value), whole) : readCount(value)] as const]
      : []
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
