// Token counts of Gemini in OpenAI's inclusive convention.
// It must not know streams: the merged object of a stream is read like a unary one.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { UsageMetadata } from "../../../wire/google/GenerateContent.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import { count } from "../reply/counts.ts"

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

const chatModalities = { AUDIO: "audio_tokens", IMAGE: "image_tokens", TEXT: "text_tokens" } as const

const byModality = (...lists: ReadonlyArray<Json | undefined>) => tokensBy(chatModalities, ...lists)

/** Sums of `[{modality, tokenCount}]` under the names given for modalities; others are left out. */
export const tokensBy = <Field extends string>(
  fields: Readonly<Record<string, Field>>,
  ...lists: ReadonlyArray<Json | undefined>
): { readonly [F in Field]?: number } => {
  const sums: { [F in Field]?: number } = {}
  for (const list of lists) {
    for (const entry of Array.isArray(list) ? list : []) {
      const modality = isJsonObject(entry) ? entry["modality"] : undefined
      if (typeof modality !== "string" || !Object.hasOwn(fields, modality)) continue
      const field = fields[modality]
      if (field !== undefined) sums[field] = (sums[field] ?? 0) + count(entry["tokenCount"])
    }
  }
  return sums
}
