// What estimates of usage read of a body, for every operation whose bodies are in OpenAI's or Anthropic's words.
// Must not know keys, prices or limits.
import { estimatePrompt, estimateTextTokens } from "../domain/estimateTokens.ts"
import type { ModelTable } from "../domain/models/modelTable.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import type { Usage } from "../domain/Usage.ts"
import { continuesCache, countOf } from "../translate/native/nativeEstimate.ts"
import { effortTokens } from "../translate/shared/chat-request/readOptions.ts"
import { pictureTokens, usualPictureTokens } from "../translate/shared/images.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesParameters } from "../wire/openai/Images.ts"
import type { ExpectedPrompt } from "./rules.ts"

/**
 * The members of a body that a model reads, in any dialect: first those that may contain media, then those that are
 * text throughout.
 */
const holdingMedia: ReadonlySet<string> = new Set(["messages", "system", "input"])
const readAsText: ReadonlySet<string> = new Set([
  "tools",
  "functions",
  "response_format",
  "prompt",
  "negative_prompt",
  "title"
])

/** Known members that are not part of the prompt. Native bodies are not decoded, so Anthropic's own are listed. */
const unread: ReadonlySet<string> = new Set([
  ...Object.keys(ChatParameters.fields),
  ...Object.keys(EmbeddingsParameters.fields),
  ...Object.keys(ImagesParameters.fields),
  "anthropic_version",
  "stop_sequences"
])

/** Unknown members pass through to models of other publishers, so they count as read. */
const isRead = (name: string): boolean => readAsText.has(name) || !unread.has(name)

const nowhere: ReadonlyArray<JsonObject> = []

/** Google's own parameters of a chat, which have two places. */
const googlePlaces = ({ extra_body: extra, google }: JsonObject): ReadonlyArray<JsonObject> =>
  extra === undefined && google === undefined ? nowhere : [objectOf(objectOf(extra)["google"]), objectOf(google)]

/** Tokens of the members of a body that a model reads. */
export const readMembers = (body: JsonObject): ExpectedPrompt => {
  let input = 0
  let audioInput = 0
  for (const [name, member] of Object.entries(body)) {
    if (member === undefined || member === null || typeof member === "number") continue
    if (holdingMedia.has(name)) {
      const { audio, tokens } = estimatePrompt(member)
      input += tokens
      audioInput += audio
    } else if (isRead(name)) input += estimateTextTokens(member)
  }
  return { input, audioInput, isCached: googlePlaces(body).some(continuesCache) }
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** The thinking budget in Google's own parameters, in either spelling. */
const googleBudget = (body: JsonObject): number =>
  Math.max(
    0,
    ...googlePlaces(body).map(({ thinking_config: asked }) => {
      const config = objectOf(asked)
      return Math.max(countOf(config["thinking_budget"]), countOf(config["thinkingBudget"]))
    })
  )

/** Thinking tokens that the request asks for. */
const thoughtOf = (body: JsonObject): number => {
  const thinking = body["thinking"] ?? undefined
  const google = googleBudget(body)
  if (thinking === undefined) return Math.max(google, tokensOfEffort(body["reasoning_effort"]))
  const { budget_tokens: budget, type } = objectOf(thinking)
  if (type === "disabled" || budget === 0) return google
  // Thinking without a budget is sent with the middle one.
  return Math.max(google, typeof budget === "number" && budget > 0 ? countOf(budget) : effortTokens.medium)
}

const tokensOfEffort = (effort: Json | undefined): number => {
  if (effort === "minimal" || effort === "low" || effort === "medium") return effortTokens[effort]
  return effort === undefined || effort === null || effort === "none" ? 0 : effortTokens.high
}

/**
 * Upstreams differ in which of the two bounds they apply, so the larger one counts. It includes thoughts, except that the
 * bound of Claude grows by a budget that does not fit. Without a bound, thoughts are added to the usual length.
 */
export const outputOf = (body: JsonObject, usual: number, growsBound: boolean): number => {
  const bound = Math.max(countOf(body["max_completion_tokens"]), countOf(body["max_tokens"]))
  const thought = thoughtOf(body)
  if (bound === 0) return usual + thought
  return growsBound && thought >= bound ? bound + thought : bound
}

/** Some OpenAI-compatible servers generate `best_of` choices and return `n` of them. */
export const answersOf = (body: JsonObject): number => Math.max(1, countOf(body["n"]), countOf(body["best_of"]))

/** The largest of all sizes that a body names, in any of its fields. */
export const pictureOf = (body: JsonObject): number => {
  const config = objectOf(body["image_config"])
  const sizes = [body["image_size"], body["imageSize"], config["image_size"], body["size"]]
  return sizes.reduce<number>(
    (most, size) => (typeof size === "string" ? Math.max(most, pictureTokens(size)) : most),
    usualPictureTokens
  )
}

export const hasModality = ({ modalities }: JsonObject, word: string): boolean =>
  Array.isArray(modalities) && modalities.some((kind) => typeof kind === "string" && kind.toLowerCase() === word)

export const isDrawn = (body: JsonObject, modelId: string, models: ModelTable): boolean =>
  models.find(modelId).record.output?.includes("image") === true || hasModality(body, "image")

const searchTools = ["googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval", "googleMaps"]

/** Searches that the model may make: as many as a tool allows, else one. */
const searchesOf = (body: JsonObject): number => {
  const tools = Array.isArray(body["tools"]) ? body["tools"].filter(isJsonObject) : []
  const searches = tools.map((tool) => {
    const { max_uses: most, type } = tool
    const isSearch = typeof type === "string" && type.includes("search") && type !== "file_search"
    return isSearch || searchTools.some((name) => name in tool) ? Math.max(1, countOf(most)) : 0
  })
  return Math.max(0, body["web_search_options"] === undefined ? 0 : 1, ...searches)
}

/** What the invoice reads next to tokens: the tier that is asked for, where it costs more, and searches. */
export const billedOf = (body: JsonObject): Pick<Usage, "tier" | "searches"> => {
  const searches = searchesOf(body)
  return {
    ...(body["service_tier"] === "priority" ? { tier: "priority" } : {}),
    ...(searches > 0 ? { searches } : {})
  }
}
