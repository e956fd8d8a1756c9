// How ids of models are spelled: families, versions, tiers, kinds, and the endings that do not count.
// It must not hold facts; with modelTable.ts it is the only reader of ids.

import type { ModelRecord } from "./ModelRecord.ts"

/** A resource name in front of the id. */
const resource = /^(publishers\/google\/models\/|models\/|google\/)+/

/** The bare id in lower case: resource prefixes such as `models/` or `publishers/google/models/` are cut off. */
export const normaliseModelId = (modelId: string): string => modelId.toLowerCase().replace(resource, "")

/** `@20250514`, `@default`, `-20250514`, `-06-05`, `-10-2025`, `-1206`, `-001`, `-preview`, `-exp`, `-latest`. */
const ending = /(@[^@]*|-\d{8}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{4}|-\d{3}|-preview|-exp|-experimental|-latest|-default)$/

/** The id without its endings, one more cut off at each step (M-101). */
export const shorterIds = (id: string): ReadonlyArray<string> => {
  const shorter = id.replace(ending, "")
  return shorter === id ? [] : [shorter, ...shorterIds(shorter)]
}

/** The id without any ending. */
export const bareId = (id: string): string => shorterIds(id).at(-1) ?? id

export type ModelKind = "text" | "image" | "tts" | "live" | "transcribe" | "embedding"

/** What is read of an id by itself. */
export interface ParsedName {
  readonly family: "gemini" | "claude" | "gemma"
  readonly major: number
  readonly minor: number
  /** `flash-lite`, `argon`, and so on; of Claude `opus`, `sonnet`, and so on. */
  readonly tier: string
  readonly kind: ModelKind
}

/** Words of an id that reveal the kind of output, for ids without a record. */
const kindWords: ReadonlyArray<readonly [RegExp, ModelKind]> = [
  [/embedding/, "embedding"],
  [/image|nano-banana/, "image"],
  [/tts/, "tts"],
  [/transcribe/, "transcribe"],
  [/live|audio/, "live"]
]

const kindOf = (id: string): ModelKind => kindWords.find(([pattern]) => pattern.test(id))?.[1] ?? "text"

const geminiName = /^gemini-(\d{1,3})(?:\.(\d{1,3}))?(?:-(.*))?$/
const gemmaName = /^gemma-(\d{1,3})n?(?:-(.*))?$/
const claudeName = /^claude-([a-z]+)-(\d{1,3})(?:-(\d{1,3}))?$/
const earlyClaudeName = /^claude-(\d{1,3})(?:-(\d{1,3}))?-([a-z]+)(?:-v\d)?$/

const kindWord = /^(image|nano|banana|tts|live|transcribe|audio|preview|exp)$/
const tierOf = (rest: string | undefined): string =>
  (rest ?? "")
    .split("-")
    .filter((word) => !kindWord.test(word))
    .join("-")

const parsed = (
  family: ParsedName["family"],
  [major, minor]: readonly [string | undefined, string | undefined],
  tier: string,
  kind: ModelKind = "text"
): ParsedName => ({ family, major: Number(major), minor: Number(minor ?? 0), tier, kind })

/** Undefined for an id without family or version (M-110). */
export const parseName = (id: string): ParsedName | undefined => {
  const name = bareId(id)
  const gemini = geminiName.exec(name)
  if (gemini !== null) return parsed("gemini", [gemini[1], gemini[2]], tierOf(gemini[3]), kindOf(name))
  const claude = claudeName.exec(name)
  if (claude !== null) return parsed("claude", [claude[2], claude[3]], claude[1] ?? "")
  const early = earlyClaudeName.exec(name)
  if (early !== null) return parsed("claude", [early[1], early[2]], early[3] ?? "")
  const gemma = gemmaName.exec(name)
  return gemma === null ? undefined : parsed("gemma", [gemma[1], undefined], "")
}

/** `2.5` of Gemini 2.5; undefined for a moving name, and for a record whose id has no version. */
export const versionOf = ({ generation, id }: Pick<ModelRecord, "generation" | "id">): number | undefined => {
  const stated = Number(generation)
  if (!Number.isNaN(stated)) return stated
  const name = parseName(id)
  return name === undefined ? undefined : Number(`${name.major}.${name.minor}`)
}

/** True for a name under which one model after another answers (M-111). */
export const isMovingName = (id: string): boolean => id.endsWith("-latest")

/** True for an id in Claude's namespace, known or not. */
export const isClaudeName = (id: string): boolean => id.startsWith("claude-")

/** True for a name by which another publisher's models are known. */
export const isOtherName = (id: string): boolean =>
  /^(gemini|gemma|imagen|veo|llama|text-|multimodalembedding|google[./]|meta[./])/.test(id)

/** A pattern with `*` for any rest, as configurations write it. */
export const matchesPattern = (pattern: string, id: string): boolean => {
  const [first = "", ...rest] = pattern.split("*")
  if (rest.length === 0) return pattern === id
  if (!id.startsWith(first)) return false
  const last = rest.at(-1) ?? ""
  let at = first.length
  for (const piece of rest.slice(0, -1)) {
    const place = id.indexOf(piece, at)
    if (place < 0) return false
    at = place + piece.length
  }
  return id.length - last.length >= at && id.endsWith(last)
}
