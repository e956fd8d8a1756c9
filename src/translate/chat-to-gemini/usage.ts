// Token counts of Gemini in OpenAI's inclusive convention.
// It must not know streams: the merged object of a stream is read like a unary one.
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts"
import type { UsageMetadata } from "../../wire/google/GenerateContent.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"

/**
 * `candidatesTokenCount` leaves out thoughts, so they are added, unless the upstream's own total shows that they are
 * inside already. Absent fields count as zero: blocked and early answers have hardly any.
 */
export const usageOf = (metadata: UsageMetadata | JsonObject | undefined): Usage => {
  const counts: JsonObject = (metadata ?? {}) as JsonObject
  const prompt = count(counts["promptTokenCount"]) + count(counts["toolUsePromptTokenCount"])
  const candidates = count(counts["candidatesTokenCount"])
  const thoughts = count(counts["thoughtsTokenCount"])
  const inclusive = thoughts > 0 && candidates >= thoughts && prompt + candidates === count(counts["totalTokenCount"])
  const completion = inclusive ? candidates : candidates + thoughts
  const promptBy = byModality(counts["promptTokensDetails"], counts["toolUsePromptTokensDetails"])
  const cached = counts["cachedContentTokenCount"]
  const promptDetails = {
    ...(typeof cached === "number" ? { cached_tokens: Math.min(count(cached), prompt) } : {}),
    ...promptBy
  }
  const completionDetails = {
    ...(typeof counts["thoughtsTokenCount"] === "number" ? { reasoning_tokens: thoughts } : {}),
    ...byModality(counts["candidatesTokensDetails"])
  }
  const tier = counts["serviceTier"]
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(Object.keys(promptDetails).length > 0 ? { prompt_tokens_details: promptDetails } : {}),
    ...(Object.keys(completionDetails).length > 0 ? { completion_tokens_details: completionDetails } : {}),
    ...(metadata === undefined ? {} : { upstream: metadata }),
    ...(typeof tier === "string" ? { service_tier: tier } : {})
  }
}

/** The counts of a stream are cumulative: the last value wins per field, and a field that is missing resets nothing. */
export const mergeUsage = (before: JsonObject | undefined, metadata: UsageMetadata): JsonObject => {
  const news = Object.values(metadata).includes(null)
    ? Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
    : (metadata as JsonObject)
  return before === undefined ? news : { ...before, ...news }
}

const count = (value: Json | undefined): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0

const fields = { AUDIO: "audio_tokens", IMAGE: "image_tokens", TEXT: "text_tokens" } as const

const byModality = (...lists: ReadonlyArray<Json | undefined>) => {
  const sums: { audio_tokens?: number; image_tokens?: number; text_tokens?: number } = {}
  for (const list of lists) {
    for (const entry of Array.isArray(list) ? list : []) {
      if (!isJsonObject(entry)) continue
      const modality = entry["modality"]
      if (modality !== "AUDIO" && modality !== "IMAGE" && modality !== "TEXT") continue
      const field = fields[modality]
      sums[field] = (sums[field] ?? 0) + count(entry["tokenCount"])
    }
  }
  return sums
}
