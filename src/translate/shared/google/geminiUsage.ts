// Converts Gemini's token usage (`usageMetadata`) to OpenAI's inclusive convention.
// Must not depend on streams: the merged counts of a stream have the same form as a unary answer's.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { UsageMetadata } from "../../../wire/google/GenerateContent.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import { readCount } from "../reply/counts.ts"

/**
 * `candidatesTokenCount` excludes thoughts, so thoughts are added unless the upstream's total already includes them.
 * Absent fields count as zero: blocked and early answers have few counts. A cached count above the prompt's means that
 * the prompt came without it.
 */
export const geminiUsage = (metadata: UsageMetadata | JsonObject | undefined): Usage => {
  // Cast: the decoded interface has no index signature; its value is parsed JSON.
  const counts: JsonObject = (metadata ?? {}) as JsonObject
  const cached = readCount(counts["cachedContentTokenCount"])
  const asked = readCount(counts["promptTokenCount"])
  const toolUse = readCount(counts["toolUsePromptTokenCount"])
  const prompt = toolUse + (cached > asked ? asked + cached : asked)
  const candidates = readCount(counts["candidatesTokenCount"])
  const thoughts = readCount(counts["thoughtsTokenCount"])
  const inclusive =
    thoughts > 0 &&
    candidates >= thoughts &&
    [asked + toolUse, prompt].some((before) => before + candidates === readCount(counts["totalTokenCount"]))
  const completion = inclusive ? candidates : candidates + thoughts
  const promptBy = byModality(counts["promptTokensDetails"], counts["toolUsePromptTokensDetails"])
  const completionDetails = {
    ...(typeof counts["thoughtsTokenCount"] === "number" ? { reasoning_tokens: thoughts } : {}),
    ...byModality(counts["candidatesTokensDetails"])
  }
  const tier = counts["serviceTier"] ?? trafficTier(counts["trafficType"])
  const { audio_tokens: cachedAudio = 0 } = byModality(counts["cacheTokensDetails"])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...promptBy,
      ...(cachedAudio > 0 ? { cached_audio_tokens: cachedAudio } : {})
    },
    ...(Object.keys(completionDetails).length > 0 ? { completion_tokens_details: completionDetails } : {}),
    ...(metadata === undefined ? {} : { upstream: metadata }),
    ...(typeof tier === "string" ? { service_tier: tier } : {})
  }
}

/** Vertex AI's words for the tier that served; on demand is the standard one. */
const trafficTiers: Readonly<Record<string, string>> = {
  ON_DEMAND_FLEX: "flex",
  ON_DEMAND_PRIORITY: "priority",
  PROVISIONED_THROUGHPUT: "provisioned_throughput"
}
const trafficTier = (type: Json | undefined): string | undefined =>
  typeof type === "string" && Object.hasOwn(trafficTiers, type) ? trafficTiers[type] : undefined

const chatModalities = { AUDIO: "audio_tokens", IMAGE: "image_tokens", TEXT: "text_tokens" } as const

const none: { readonly [Field in (typeof chatModalities)[keyof typeof chatModalities]]?: number } = {}

const byModality = (list: Json | undefined, more?: Json) =>
  list === undefined && more === undefined ? none : tokensBy(chatModalities, list, more)

/** Sums `[{modality, tokenCount}]` by the given field names; other modalities are skipped. */
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
      if (field !== undefined) sums[field] = (sums[field] ?? 0) + readCount(entry["tokenCount"])
    }
  }
  return sums
}
