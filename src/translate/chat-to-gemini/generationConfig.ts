// Everything of a chat request that belongs into `generationConfig`.
// It must not know messages, tools, or what the model's own limits are: those are the upstream's to refuse.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFinite, readMaxTokens, readModalities, readStop, readWhole } from "../shared/chat-request/amounts.ts"
import { invalid } from "../shared/fault.ts"
import type { TranslateContext } from "../Translator.ts"
import { responseFormat } from "./responseFormat.ts"
import type { SchemaBounds } from "./schema/schema.ts"
import { thinkingConfig } from "./thinkingConfig.ts"

export interface GenerationConfig {
  /** May be empty; then it is not to be sent. */
  readonly config: JsonObject
  readonly systemText: string | undefined
  readonly unused: ReadonlyArray<string>
}

/** The fields found so far. */
type Fields = Record<string, Json>
/** What is wrong with the request; nothing when nothing is. */
type Fault = Result.Result<never, RequestFault> | undefined

export const generationConfig = (
  request: ChatRequest,
  target: TranslateContext["target"],
  verbatimThinking: { readonly path: string; readonly value: JsonObject } | undefined,
  limits: SchemaBounds & { readonly stopSequences: number }
): Result.Result<GenerationConfig, RequestFault> => {
  const format = responseFormat(request.response_format, target, limits)
  if (Result.isFailure(format)) return Result.fail(format.failure)
  const thinking = thinkingConfig(request, target.facts, verbatimThinking)
  if (Result.isFailure(thinking)) return Result.fail(thinking.failure)
  const config: Fields = {}
  const unused = [...thinking.success.unused]
  const fault =
    sampling(request, config) ??
    amounts(request, config) ??
    longest(request, config, unused) ??
    stopSequences(request.stop, limits.stopSequences, config) ??
    mediaResolution(request.media_resolution, config) ??
    checkLogitBias(request.logit_bias) ??
    outputKinds(request, Object.assign(config, format.success.fields), unused) ??
    imageConfig(request.image_config, target, config, unused)
  if (fault !== undefined) return fault
  if (thinking.success.config !== undefined) config["thinkingConfig"] = thinking.success.config
  return Result.succeed({ config, systemText: format.success.systemText, unused })
}

const numbers = [
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["presence_penalty", "presencePenalty"],
  ["frequency_penalty", "frequencyPenalty"]
] as const

const sampling = (request: ChatRequest, fields: Fields): Fault => {
  for (const [param, field] of numbers) {
    const value = readFinite(request, param)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success !== undefined) fields[field] = value.success
  }
  return undefined
}

const int32 = 2 ** 31

interface Whole {
  readonly param: "top_k" | "n" | "seed" | "top_logprobs"
  readonly field: string
  readonly least: number
  readonly most: number
}

const wholes: ReadonlyArray<Whole> = [
  { param: "top_k", field: "topK", least: -int32, most: int32 - 1 },
  { param: "n", field: "candidateCount", least: 1, most: 8 },
  { param: "seed", field: "seed", least: -int32, most: int32 - 1 },
  { param: "top_logprobs", field: "logprobs", least: 0, most: 20 }
]

const amounts = (request: ChatRequest, fields: Fields): Fault => {
  for (const { param, field, least, most } of wholes) {
    const value = readWhole(request, param, least, most)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success !== undefined && (param !== "n" || value.success > 1)) fields[field] = value.success
  }
  if (request.logprobs === true) fields["responseLogprobs"] = true
  return undefined
}

const longest = (request: ChatRequest, fields: Fields, unused: Array<string>): Fault => {
  const read = readMaxTokens(request)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  if (read.success.maxTokens !== undefined) fields["maxOutputTokens"] = read.success.maxTokens
  unused.push(...read.success.unused)
  return undefined
}

const stopSequences = (stop: ChatRequest["stop"], most: number, fields: Fields): Fault => {
  const words = readStop(stop, most)
  if (Result.isFailure(words)) return Result.fail(words.failure)
  if (words.success.length > 0) fields["stopSequences"] = words.success
  return undefined
}

const mediaResolution = (value: ChatRequest["media_resolution"], fields: Fields): Fault => {
  if (value === undefined || value === null) return undefined
  const level = value.toUpperCase().replace(/^MEDIA_RESOLUTION_/, "")
  if (!/^[A-Z_]+$/.test(level)) {
    return invalid("media_resolution", "invalid_value", "media_resolution must be a word such as low, medium or high.")
  }
  fields["mediaResolution"] = `MEDIA_RESOLUTION_${level}`
  return undefined
}

const checkLogitBias = (bias: ChatRequest["logit_bias"]): Fault =>
  bias === undefined || bias === null || Object.values(bias).every((value) => typeof value === "number")
    ? undefined
    : invalid("logit_bias", "invalid_value", "logit_bias must map tokens to numbers.")

/** Modalities, and with audio among them the voice. */
const outputKinds = (request: ChatRequest, fields: Fields, unused: Array<string>): Fault => {
  const unheard = (request.audio ?? undefined) !== undefined
  const kinds = readModalities(request.modalities)
  if (Result.isFailure(kinds)) return Result.fail(kinds.failure)
  if (kinds.success?.includes("audio") === true) return spoken(request, fields)
  if (unheard) unused.push("audio")
  const isTextOnly = kinds.success === undefined || kinds.success.every((kind) => kind === "text")
  if (!isTextOnly) fields["responseModalities"] = kinds.success.map((kind) => kind.toUpperCase())
  return undefined
}

/** Speech models answer audio alone, so other modalities beside it are not passed on. */
const spoken = (request: ChatRequest, fields: Fields): Fault => {
  if (request.stream === true) {
    return invalid("stream", "invalid_value", "Audio answers cannot be streamed; leave stream out or send false.")
  }
  const format = request.audio?.["format"] ?? "wav"
  if (format !== "wav" && format !== "pcm16") {
    return invalid("audio.format", "invalid_value", "audio.format must be wav or pcm16.")
  }
  const voice = request.audio?.["voice"] ?? undefined
  if (voice !== undefined && typeof voice !== "string") {
    return invalid("audio.voice", "invalid_type", "audio.voice must be the name of a voice.")
  }
  fields["responseModalities"] = ["AUDIO"]
  if (voice !== undefined) fields["speechConfig"] = { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }
  return undefined
}

const imageFields: ReadonlyMap<string, string> = new Map([
  ["aspect_ratio", "aspectRatio"],
  ["image_size", "imageSize"],
  ["person_generation", "personGeneration"]
])

const imageConfig = (
  asked: ChatRequest["image_config"],
  target: TranslateContext["target"],
  fields: Fields,
  unused: Array<string>
): Fault => {
  if (asked === undefined || asked === null) return undefined
  const image: Fields = {}
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined || value === null) continue
    const field = imageFields.get(name)
    if (field === undefined || (name === "person_generation" && target.kind !== "vertex-ai")) {
      unused.push(`image_config.${name}`)
      continue
    }
    if (typeof value !== "string") {
      return invalid(`image_config.${name}`, "invalid_type", `image_config.${name} must be a string.`)
    }
    image[field] = value
  }
  if (Object.keys(image).length > 0) fields["imageConfig"] = image
  return undefined
}
