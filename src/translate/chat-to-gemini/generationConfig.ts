// Everything of a chat request that belongs into `generationConfig`.
// It must not know messages, tools, or what the model's own limits are: those are the upstream's to refuse.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/fault.ts"
import type { TranslateContext } from "../Translator.ts"
import { responseFormat } from "./responseFormat.ts"
import { thinkingConfig } from "./thinkingConfig.ts"

export interface GenerationConfig {
  /** May be empty; then it is not to be sent. */
  readonly config: JsonObject
  readonly systemText: string | undefined
  readonly unused: ReadonlyArray<string>
}

type Fields = Result.Result<JsonObject, RequestFault>

export const generationConfig = (
  request: ChatRequest,
  target: TranslateContext["target"],
  verbatimThinking: { readonly path: string; readonly value: JsonObject } | undefined,
  limits: { readonly stopSequences: number; readonly schemaDepth: number }
): Result.Result<GenerationConfig, RequestFault> =>
  Result.gen(function* () {
    const thinking = yield* thinkingConfig(request, target.facts, verbatimThinking)
    const format = yield* responseFormat(request.response_format, target, limits.schemaDepth)
    const output = yield* outputKinds(request)
    const image = yield* imageConfig(request.image_config, target)
    yield* checkLogitBias(request.logit_bias)
    const config: JsonObject = {
      ...(yield* sampling(request)),
      ...(yield* amounts(request)),
      ...(yield* stopSequences(request.stop, limits.stopSequences)),
      ...(yield* mediaResolution(request.media_resolution)),
      ...format.fields,
      ...output.fields,
      ...image.fields,
      ...(thinking.config === undefined ? {} : { thinkingConfig: thinking.config })
    }
    const unused = [...thinking.unused, ...output.unused, ...image.unused, ...losingLimit(request)]
    return { config, systemText: format.systemText, unused }
  })

const numbers = [
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["presence_penalty", "presencePenalty"],
  ["frequency_penalty", "frequencyPenalty"]
] as const

const sampling = (request: ChatRequest): Fields => {
  const fields: Record<string, Json> = {}
  for (const [param, field] of numbers) {
    const value = request[param]
    if (value === undefined || value === null) continue
    if (!Number.isFinite(value)) return invalid(param, "invalid_value", `${param} must be a finite number.`)
    fields[field] = value
  }
  return Result.succeed(fields)
}

const int32 = 2 ** 31

interface Whole {
  readonly param: "top_k" | "n" | "seed" | "top_logprobs" | "max_tokens" | "max_completion_tokens"
  readonly field: string
  readonly least: number
  readonly most: number
}

/** In this order: the later of two parameters with one field wins. */
const wholes: ReadonlyArray<Whole> = [
  { param: "top_k", field: "topK", least: -int32, most: int32 - 1 },
  { param: "n", field: "candidateCount", least: 1, most: 8 },
  { param: "seed", field: "seed", least: -int32, most: int32 - 1 },
  { param: "top_logprobs", field: "logprobs", least: 0, most: 20 },
  { param: "max_tokens", field: "maxOutputTokens", least: 1, most: Number.MAX_SAFE_INTEGER },
  { param: "max_completion_tokens", field: "maxOutputTokens", least: 1, most: Number.MAX_SAFE_INTEGER }
]

const amounts = (request: ChatRequest): Fields => {
  const fields: Record<string, Json> = {}
  for (const { param, field, least, most } of wholes) {
    const value = request[param]
    if (value === undefined || value === null) continue
    if (!Number.isInteger(value) || value < least || value > most) {
      return invalid(param, "invalid_value", `${param} must be a whole number from ${least} to ${most}.`)
    }
    if (param !== "n" || value > 1) fields[field] = value
  }
  if (request.logprobs === true) fields["responseLogprobs"] = true
  return Result.succeed(fields)
}

const losingLimit = ({ max_tokens, max_completion_tokens }: ChatRequest): ReadonlyArray<string> => {
  const both = (max_tokens ?? undefined) !== undefined && (max_completion_tokens ?? undefined) !== undefined
  return both && max_tokens !== max_completion_tokens ? ["max_tokens"] : []
}

const stopSequences = (stop: ChatRequest["stop"], most: number): Fields => {
  if (stop === undefined || stop === null) return Result.succeed({})
  const list: ReadonlyArray<unknown> = Array.isArray(stop) ? stop : [stop]
  const words = list.filter((word) => typeof word === "string" && word !== "")
  if (words.length !== list.length || words.length > most) {
    return invalid("stop", "invalid_value", `stop must be a string or up to ${most} strings, none of them empty.`)
  }
  return Result.succeed(words.length === 0 ? {} : { stopSequences: words.map(String) })
}

const mediaResolution = (value: ChatRequest["media_resolution"]): Fields => {
  if (value === undefined || value === null) return Result.succeed({})
  const level = value.toUpperCase().replace(/^MEDIA_RESOLUTION_/, "")
  return /^[A-Z_]+$/.test(level)
    ? Result.succeed({ mediaResolution: `MEDIA_RESOLUTION_${level}` })
    : invalid("media_resolution", "invalid_value", "media_resolution must be a word such as low, medium or high.")
}

const checkLogitBias = (bias: ChatRequest["logit_bias"]): Result.Result<void, RequestFault> =>
  Object.values(bias ?? {}).every((value) => typeof value === "number")
    ? Result.succeed(undefined)
    : invalid("logit_bias", "invalid_value", "logit_bias must map tokens to numbers.")

interface Output {
  readonly fields: JsonObject
  readonly unused: ReadonlyArray<string>
}

const modalityWords: ReadonlyMap<unknown, string> = new Map([
  ["text", "TEXT"],
  ["image", "IMAGE"],
  ["audio", "AUDIO"]
])

/** Modalities, and with audio among them the voice. */
const outputKinds = (request: ChatRequest): Result.Result<Output, RequestFault> => {
  const unheard = (request.audio ?? undefined) === undefined ? [] : ["audio"]
  const asked = request.modalities
  if (asked === undefined || asked === null) return Result.succeed({ fields: {}, unused: unheard })
  const list: ReadonlyArray<unknown> = Array.isArray(asked) ? asked : []
  const words = list.map((word) => modalityWords.get(word)).filter((word) => word !== undefined)
  if (words.length === 0 || words.length !== list.length) {
    return invalid("modalities", "invalid_value", "modalities must be an array of text, image and audio, and not empty.")
  }
  if (words.includes("AUDIO")) return spoken(request)
  const isTextOnly = words.every((word) => word === "TEXT")
  return Result.succeed({ fields: isTextOnly ? {} : { responseModalities: words }, unused: unheard })
}

/** Speech models answer audio alone, so other modalities beside it are not passed on. */
const spoken = (request: ChatRequest): Result.Result<Output, RequestFault> => {
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
  const speech = voice === undefined ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } }
  return Result.succeed({ fields: { responseModalities: ["AUDIO"], ...speech }, unused: [] })
}

const imageFields: ReadonlyMap<string, string> = new Map([
  ["aspect_ratio", "aspectRatio"],
  ["image_size", "imageSize"],
  ["person_generation", "personGeneration"]
])

const imageConfig = (
  asked: ChatRequest["image_config"],
  target: TranslateContext["target"]
): Result.Result<Output, RequestFault> => {
  const image: Record<string, Json> = {}
  const unused: Array<string> = []
  for (const [name, value] of Object.entries(asked ?? {})) {
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
  return Result.succeed({ fields: Object.keys(image).length === 0 ? {} : { imageConfig: image }, unused })
}
