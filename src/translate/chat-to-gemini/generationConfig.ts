// Translates sampling, length, stop, seed, log probabilities, modalities and image options to `generationConfig`.
// Must not depend on messages, tools or a model's limits: the upstream checks those.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFinite, readMaxTokens, readModalities, readStop, readWhole } from "../shared/chat-request/amounts.ts"
import { invalid } from "../shared/fault.ts"
import type { Adjustment, TranslateContext } from "../Translator.ts"
import { responseFormat } from "./responseFormat.ts"
import type { SchemaBounds } from "./schema/schema.ts"
import { isWithheld } from "../shared/google/modelFacts.ts"
import { thinkingConfig } from "./thinking/thinkingConfig.ts"

export interface GenerationConfig {
  /** May be empty; an empty config is not sent. */
  readonly config: JsonObject
  readonly systemText: string | undefined
  readonly unused: ReadonlyArray<string>
  /** Undefined: the model thinks as asked, or by an equivalent. */
  readonly adjusted?: Adjustment
}

/** The fields translated so far. */
type Fields = Record<string, Json>
/** The fault of the request; undefined when the request is valid. */
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
    setSampling(request, target, config, unused) ??
    setWholeNumbers(request, target, config, unused) ??
    setMaxTokens(request, config, unused) ??
    setStopSequences(request.stop, limits.stopSequences, config) ??
    setMediaResolution(request.media_resolution, config) ??
    checkLogitBias(request.logit_bias) ??
    setModalities(request, Object.assign(config, format.success.fields), unused) ??
    setImageConfig(request.image_config, target, config, unused)
  if (fault !== undefined) return fault
  if (thinking.success.config !== undefined) config["thinkingConfig"] = thinking.success.config
  const { adjusted } = thinking.success
  return Result.succeed({
    config,
    systemText: format.success.systemText,
    unused,
    ...(adjusted === undefined ? {} : { adjusted })
  })
}

const numbers = [
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["presence_penalty", "presencePenalty"],
  ["frequency_penalty", "frequencyPenalty"]
] as const

type Target = TranslateContext["target"]

const setSampling = (request: ChatRequest, { facts, kind }: Target, fields: Fields, unused: Array<string>): Fault => {
  for (const [param, field] of numbers) {
    const value = readFinite(request, param)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success === undefined) continue
    if (isWithheld(facts, kind, param)) unused.push(param)
    else fields[field] = value.success
  }
  return undefined
}

const int32 = 2 ** 31

interface WholeNumber {
  readonly param: "top_k" | "n" | "seed" | "top_logprobs"
  readonly field: string
  readonly least: number
  readonly most: number
}

const wholeNumbers: ReadonlyArray<WholeNumber> = [
  { param: "top_k", field: "topK", least: -int32, most: int32 - 1 },
  { param: "n", field: "candidateCount", least: 1, most: 8 },
  { param: "seed", field: "seed", least: -int32, most: int32 - 1 },
  { param: "top_logprobs", field: "logprobs", least: 0, most: 20 }
]

/** The parameter whose facts decide; `top_logprobs` is of no use without `logprobs`. */
const ruling = { top_k: "top_k", n: "n", seed: "seed", top_logprobs: "logprobs" } as const

const setWholeNumbers = (request: ChatRequest, target: Target, fields: Fields, unused: Array<string>): Fault => {
  const { facts, kind } = target
  for (const { param, field, least, most } of wholeNumbers) {
    const value = readWhole(request, param, least, most)
    if (Result.isFailure(value)) return Result.fail(value.failure)
    if (value.success === undefined) continue
    if (isWithheld(facts, kind, ruling[param])) unused.push(param)
    else if (param !== "n" || value.success > 1) fields[field] = value.success
  }
  if (request.logprobs === true) {
    if (isWithheld(facts, kind, "logprobs")) unused.push("logprobs")
    else fields["responseLogprobs"] = true
  }
  return checkAnswers(request.n ?? 1, target)
}

/** A fan-out over several requests would cost more than the client asked for (M-503). */
const checkAnswers = (answers: number, { facts: { mostAnswers }, modelId }: Target): Fault => {
  if (mostAnswers !== undefined && answers > Math.max(mostAnswers, 1))
    return invalid("n", "unsupported_value", `n is at most ${mostAnswers} for ${modelId}.`)
  return undefined
}

const setMaxTokens = (request: ChatRequest, fields: Fields, unused: Array<string>): Fault => {
  const read = readMaxTokens(request)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  if (read.success.maxTokens !== undefined) fields["maxOutputTokens"] = read.success.maxTokens
  unused.push(...read.success.unused)
  return undefined
}

const setStopSequences = (stop: ChatRequest["stop"], most: number, fields: Fields): Fault => {
  const words = readStop(stop, most)
  if (Result.isFailure(words)) return Result.fail(words.failure)
  if (words.success.length > 0) fields["stopSequences"] = words.success
  return undefined
}

const setMediaResolution = (value: ChatRequest["media_resolution"], fields: Fields): Fault => {
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

/** Sets modalities; with audio among them, also the voice. */
const setModalities = (request: ChatRequest, fields: Fields, unused: Array<string>): Fault => {
  const unheard = (request.audio ?? undefined) !== undefined
  const kinds = readModalities(request.modalities)
  if (Result.isFailure(kinds)) return Result.fail(kinds.failure)
  if (kinds.success?.includes("audio") === true) return setSpeech(request, fields)
  if (unheard) unused.push("audio")
  const isTextOnly = kinds.success === undefined || kinds.success.every((kind) => kind === "text")
  if (!isTextOnly) fields["responseModalities"] = kinds.success.map((kind) => kind.toUpperCase())
  return undefined
}

/** Speech models answer with audio alone, so other modalities next to audio are dropped. */
const setSpeech = (request: ChatRequest, fields: Fields): Fault => {
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

const setImageConfig = (
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
