// Translates sampling, length, stop, seed, log probabilities, modalities and image options to `generationConfig`.
// Must not depend on messages, tools or a model's limits: the upstream checks those.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
import type { Adjustment, TranslateContext } from "../Translator.ts"
import { responseFormat } from "./responseFormat.ts"
import type { SchemaBounds } from "./schema/schema.ts"
import { isWithheld } from "../shared/google/modelFacts.ts"
import { setSpeech } from "./speech/speechConfig.ts"
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
  const params = new ParamReader(request)
  setSampling(params, target, config, unused)
  setWholeNumbers(params, target, config, unused)
  setMaxTokens(params, config, unused)
  setStopSequences(params, limits.stopSequences, config)
  setMediaResolution(params, config)
  checkLogitBias(params)
  setModalities(params, target, Object.assign(config, format.success.fields), unused)
  setImageConfig(params, target, config, unused)
  if (params.fault !== undefined) return Result.fail(params.fault)
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

const setSampling = (params: ParamReader, { facts, kind }: Target, fields: Fields, unused: Array<string>): void => {
  for (const [param, field] of numbers) {
    const value = params.finite(param)
    if (value === undefined) continue
    if (isWithheld(facts, kind, param)) unused.push(param)
    else fields[field] = value
  }
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

const setWholeNumbers = (params: ParamReader, target: Target, fields: Fields, unused: Array<string>): void => {
  const { facts, kind } = target
  for (const { param, field, least, most } of wholeNumbers) {
    const value = params.whole(param, least, most)
    if (value === undefined) continue
    if (isWithheld(facts, kind, ruling[param])) unused.push(param)
    else if (param !== "n" || value > 1) fields[field] = value
  }
  if (params.request.logprobs === true) {
    if (isWithheld(facts, kind, "logprobs")) unused.push("logprobs")
    else fields["responseLogprobs"] = true
  }
  checkAnswers(params, target)
}

/** A fan-out over several requests would cost more than the client asked for (M-503). */
const checkAnswers = (params: ParamReader, { facts: { mostAnswers }, modelId }: Target): void => {
  if (mostAnswers !== undefined && (params.request.n ?? 1) > Math.max(mostAnswers, 1))
    params.invalid("n", "unsupported_value", `n is at most ${mostAnswers} for ${modelId}.`)
}

const setMaxTokens = (params: ParamReader, fields: Fields, unused: Array<string>): void => {
  const read = params.maxTokens()
  if (read.maxTokens !== undefined) fields["maxOutputTokens"] = read.maxTokens
  unused.push(...read.unused)
}

const setStopSequences = (params: ParamReader, most: number, fields: Fields): void => {
  const words = params.stop(most)
  if (words.length > 0) fields["stopSequences"] = words
}

const setMediaResolution = (params: ParamReader, fields: Fields): void => {
  const value = params.request.media_resolution ?? undefined
  if (value === undefined) return
  const level = value.toUpperCase().replace(/^MEDIA_RESOLUTION_/, "")
  if (/^[A-Z_]+$/.test(level)) fields["mediaResolution"] = `MEDIA_RESOLUTION_${level}`
  else
    params.invalid("media_resolution", "invalid_value", "media_resolution must be a word such as low, medium or high.")
}

const checkLogitBias = (params: ParamReader): void => {
  if (!Object.values(params.request.logit_bias ?? {}).every((value) => typeof value === "number"))
    params.invalid("logit_bias", "invalid_value", "logit_bias must map tokens to numbers.")
}

/** Sets modalities; with audio among them, also the voice. A model that only speaks is asked for nothing else. */
const setModalities = (params: ParamReader, { facts }: Target, fields: Fields, unused: Array<string>): void => {
  const kinds = params.modalities()
  if (facts.speaks && kinds !== undefined && !kinds.includes("audio")) unused.push("modalities")
  if (facts.speaks || kinds?.includes("audio") === true) return setSpeech(params, fields, unused)
  if ((params.request.audio ?? undefined) !== undefined) unused.push("audio")
  const isTextOnly = kinds === undefined || kinds.every((kind) => kind === "text")
  if (!isTextOnly) fields["responseModalities"] = kinds.map((kind) => kind.toUpperCase())
}

const imageFields: ReadonlyMap<string, string> = new Map([
  ["aspect_ratio", "aspectRatio"],
  ["image_size", "imageSize"],
  ["person_generation", "personGeneration"]
])

const setImageConfig = (params: ParamReader, target: Target, fields: Fields, unused: Array<string>): void => {
  const asked = params.request.image_config ?? undefined
  if (asked === undefined) return
  const image: Fields = {}
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined || value === null) continue
    const field = imageFields.get(name)
    if (field === undefined || (name === "person_generation" && target.kind !== "vertex-ai"))
      unused.push(`image_config.${name}`)
    else if (typeof value === "string") image[field] = value
    else params.invalid(`image_config.${name}`, "invalid_type", `image_config.${name} must be a string.`)
  }
  if (Object.keys(image).length > 0) fields["imageConfig"] = image
}
