// Translates sampling, length, modalities, image options and the answer's format to Gemini's `generationConfig`.
// It must not depend on messages or tools. A model without a schema field gets the schema as a system text.
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { ParamReader } from "../shared/chat-request/paramReader.ts"
import { type AskedFormat, formatWords, readFormat } from "../shared/chat-request/readOptions.ts"
import { isWithheld } from "../shared/gemini.ts"
import type { Adjustment, TranslateContext } from "../Translator.ts"
import { enumMembers, type SchemaBounds, typeOfAll } from "./schema.ts"
import { lightSchema } from "./schemaLight.ts"
import { subsetSchema } from "./schemaSubset.ts"
import { setSpeech } from "./speech.ts"
import { thinkingConfig } from "./thinking.ts"

export interface GenerationConfig {
  /** May be empty; an empty config is not sent. */
  readonly config: JsonObject
  readonly systemText: string | undefined
  readonly unused: ReadonlyArray<string>
  /** What is sent with another value than asked for. */
  readonly adjusted?: ReadonlyArray<Adjustment>
}

/** The fields translated so far. */
type Fields = Record<string, Json>

export const generationConfig = (
  params: ParamReader,
  target: TranslateContext["target"],
  verbatimThinking: { readonly path: string; readonly value: JsonObject } | undefined,
  limits: SchemaBounds
): GenerationConfig => {
  const format = responseFormat(params, target, limits)
  const thinking = thinkingConfig(params, target.facts, verbatimThinking)
  const config: Fields = {}
  const unused = [...thinking.unused]
  setSampling(params, target, config, unused)
  setWholeNumbers(params, target, config, unused)
  setMaxTokens(params, target, config, unused)
  setStopSequences(params, config)
  setMediaResolution(params, config, unused)
  setModalities(params, target, Object.assign(config, format.fields), unused)
  setImageConfig(params, target, config, unused)
  if (thinking.config !== undefined) config["thinkingConfig"] = thinking.config
  const adjusted = thinking.adjusted === undefined ? params.adjusted : [thinking.adjusted, ...params.adjusted]
  return { config, systemText: format.systemText, unused, ...(adjusted.length === 0 ? {} : { adjusted }) }
}

/** Penalties end below 2. Source: Vertex AI, GenerationConfig. */
const numbers = [
  ["temperature", "temperature", 0, 2],
  ["top_p", "topP", 0, 1],
  ["presence_penalty", "presencePenalty", -2, 1.99],
  ["frequency_penalty", "frequencyPenalty", -2, 1.99]
] as const

type Target = TranslateContext["target"]

const setSampling = (params: ParamReader, { facts, kind }: Target, fields: Fields, unused: Array<string>): void => {
  for (const [param, field, least, most] of numbers) {
    if ((params.request[param] ?? undefined) === undefined) continue
    if (isWithheld(facts, kind, param)) unused.push(param)
    else {
      const value = params.finite(param, least, most)
      if (value !== undefined) fields[field] = value
    }
  }
}

const int32 = 2 ** 31

type WholeParam = "top_k" | "n" | "seed" | "top_logprobs" | "logprobs"

const setWholeNumbers = (params: ParamReader, target: Target, fields: Fields, unused: Array<string>): void => {
  const { facts, kind } = target
  const isFree = (param: string): boolean => !isWithheld(facts, kind, param)
  const put = (param: WholeParam, field: string, value: Json | undefined): void => {
    if (value !== undefined) fields[field] = value
    else if ((params.request[param] ?? undefined) !== undefined) unused.push(param)
  }
  put("top_k", "topK", isFree("top_k") ? params.topK(int32 - 1) : undefined)
  // A fan-out over several requests would cost more than the client asked for (M-503).
  const answers = isFree("n") ? params.whole("n", 1, Math.max(facts.mostAnswers ?? mostAnswers, 1)) : undefined
  if (answers !== 1) put("n", "candidateCount", answers)
  put("seed", "seed", isFree("seed") ? params.seed() : undefined)
  // Of no use without `logprobs`.
  put("top_logprobs", "logprobs", isFree("logprobs") ? params.whole("top_logprobs", 0, 20) : undefined)
  if (params.request.logprobs === true) put("logprobs", "responseLogprobs", isFree("logprobs") ? true : undefined)
}

