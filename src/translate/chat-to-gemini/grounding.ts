// Translates Gemini's grounding metadata to URL annotations, and citation metadata to citations.
// Must not depend on strict mode; the metadata itself is sent separately.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Candidate } from "../../wire/google/GenerateContent.ts"
import type { Annotation } from "../../wire/openai/ChatReply.ts"
import type { Citation } from "../../wire/openai/Extensions.ts"

/** The grounding of a candidate including its URL contexts; `{}`, which most chunks have, counts as absent. */
export const groundingOf = (candidate: Candidate): JsonObject | undefined => {
  const { groundingMetadata, urlContextMetadata: urls } = candidate
  if (groundingMetadata === undefined && urls === undefined) return undefined
  const metadata = isJsonObject(groundingMetadata) ? groundingMetadata : {}
  const found =
    isJsonObject(urls) && Object.keys(urls).length > 0 ? { ...metadata, urlContextMetadata: urls } : metadata
  return Object.keys(found).length > 0 ? found : undefined
}

/** `citationSources` in the Gemini API, `citations` in Vertex AI; the members are equal. */
export const citationsOf = (candidate: Candidate): ReadonlyArray<Citation> => {
  const metadata = candidate.citationMetadata
  if (!isJsonObject(metadata)) return []
  return [...list(metadata["citationSources"]), ...list(metadata["citations"])].filter(isJsonObject).map((source) => ({
    ...(typeof source["startIndex"] === "number" ? { start_index: source["startIndex"] } : {}),
    ...(typeof source["endIndex"] === "number" ? { end_index: source["endIndex"] } : {}),
    ...(typeof source["uri"] === "string" ? { uri: source["uri"] } : {}),
    ...(typeof source["title"] === "string" ? { title: source["title"] } : {}),
    ...(typeof source["license"] === "string" ? { license: source["license"] } : {})
  }))
}

/**
 * One annotation per pair of support and chunk. Google counts UTF-8 bytes inside one part; OpenAI clients count
 * characters of the content. `partStarts` has the position of each part in `content`.
 */
export const annotationsOf = (
  grounding: JsonObject | undefined,
  content: string,
  partStarts: ReadonlyArray<number>
): ReadonlyArray<Annotation> => {
  if (grounding === undefined) return []
  const sources = list(grounding["groundingChunks"]).map(sourceOf)
  const supports = list(grounding["groundingSupports"]).filter(isJsonObject)
  if (sources.length === 0 || supports.length === 0) return []
  const startBytes = bytesBefore(content, partStarts)
  const spans = supports.map((support) => {
    const segment = isJsonObject(support["segment"]) ? support["segment"] : {}
    const base = startBytes[whole(segment["partIndex"])] ?? 0
    return { from: base + whole(segment["startIndex"]), to: base + whole(segment["endIndex"]), support }
  })
  const points = pointsAt(
    content,
    spans.flatMap(({ from, to }) => [from, to])
  )
  return spans.flatMap(({ from, to, support }) =>
    list(support["groundingChunkIndices"]).flatMap((index): ReadonlyArray<Annotation> => {
      const source = sources[whole(index)]
      return source === undefined
        ? []
        : [
            {
              type: "url_citation",
              url_citation: { start_index: points.get(from) ?? 0, end_index: points.get(to) ?? 0, ...source }
            }
          ]
    })
  )
}

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const whole = (value: Json | undefined): number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0

/** A web page needs an address only; other sources need address and title. */
const sourceOf = (chunk: Json): { readonly url: string; readonly title: string } | undefined => {
  if (!isJsonObject(chunk)) return undefined
  const web = isJsonObject(chunk["web"]) ? chunk["web"] : undefined
  const source = web ?? Object.values(chunk).find(isJsonObject)
  const url = source?.["uri"]
  const title = source?.["title"]
  if (typeof url !== "string") return undefined
  if (typeof title === "string") return { url, title }
  return web === undefined ? undefined : { url, title: url }
}

const encoder = new TextEncoder()

const bytesBefore = (content: string, starts: ReadonlyArray<number>): ReadonlyArray<number> => {
  let bytes = 0
  let from = 0
  return starts.map((start) => {
    bytes += encoder.encode(content.slice(from, start)).length
    from = start
    return bytes
  })
}

/** Maps each byte offset to its code-point offset in one pass; an offset beyond the end counts as the end. */
const pointsAt = (content: string, offsets: ReadonlyArray<number>): ReadonlyMap<number, number> => {
  const sorted = [...new Set(offsets)].sort((a, b) => a - b)
  const found = new Map<number, number>()
  let next = 0
  let bytes = 0
  let points = 0
  for (const character of content) {
    for (; next < sorted.length && (sorted[next] ?? 0) <= bytes; next++) found.set(sorted[next] ?? 0, points)
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    points++
  }
  for (; next < sorted.length; next++) found.set(sorted[next] ?? 0, points)
  return found
}
