// Estimates the usage of a request before it is sent, per operation, from the body for one target.
// Must not know keys, prices or limits.
import { estimateTextTokens, estimateTokens } from "../domain/tokens/estimateTokens.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Operation } from "../domain/operations.ts"
import { isClaudeName } from "../domain/models/modelName.ts"
import { builtInModels, type ModelTable } from "../domain/models/modelTable.ts"
import { nativeEstimate } from "../translate/native/nativeEstimate.ts"
import { pictureTokens, usualPictureTokens } from "../translate/shared/media/pictureTokens.ts"
import { effortTokens } from "../translate/shared/chat-request/reasoning.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesParameters } from "../wire/openai/Images.ts"
import { noUsage } from "./usageOf.ts"

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

/** Tokens of the members of a body that a model reads. */
export const estimatedInput = (body: JsonObject): number => {
  let tokens = 0
  for (const [name, member] of Object.entries(body)) {
    if (member === undefined || member === null || typeof member === "number") continue
    if (holdingMedia.has(name)) tokens += estimateTokens(member)
    else if (isRead(name)) tokens += estimateTextTokens(member)
  }
  return tokens
}

/** Products of such counts stay finite. */
const count = (value: Json | undefined): number =>
  typeof value === "number" && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** The thinking budget in Google's own parameters, in either spelling. */
const googleBudget = (body: JsonObject): number => {
  const places = [objectOf(objectOf(body["extra_body"])["google"]), objectOf(body["google"])]
  return Math.max(
    ...places.map(({ thinking_config: asked }) => {
      const config = objectOf(asked)
      return Math.max(count(config["thinking_budget"]), count(config["thinkingBudget"]))
    })
  )
}

/** Thinking tokens that the request asks for. */
const thoughtOf = (body: JsonObject): number => {
  const thinking = body["thinking"] ?? undefined
  const google = googleBudget(body)
  if (thinking === undefined) return Math.max(google, tokensOfEffort(body["reasoning_effort"]))
  const { budget_tokens: budget, type } = objectOf(thinking)
  if (type === "disabled" || budget === 0) return google
  // Thinking without a budget is sent with the middle one.
  return Math.max(google, typeof budget === "number" && budget > 0 ? count(budget) : effortTokens.medium)
}

const tokensOfEffort = (effort: Json | undefined): number => {
  if (effort === "minimal" || effort === "low" || effort === "medium") return effortTokens[effort]
  return effort === undefined || effort === null || effort === "none" ? 0 : effortTokens.high
}

/**
 * Upstreams differ in which of the two bounds they apply, so the larger one counts. It includes thoughts, except that the
 * bound of Claude grows by a budget that does not fit. Without a bound, thoughts are added to the usual length.
 */
const outputOf = (body: JsonObject, usual: number, growsBound: boolean): number => {
  const bound = Math.max(count(body["max_completion_tokens"]), count(body["max_tokens"]))
  const thought = thoughtOf(body)
  if (bound === 0) return usual + thought
  return growsBound && thought >= bound ? bound + thought : bound
}

/** Some OpenAI-compatible servers generate `best_of` choices and return `n` of them. */
const answersOf = (body: JsonObject): number => Math.max(1, count(body["n"]), count(body["best_of"]))

/** The largest of all sizes that a body names, in any of its fields. */
const pictureOf = (body: JsonObject): number => {
  const config = objectOf(body["image_config"])
  const sizes = [body["image_size"], body["imageSize"], config["image_size"], body["size"]]
  return sizes.reduce<number>(
    (most, size) => (typeof size === "string" ? Math.max(most, pictureTokens(size)) : most),
    usualPictureTokens
  )
}

const isDrawn = ({ modalities }: JsonObject, modelId: string, models: ModelTable): boolean =>
  models.find(modelId).record.output?.includes("image") === true ||
  (Array.isArray(modalities) && modalities.some((kind) => typeof kind === "string" && kind.toLowerCase() === "image"))

/** Google's settings of an answer, in either spelling. */
const settingsOf = (body: JsonObject): JsonObject => objectOf(body["generationConfig"] ?? body["generation_config"])

const nativeAnswersOf = (body: JsonObject): number => {
  const { candidateCount, candidate_count: also } = settingsOf(body)
  return Math.max(1, count(candidateCount ?? also))
}

const drawsNatively = (body: JsonObject, modelId: string, models: ModelTable): boolean => {
  const { responseModalities, response_modalities: also } = settingsOf(body)
  return isDrawn({ modalities: responseModalities ?? also }, modelId, models)
}

/**
 * `usualOutput` is the output of a request without a bound. Counting tokens is free. Whether a model draws, or its bound
 * grows, follows from the facts about its id; `input` saves a second estimate of the same body.
 */
export const estimatedUsage = (
  operation: Operation,
  body: JsonObject,
  usualOutput: number,
  modelId = "",
  input = estimatedInput(body),
  models: ModelTable = builtInModels
): Usage => {
  switch (operation) {
    case "chat": {
      const answers = answersOf(body)
      const imageOutput = isDrawn(body, modelId, models) ? answers * pictureOf(body) : 0
      const output = answers * outputOf(body, usualOutput, isClaudeName(modelId)) + imageOutput
      return { ...noUsage, input, output, imageOutput }
    }
    case "messages":
      return { ...noUsage, input, output: outputOf(body, usualOutput, false) }
    case "embeddings":
      return { ...noUsage, input }
    case "images": {
      const images = answersOf(body)
      const imageOutput = images * pictureOf(body)
      return { ...noUsage, input: images * input, output: imageOutput, imageOutput, images }
    }
    case "nativeContent": {
      const { input: read, output } = nativeEstimate("generateContent", body, usualOutput)
      const imageOutput = drawsNatively(body, modelId, models) ? nativeAnswersOf(body) * usualPictureTokens : 0
      return { ...noUsage, input: read, output: output + imageOutput, imageOutput }
    }
    case "nativeEmbeddings":
      return { ...noUsage, input: nativeEstimate("embedContent", body, usualOutput).input }
    case "nativePredictions": {
      const { images, input: read } = nativeEstimate("predict", body, usualOutput)
      const imageOutput = images * usualPictureTokens
      return { ...noUsage, input: read, output: imageOutput, imageOutput, images }
    }
    case "countTokens":
    case "nativeCount":
    case "messagesCountTokens":
      return noUsage
  }
}
