// Converts the token counts of Gemini and Claude to OpenAI's inclusive convention, and adds up the counts of hops and searches.
// Must not depend on streams or prices: the merged counts of a stream have the same form as a unary answer's.
import { answerBounds } from "../../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { UsageMetadata } from "../../../wire/google.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"

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

// Converts Claude's token usage to OpenAI's inclusive convention.

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

// Converts Gemini's token usage (`usageMetadata`) to OpenAI's inclusive convention.

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

// Sums Gemini's token usage over the hops of one answer; every hop is billed.

/** Sums numbers, lists of counts by modality too; of other values the last one counts. */
const summed = (one: JsonObject, other: JsonObject): JsonObject => {
  const out = new Map<string, Json | undefined>(Object.entries(one))
  for (const [name, value] of Object.entries(other)) {
    const before = out.get(name)
    if (typeof before === "number" && typeof value === "number") out.set(name, before + value)
    else if (Array.isArray(before) && Array.isArray(value)) out.set(name, summedByModality([...before, ...value]))
    else if (value !== null) out.set(name, value)
  }
  return Object.fromEntries([...out].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

const summedByModality = (counts: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const by = new Map<Json | undefined, JsonObject>()
  for (const count of counts) {
    if (!isJsonObject(count)) continue
    const { modality, ...rest } = count
    const { modality: _same, ...before } = by.get(modality) ?? {}
    by.set(modality, { ...(modality === undefined ? {} : { modality }), ...summed(before, rest) })
  }
  return [...by.values()]
}

type Details = Readonly<Record<string, number | undefined>>

const summedDetails = (one: Details | undefined, other: Details | undefined): Details | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : Object.fromEntries(
        [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => [
          name,
          (one[name] ?? 0) + (other[name] ?? 0)
        ])
      )

const summedUsage = (one: Usage, other: Usage): Usage => {
  const prompt = summedDetails(one.prompt_tokens_details, other.prompt_tokens_details)
  const completion = summedDetails(one.completion_tokens_details, other.completion_tokens_details)
  return {
    ...one,
    ...other,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
    ...(prompt === undefined ? {} : { prompt_tokens_details: prompt }),
    ...(completion === undefined ? {} : { completion_tokens_details: completion })
  }
}

/** The upstream's own object has the sums too, and the prompt of the first hop under a name of its own (M-603). */
export const usageOfHops = (hops: ReadonlyArray<JsonObject>): Usage => {
  const [first = {}, ...others] = hops
  if (others.length === 0) return geminiUsage(first)
  const usage = others.map((hop) => geminiUsage(hop)).reduce(summedUsage, geminiUsage(first))
  return {
    ...usage,
    upstream: { ...others.reduce(summed, first), initialPromptTokenCount: first["promptTokenCount"] ?? 0 }
  }
}

// Counts the searches of Google's that an answer was grounded in, which are billed alongside its tokens.

/** Different queries of one candidate's `groundingMetadata`; an empty one is not billed. */
export const countSearches = (grounding: Json | undefined): number => {
  const queries = isJsonObject(grounding) ? grounding["webSearchQueries"] : undefined
  return Array.isArray(queries) ? new Set(queries.filter((query) => query !== "")).size : 0
}

/** The searches of all candidates, each with its own grounding. */
export const searchesOf = (groundings: ReadonlyArray<Json | undefined>): number =>
  groundings.reduce<number>((sum, grounding) => sum + countSearches(grounding), 0)

/** The usage with the searches of all candidates. */
export const withSearches = (usage: Usage, searches: number): Usage => (searches === 0 ? usage : { ...usage, searches })

/** The tier that served a request, for answers whose counts lack it; undefined without the header of the Gemini API. */
export const readGeminiTier = (headers: Readonly<Record<string, string>> | undefined): string | undefined =>
  headers?.["x-gemini-service-tier"]

/** The tier of the counts takes precedence (M-704). */
export const withTier = (usage: Usage, tier: string | undefined): Usage =>
  tier === undefined || usage.service_tier !== undefined ? usage : { ...usage, service_tier: tier }
