// Translates a chat request into Gemini's generateContent body: messages, tools, config, and Google's own fields.
// It must not depend on URLs or credentials; the context names the product.
import type * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import { hasKeys, isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import type { GenerateContentRequest } from "../../wire/google.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader, readLabels, readSafety } from "../shared/chat-request/paramReader.ts"
import { argumentsAdjusted, readMessages, type Turn } from "../shared/chat-request/readMessages.ts"
import { textPart } from "../shared/chat-request/readParts.ts"
import { readToolChoice, readTools } from "../shared/chat-request/readTools.ts"
import { repairing } from "../shared/chat-request/repairHistory.ts"
import { geminiNames, toolNamesOf } from "../shared/chat-request/toolCalls.ts"
import type { Adjustment, TranslateContext, Translated } from "../Translator.ts"
import { type GenerationConfig, generationConfig } from "./config.ts"
import { type GeminiMessages, messagesToGemini } from "./messages.ts"
import { ignoredGeminiParams } from "./params.ts"
import { SchemaCopies } from "./schema.ts"
import { type GeminiTools, geminiTools } from "./tools.ts"

const translate = (
  request: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<GenerateContentRequest>, RequestFault> => {
  const { target } = context
  const params = new ParamReader(request)
  const names = toolNamesOf(request, geminiNames)
  const google = googleFields(params, target)
  const limits = { schemaDepth: defaultLimits.schemaDepth, copies: new SchemaCopies(context.schemaCopyBytes, request) }
  const generation = generationConfig(params, target, google.thinking, limits)
  const asked = params.take(readTools(request, defaultLimits), [])
  const choice = params.take(readToolChoice(request))
  const tools = geminiTools(params, asked, choice, names, target, limits)
  const turns = params.take(readMessages(request.messages, defaultLimits), [])
  const messages = messagesToGemini(params, withSystemText(turns, generation.systemText), context, names)
  const adjusted = [
    ...(generation.adjusted ?? []),
    ...argumentsAdjusted(turns),
    ...(messages.insertsTurn === true ? [prefillAdjustment(request, target.modelId)] : [])
  ]
  return params.result({
    body: bodyOf(messages, tools, generation, google),
    headers: google.headers,
    ignored: ignoredGeminiParams(request, unusedOf(request, messages, tools, generation, google)),
    ...(adjusted.length === 0 ? {} : { adjusted })
  })
}

/** Translates a request or refuses it; parameters without an upstream equivalent are listed in `ignored`. */
export const chatToGeminiRequest = repairing(translate)

const prefillAdjustment = ({ messages }: ChatRequest, modelId: string): Adjustment => ({
  param: "messages",
  asked: "prefill",
  sent: "continue",
  takes: [],
  refusal: {
    code: "unsupported_value",
    param: `messages[${messages.findLastIndex(({ role }) => role === "assistant")}]`,
    message: `${modelId} takes no assistant prefill.`
  }
})

/** System instruction and tools must not be sent together with a cached content, which already has them. */
const isCached = (google: GoogleFields): boolean => google.body.cachedContent !== undefined

const bodyOf = (
  { contents, systemInstruction }: GeminiMessages,
  { tools, toolConfig }: GeminiTools,
  { config }: GenerationConfig,
  google: GoogleFields
): GenerateContentRequest => {
  const cached = isCached(google)
  return {
    contents,
    ...(cached || systemInstruction === undefined ? {} : { systemInstruction }),
    ...(cached || tools === undefined ? {} : { tools }),
    ...(cached || toolConfig === undefined ? {} : { toolConfig }),
    ...(hasKeys(config) ? { generationConfig: config } : {}),
    ...google.body
  }
}

const unusedOf = (
  request: ChatRequest,
  { systemInstruction }: GeminiMessages,
  { choiceUnused, left = [] }: GeminiTools,
  generation: GenerationConfig,
  google: GoogleFields
): ReadonlyArray<string> => {
  const unused = [...google.unused, ...generation.unused, ...left]
  // The newer parameters take precedence over the older ones, and Gemini cannot disable parallel calls.
  if ((request.tools ?? undefined) !== undefined) unused.push("functions")
  if ((request.tool_choice ?? undefined) !== undefined) unused.push("function_call")
  if (request.parallel_tool_calls === false) unused.push("parallel_tool_calls")
  // Google's search takes no options.
  const options = request.web_search_options ?? undefined
  if (options !== undefined) unused.push(...Object.keys(options).map((name) => `web_search_options.${name}`))
  if (choiceUnused || isCached(google)) unused.push(...choiceParams)
  if (isCached(google)) {
    unused.push(...toolParams)
    if (systemInstruction !== undefined) unused.push("messages.system")
  }
  return unused
}

const toolParams = ["tools", "functions", "web_search_options"]
const choiceParams = ["tool_choice", "function_call"]

/** Adds the text as the last system turn, unless that turn is about to become the user turn. */
const withSystemText = (turns: ReadonlyArray<Turn>, text: string | undefined): ReadonlyArray<Turn> => {
  if (text === undefined) return turns
  const at = turns.every((turn) => turn._tag === "System") ? turns.length - 1 : turns.length
  return turns.toSpliced(at, 0, { _tag: "System", parts: [textPart(text)] })
}

// Google's own fields: safety, labels, cached content, Model Armor, service tier, `google` extras.

interface GoogleFields {
  readonly body: Pick<
    GenerateContentRequest,
    "safetySettings" | "labels" | "cachedContent" | "modelArmorConfig" | "serviceTier" | "continuationToken"
  >
  readonly headers: Readonly<Record<string, string>>
  readonly thinking: { readonly path: string; readonly value: JsonObject } | undefined
  readonly unused: ReadonlyArray<string>
}

export const googleFields = (params: ParamReader, target: TranslateContext["target"]): GoogleFields => {
  const { request } = params
  if (googleParams.every((param) => (request[param] ?? undefined) === undefined)) return noGoogleFields
  const extras = readExtras(params)
  const safety = firstOf([
    { path: "safety_settings", value: request.safety_settings ?? undefined },
    { path: "safetySettings", value: request.safetySettings ?? undefined },
    ...extras.placesOf("safety_settings")
  ])
  const cached = firstOf([
    { path: "cached_content", value: request.cached_content ?? undefined },
    ...extras.placesOf("cached_content")
  ])
  const thinking = firstOf(extras.placesOf("thinking_config"))
  if (thinking.value !== undefined && !isJsonObject(thinking.value))
    params.invalid(thinking.path, "invalid_type", `${thinking.path} must be an object.`)
  const cachedContent = nameIn(params, cached, "the name of a cached content")
  const continuation = firstOf([
    { path: "continuation_token", value: request.continuation_token ?? undefined },
    ...extras.placesOf("continuation_token")
  ])
  const safetySettings = params.take(readSafety(safety.path, safety.value, target), [])
  const armor = readArmor(params, target, safetySettings.length > 0)
  const labels = params.take(readLabels(request.labels, target), nothing)
  const tier = serviceTier(request.service_tier, target)
  const continued = readContinuation(params, continuation, target)
  return {
    body: {
      ...(safetySettings.length === 0 ? {} : { safetySettings }),
      ...(cachedContent === undefined || !target.facts.explicitCache ? {} : { cachedContent }),
      ...armor.body,
      ...labels.body,
      ...tier.body,
      ...continued.body
    },
    headers: tier.headers,
    thinking: isJsonObject(thinking.value) ? { path: thinking.path, value: thinking.value } : undefined,
    unused: [
      ...extras.unknown,
      ...safety.losers,
      ...cached.losers,
      ...(cachedContent === undefined || target.facts.explicitCache ? [] : [cached.path]),
      ...thinking.losers,
      ...armor.unused,
      ...labels.unused,
      ...tier.unused,
      ...continued.unused
    ]
  }
}

/** The parameters read here; most requests have none of them. */
const googleParams = [
  "safety_settings",
  "safetySettings",
  "cached_content",
  "continuation_token",
  "model_armor_config",
  "labels",
  "service_tier",
  "extra_body",
  "google"
] as const
const noGoogleFields: GoogleFields = { body: {}, headers: {}, thinking: undefined, unused: [] }

interface GivenField {
  readonly path: string
  readonly value: unknown
}

/** The first place with a value; later places with a value are losers. */
const firstOf = (places: ReadonlyArray<GivenField>): GivenField & { readonly losers: ReadonlyArray<string> } => {
  const [first, ...others] = places.filter((place) => place.value !== undefined)
  return { path: first?.path ?? "", value: first?.value, losers: others.map((place) => place.path) }
}

/** A text that is not empty. */
const nameIn = (params: ParamReader, { path, value }: GivenField, what: string): string | undefined => {
  if (value === undefined || (typeof value === "string" && value !== "")) return value
  return params.invalid(path, "invalid_type", `${path} must be ${what}.`)
}

const extraNames: ReadonlySet<string> = new Set([
  "thinking_config",
  "cached_content",
  "continuation_token",
  "safety_settings",
  "speech_config"
])

interface Extras {
  readonly placesOf: (name: string) => ReadonlyArray<GivenField>
  readonly unknown: ReadonlyArray<string>
}

/** Reads `extra_body.google`, and `google` for clients that flatten `extra_body` themselves. */
const readExtras = (params: ParamReader): Extras => {
  const { request } = params
  const nested = request.extra_body?.["google"] ?? {}
  if (!isJsonObject(nested)) params.invalid("extra_body.google", "invalid_type", "extra_body.google must be an object.")
  const holders = [
    { path: "extra_body.google", fields: isJsonObject(nested) ? nested : {} },
    { path: "google", fields: request.google ?? {} }
  ]
  const foreign = Object.keys(request.extra_body ?? {}).filter((name) => name !== "google")
  return {
    placesOf: (name) =>
      holders.map(({ path, fields }) => ({ path: `${path}.${name}`, value: fields[name] ?? undefined })),
    unknown: [
      ...foreign.map((name) => `extra_body.${name}`),
      ...holders.flatMap(({ path, fields }) =>
        Object.keys(fields)
          .filter((name) => !extraNames.has(name))
          .map((name) => `${path}.${name}`)
      )
    ]
  }
}

interface Part {
  readonly body: GoogleFields["body"]
  readonly unused: ReadonlyArray<string>
}
const nothing: Part = { body: {}, unused: [] }

/** The token of an earlier answer, for models that continue their answers (M-605). */
const readContinuation = (
  params: ParamReader,
  place: GivenField & { readonly losers: ReadonlyArray<string> },
  { facts }: TranslateContext["target"]
): Part => {
  const continuationToken = nameIn(params, place, "the continuation token of an earlier answer")
  if (continuationToken === undefined) return nothing
  return facts.longDecode === undefined
    ? { body: {}, unused: [place.path, ...place.losers] }
    : { body: { continuationToken }, unused: place.losers }
}

const armorFields = [
  ["prompt_template_name", "promptTemplateName"],
  ["response_template_name", "responseTemplateName"]
] as const

const readArmor = (params: ParamReader, target: TranslateContext["target"], hasSafety: boolean): Part => {
  const asked = params.request.model_armor_config ?? undefined
  if (asked === undefined) return nothing
  if (target.kind !== "vertex-ai") return { body: {}, unused: ["model_armor_config"] }
  if (hasSafety)
    params.invalid("model_armor_config", "invalid_value", "model_armor_config and safety_settings exclude each other.")
  const names: Record<string, string> = {}
  for (const [param, field] of armorFields) {
    const value = asked[param] ?? undefined
    if (typeof value === "string") names[field] = value
    else if (value !== undefined)
      params.invalid(`model_armor_config.${param}`, "invalid_type", `model_armor_config.${param} must be a string.`)
  }
  return { body: { modelArmorConfig: names }, unused: [] }
}

/** Vertex AI reads the tier from a header: cloud.google.com, "Flex PayGo" and "Priority PayGo". */
const serviceTier = (
  tier: ChatRequest["service_tier"],
  target: TranslateContext["target"]
): Part & { readonly headers: Readonly<Record<string, string>> } => {
  switch (tier) {
    case undefined:
    case null:
    case "auto":
    case "default":
    case "standard":
      return { ...nothing, headers: {} }
    case "flex":
    case "priority":
      return target.kind === "vertex-ai"
        ? { ...nothing, headers: { "x-vertex-ai-llm-shared-request-type": tier } }
        : { body: { serviceTier: tier }, unused: [], headers: {} }
    default:
      return { body: {}, unused: ["service_tier"], headers: {} }
  }
}
