// What a native request will probably use, before it is sent: of its body as Google reads it, in either spelling.
// It must not know keys, prices or limits. Rule: N306.
import type { NativeVerb } from "../../domain/native/nativePath.ts"
import { estimateTextTokens, estimateTokens } from "../../domain/tokens/estimateTokens.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"

export interface NativeEstimate {
  readonly input: number
  readonly output: number
  readonly images: number
}

/** Members that may hold media, and members that are text throughout. */
const holdingMedia = ["contents", "systemInstruction", "content", "requests", "instances", "messages", "system"]
const readAsText = ["tools", "responseSchema", "responseJsonSchema"]

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const member = (body: JsonObject, name: string): Json | undefined => body[name] ?? body[snake(name)]

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** Products of such counts stay finite. */
const count = (value: Json | undefined): number =>
  typeof value === "number" && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0

const inputOf = (body: JsonObject): number => {
  let tokens = 0
  for (const name of holdingMedia) {
    const value = member(body, name)
    if (value !== undefined) tokens += estimateTokens(value)
  }
  for (const name of readAsText) {
    const value = member(body, name)
    if (value !== undefined) tokens += estimateTextTokens(value)
  }
  return tokens
}

/** Thoughts are inside of the bound; without a bound they are added to the usual length. */
const outputOf = (body: JsonObject, usual: number): number => {
  const config = objectOf(member(body, "generationConfig"))
  const bound = count(member(config, "maxOutputTokens"))
  const thought = count(member(objectOf(member(config, "thinkingConfig")), "thinkingBudget"))
  return Math.max(1, count(member(config, "candidateCount"))) * (bound === 0 ? usual + thought : bound)
}

/** Pictures of a predict of Imagen; texts are embedded and make none. */
const picturesOf = (body: JsonObject): number => {
  const { instances } = body
  const draws =
    Array.isArray(instances) && instances.some((one: Json) => isJsonObject(one) && one["prompt"] !== undefined)
  return draws ? Math.max(1, count(member(objectOf(body["parameters"]), "sampleCount"))) : 0
}

/** `usualOutput` is the output of a request without a bound. Counting tokens is free. */
export const nativeEstimate = (verb: NativeVerb, body: JsonObject, usualOutput: number): NativeEstimate => {
  switch (verb) {
    case "generateContent":
    case "streamGenerateContent":
      return { input: inputOf(body), output: outputOf(body, usualOutput), images: 0 }
    case "rawPredict":
    case "streamRawPredict":
      return { input: inputOf(body), output: count(body["max_tokens"]), images: 0 }
    case "embedContent":
    case "batchEmbedContents":
    case "predict":
      return { input: inputOf(body), output: 0, images: picturesOf(body) }
    case "countTokens":
    case "computeTokens":
    case "countMessages":
      return { input: 0, output: 0, images: 0 }
  }
}
