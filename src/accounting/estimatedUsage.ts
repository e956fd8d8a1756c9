// What a request will probably use, per operation, before it is sent: of the body as one target gets it.
// It must not know keys, prices or limits.
import { estimateTextTokens, estimateTokens } from "../domain/text/estimateTokens.ts"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Operations } from "../provider/Provider.ts"
import { modelFacts } from "../translate/shared/google/modelFacts.ts"
import { pictureTokens, usualPictureTokens } from "../translate/shared/media/pictureTokens.ts"
import { effortTokens } from "../translate/shared/chat-request/reasoning.ts"
import { ChatParameters } from "../wire/openai/Chat.ts"
import { EmbeddingsParameters } from "../wire/openai/Embeddings.ts"
import { ImagesParameters } from "../wire/openai/Images.ts"
import { nothing } from "./usageOf.ts"

/** The members of a body that a model reads, in any dialect: first those that may contain media, then those that are text throughout. */
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

/** Tokens of all that a model reads of a body. */
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

/** Some OpenAI-compatible servers generate `best_of` answers and return `n` of them. */
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

const isDrawn = ({ modalities }: JsonObject, modelId: string): boolean =>
  modelFacts(modelId).image ||
  (Array.isArray(modalities) && modalities.some((kind) => typeof kind === "string" && kind.toLowerCase() === "image"))

/**
 * `usualOutput` is the output of a request without a bound. Counting tokens is free. Whether a model draws, or its bound
 * grows, follows from its id; `input` saves a second estimate of the same body.
 */
export const estimatedUsage = (
  operation: keyof Operations,
  body: JsonObject,
  usualOutput: number,
  modelId = "",
  input = estimatedInput(body)
): Usage => {
  switch (operation) {
    case "chat": {
      const answers = answersOf(body)
      const imageOutput = isDrawn(body, modelId) ? answers * pictureOf(body) : 0
      const output = answers * outputOf(body, usualOutput, modelId.startsWith("claude-")) + imageOutput
      return { ...nothing, input, output, imageOutput }
    }
    case "messages":
      return { ...nothing, input, output: outputOf(body, usualOutput, false) }
    case "embeddings":
      return { ...nothing, input }
    case "images": {
      const images = answersOf(body)
      const imageOutput = images * pictureOf(body)
      return { ...nothing, input: images * input, output: imageOutput, imageOutput, images }
    }
    case "countTokens":
    case "messagesCountTokens":
      return nothing
  }
}