const mostAnswers = 8

const setMaxTokens = (params: ParamReader, { facts, record }: Target, fields: Fields, unused: Array<string>): void => {
  const read = params.maxTokens(facts.generation === "tuned" ? undefined : record.max_output)
  if (read.maxTokens !== undefined) fields["maxOutputTokens"] = read.maxTokens
  unused.push(...read.unused)
}

/** Source: Gemini API, GenerationConfig.stopSequences. The gateway looks for the others itself. */
export const mostStopSequences = 5

const setStopSequences = (params: ParamReader, fields: Fields): void => {
  const words = params.stop()
  if (words.length > 0) fields["stopSequences"] = words.slice(0, mostStopSequences)
}

const setMediaResolution = (params: ParamReader, fields: Fields, unused: Array<string>): void => {
  const value = params.request.media_resolution ?? undefined
  if (value === undefined) return
  const level = value.toUpperCase().replace(/^MEDIA_RESOLUTION_/, "")
  if (resolutions.has(level)) fields["mediaResolution"] = `MEDIA_RESOLUTION_${level}`
  else unused.push("media_resolution")
}

const resolutions: ReadonlySet<string> = new Set(["UNSPECIFIED", "LOW", "MEDIUM", "HIGH", "ULTRA_HIGH"])

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

// The format of the answer

export interface ResponseFormat {
  /** Fields of `generationConfig`. */
  readonly fields: JsonObject
  /** A text for the system instruction, for models without a schema field. */
  readonly systemText: string | undefined
}

const responseFormat = (
  params: ParamReader,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): ResponseFormat => {
  const asked = params.take(readFormat(params.request.response_format))
  if (asked === undefined || asked._tag === "Text") return byFields({})
  if (asked._tag === "Schema") return bySchema(params, asked, target, bounds)
  // Gemma refuses the mode: "JSON mode is not enabled for models/gemma-3-27b-it".
  return target.facts.generation === "gemma"
    ? byFields({}, formatWords(asked))
    : byFields({ responseMimeType: "application/json" })
}

const byFields = (fields: JsonObject, systemText?: string): ResponseFormat => ({ fields, systemText })

const bySchema = (
  params: ParamReader,
  asked: Extract<AskedFormat, { readonly _tag: "Schema" }>,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): ResponseFormat => {
  const { named, path, schema } = asked
  const { generation, toolSchema } = target.facts
  const isLight = toolSchema === "json"
  const converted = isLight
    ? lightSchema(schema, bounds)
    : subsetSchema(schema, { kind: target.kind, bounds, ordered: true })
  const code = bounds.copies.spent ? "invalid_schema" : "invalid_value"
  const root = Result.getOrElse(converted, (fault) => params.invalid(path, code, `${path}: ${fault}.`))
  if (root === undefined) return byFields({})
  if (generation === "g1" || generation === "gemma") {
    return byFields(generation === "g1" ? { responseMimeType: "application/json" } : {}, formatWords(asked))
  }
  const words = plainEnum(root)
  if (words !== undefined) {
    return byFields({ responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: words } })
  }
  const isAloneAnyOf = !isLight && target.kind === "vertex-ai" && root["anyOf"] !== undefined
  const sent = isAloneAnyOf ? root : { ...labelled(named, root), ...root }
  return byFields({ responseMimeType: "application/json", [isLight ? "responseJsonSchema" : "responseSchema"]: sent })
}

/** The format's name and description fill in a missing title and description of the schema. */
const labelled = (named: JsonObject, root: JsonObject): JsonObject => {
  const { name, description } = named
  return {
    ...(typeof name === "string" && name !== "" && root["title"] === undefined ? { title: name } : {}),
    ...(typeof description === "string" && description !== "" && root["description"] === undefined
      ? { description }
      : {})
  }
}

/** A root schema that is an enum of strings: the model then answers with the bare word. */
const plainEnum = (root: JsonObject): ReadonlyArray<string> | undefined => {
  const members = root["enum"]
  if (!Array.isArray(members) || (root["type"] !== "string" && root["type"] !== "STRING")) return undefined
  const words = enumMembers(members).filter((member) => typeof member === "string")
  return words.length > 0 && typeOfAll(members) === "string" ? words : undefined
}
