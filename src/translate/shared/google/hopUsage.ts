// Sums Gemini's token usage over the hops of one answer; every hop is billed.
// Must not depend on how the hops were asked for.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"
import { geminiUsage } from "./geminiUsage.ts"

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
