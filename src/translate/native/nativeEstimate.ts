// What a native request will probably use, before it is sent: of its body as Google reads it, under either name of a member.
// It must not know keys, prices, limits or models. Rules: N306, N310.
import { estimatePrompt, estimateTextTokens, type PromptTokens } from "../../domain/estimateTokens.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { effortTokens } from "../shared/chat-request/readOptions.ts"
import { pictureTokens, usualPictureTokens } from "../shared/images.ts"
import { camelName, memberOf } from "./memberNames.ts"

/** The answer that a body asks for. */
export interface NativeOutput {
  /** Thoughts included, pictures not. */
  readonly tokens: number
  /** Tokens of each picture, where the model draws. */
  readonly pictureTokens: number
  readonly answers: number
  readonly draws: boolean
  readonly speaks: boolean
}

/** Members that may hold media. */
const holdingMedia: ReadonlySet<string> = new Set([
  "contents",
  "systemInstruction",
  "content",
  "requests",
  "instances",
  "generateContentRequest"
])

/** Members that no model reads. Every other one counts as text. */
const unread: ReadonlySet<string> = new Set([
  "model",
  "generationConfig",
  "parameters",
  "cachedContent",
  "safetySettings",
  "labels",
  "modelArmorConfig",
  "serviceTier",
  "store",
  "taskType",
  "outputDimensionality",
  "autoTruncate",
  "embedContentConfig"
])

/** Settings with members of their own that are no schema. */
const plainSettings: ReadonlySet<string> = new Set(["thinkingConfig", "speechConfig", "imageConfig", "routingConfig"])

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

const settingsOf = (body: JsonObject): JsonObject => objectOf(memberOf(body, "generationConfig"))

/** Schemas of the answer, under any of their names, are sent to the model. */
const schemaTokens = (body: JsonObject): number => {
  let tokens = 0
  for (const [name, value] of Object.entries(settingsOf(body)))
    if (isJsonObject(value) && !plainSettings.has(camelName(name))) tokens += estimateTextTokens(value)
  return tokens
}

/** The tokens of everything that the model reads, but for a cached content. */
export const nativePrompt = (body: JsonObject): PromptTokens => {
  let tokens = schemaTokens(body)
  let audio = 0
  for (const [name, value] of Object.entries(body)) {
    const field = camelName(name)
    if (value === undefined || value === null || unread.has(field)) continue
    if (holdingMedia.has(field)) {
      const read = estimatePrompt(value)
      tokens += read.tokens
      audio += read.audio
    } else tokens += estimateTextTokens(value)
  }
  return { tokens, audio }
}

/** Whether the prompt continues a cached content, of whose size nothing is known. */
export const continuesCache = (body: JsonObject): boolean => {
  const name = body["cachedContent"] ?? body["cached_content"]
  return typeof name === "string" && name !== ""
}

/** A budget, or a level as a word or as the number of its enumeration. */
const thoughtOf = (settings: JsonObject): number => {
  const asked = objectOf(memberOf(settings, "thinkingConfig"))
  const level = memberOf(asked, "thinkingLevel")
  const budget = countOf(memberOf(asked, "thinkingBudget"))
  if (level === undefined || level === null) return budget
  const word = String(level).toLowerCase()
  const tokens = word === "minimal" || word === "low" || word === "medium" ? effortTokens[word] : effortTokens.high
  return Math.max(budget, tokens)
}

/** Names of modalities, and the numbers of their enumeration. */
const asksFor = (settings: JsonObject, word: string, number: number): boolean => {
  const kinds = memberOf(settings, "responseModalities")
  const all: ReadonlyArray<Json> = Array.isArray(kinds) ? kinds : [kinds ?? null]
  return all.some((kind) => kind === number || (typeof kind === "string" && kind.toLowerCase() === word))
}

/** `usual` is the output of a request without a bound. Thoughts are inside of a bound; without one they are added. */
export const nativeOutput = (body: JsonObject, usual: number): NativeOutput => {
  const settings = settingsOf(body)
  const bound = countOf(memberOf(settings, "maxOutputTokens"))
  const answers = Math.max(1, countOf(memberOf(settings, "candidateCount")))
  const size = memberOf(objectOf(memberOf(settings, "imageConfig")), "imageSize")
  return {
    tokens: answers * (bound === 0 ? usual + thoughtOf(settings) : bound),
    pictureTokens: typeof size === "string" ? pictureTokens(size) : usualPictureTokens,
    answers,
    draws: asksFor(settings, "image", 2),
    speaks: asksFor(settings, "audio", 3)
  }
}

/** Imagen makes as many pictures where a body names no number. */
const usualPictures = 4

/** Bounds of models that generate text by predict. */
const textBounds = ["maxOutputTokens", "maxTokens", "maxNewTokens", "maxLength"] as const

/** Both names count here: members of instances and parameters are not Google's own. */
const largestOf = (holder: JsonObject, names: ReadonlyArray<string>): number => {
  let most = 0
  for (const [name, value] of Object.entries(holder))
    if (names.includes(camelName(name))) most = Math.max(most, countOf(value))
  return most
}

/** What a predict makes: pictures of each instance, or text. */
export const predictedOutput = (body: JsonObject): { readonly images: number; readonly tokens: number } => {
  const { instances } = body
  const parameters = objectOf(body["parameters"])
  const all = Array.isArray(instances) ? instances.filter(isJsonObject) : []
  const asked = largestOf(parameters, ["sampleCount"])
  const bound = all.reduce(
    (most, instance) => Math.max(most, largestOf(instance, textBounds)),
    largestOf(parameters, textBounds)
  )
  const count = Math.max(1, all.length)
  return { images: count * (asked === 0 ? usualPictures : asked), tokens: count * bound }
}

// Reads a number that a body asks for, as Google's JSON takes numbers. Source: https://protobuf.dev/programming-guides/json

const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i

/**
 * A number as Google's JSON takes it: also as a text, such as "60000" or "6e4", and an integer beyond 2^53. Zero for every
 * other value and for negative ones. Products of such counts stay finite.
 */
export const countOf = (value: Json | undefined): number => {
  const read =
    typeof value === "string" && decimal.test(value)
      ? Number(value)
      : JSON.isRawJSON(value)
        ? Number(JSON.stringify(value))
        : value
  return typeof read === "number" && read > 0 ? Math.min(read, Number.MAX_SAFE_INTEGER) : 0
}
