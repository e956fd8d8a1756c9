// Translates Google's own request fields: safety, labels, cached content, Model Armor, service tier, `google` extras.
// Must not depend on messages, tools or sampling.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../domain/text/json.ts"
import type { GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/fault.ts"
import { readLabels } from "../shared/chat-request/labels.ts"
import { readSafety } from "../shared/chat-request/safetySettings.ts"
import type { TranslateContext } from "../Translator.ts"

export interface GoogleFields {
  readonly body: Pick<
    GenerateContentRequest,
    "safetySettings" | "labels" | "cachedContent" | "modelArmorConfig" | "serviceTier" | "continuationToken"
  >
  readonly headers: Readonly<Record<string, string>>
  readonly thinking: { readonly path: string; readonly value: JsonObject } | undefined
  readonly unused: ReadonlyArray<string>
}

export const googleFields = (
  request: ChatRequest,
  target: TranslateContext["target"]
): Result.Result<GoogleFields, RequestFault> => {
  if (params.every((param) => (request[param] ?? undefined) === undefined)) return noGoogleFields
  const read = readExtras(request)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const extras = read.success
  const safety = firstOf([
    { path: "safety_settings", value: request.safety_settings ?? undefined },
    { path: "safetySettings", value: request.safetySettings ?? undefined },
    ...extras.found("safety_settings")
  ])
  const cached = firstOf([
    { path: "cached_content", value: request.cached_content ?? undefined },
    ...extras.found("cached_content")
  ])
  const thinking = firstOf(extras.found("thinking_config"))
  const { value: thinkingConfig } = thinking
  const { value: cachedContent } = cached
  if (thinkingConfig !== undefined && !isJsonObject(thinkingConfig)) {
    return invalid(thinking.path, "invalid_type", `${thinking.path} must be an object.`)
  }
  if (cachedContent !== undefined && (typeof cachedContent !== "string" || cachedContent === "")) {
    return invalid(cached.path, "invalid_type", `${cached.path} must be the name of a cached content.`)
  }
  const continuation = firstOf([
    { path: "continuation_token", value: request.continuation_token ?? undefined },
    ...extras.found("continuation_token")
  ])
  return Result.gen(function* () {
    const safetySettings = yield* readSafety(safety.path, safety.value, target)
    const armor = yield* readArmor(request, target, safetySettings.length > 0)
    const labels = yield* readLabels(request.labels, target)
    const tier = serviceTier(request.service_tier, target)
    const continued = yield* readContinuation(continuation, target)
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
      thinking: thinkingConfig === undefined ? undefined : { path: thinking.path, value: thinkingConfig },
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
  })
}

/** The parameters read here; most requests have none of them. */
const params = [
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
const noGoogleFields: Result.Result<GoogleFields, RequestFault> = Result.succeed({
  body: {},
  headers: {},
  thinking: undefined,
  unused: []
})

interface Found {
  readonly path: string
  readonly value: unknown
}

/** The first place with a value; later places with a value are losers. */
const firstOf = (places: ReadonlyArray<Found>): Found & { readonly losers: ReadonlyArray<string> } => {
  const [first, ...others] = places.filter((place) => place.value !== undefined)
  return { path: first?.path ?? "", value: first?.value, losers: others.map((place) => place.path) }
}

const extraNames: ReadonlySet<string> = new Set([
  "thinking_config",
  "cached_content",
  "continuation_token",
  "safety_settings",
  "speech_config"
])

interface Extras {
  readonly found: (name: string) => ReadonlyArray<Found>
  readonly unknown: ReadonlyArray<string>
}

/** Reads `extra_body.google`, and `google` for clients that flatten `extra_body` themselves. */
const readExtras = (request: ChatRequest): Result.Result<Extras, RequestFault> => {
  const nested = request.extra_body?.["google"] ?? undefined
  if (nested !== undefined && !isJsonObject(nested)) {
    return invalid("extra_body.google", "invalid_type", "extra_body.google must be an object.")
  }
  const holders = [
    { path: "extra_body.google", fields: nested ?? {} },
    { path: "google", fields: request.google ?? {} }
  ]
  const foreign = Object.keys(request.extra_body ?? {}).filter((name) => name !== "google")
  return Result.succeed({
    found: (name) => holders.map(({ path, fields }) => ({ path: `${path}.${name}`, value: fields[name] ?? undefined })),
    unknown: [
      ...foreign.map((name) => `extra_body.${name}`),
      ...holders.flatMap(({ path, fields }) =>
        Object.keys(fields)
          .filter((name) => !extraNames.has(name))
          .map((name) => `${path}.${name}`)
      )
    ]
  })
}

interface Part {
  readonly body: GoogleFields["body"]
  readonly unused: ReadonlyArray<string>
}
const nothing: Part = { body: {}, unused: [] }

/** The token of an earlier answer, for models that continue their answers (M-605). */
const readContinuation = (
  { losers, path, value }: Found & { readonly losers: ReadonlyArray<string> },
  { facts }: TranslateContext["target"]
): Result.Result<Part, RequestFault> => {
  if (value === undefined) return Result.succeed(nothing)
  if (typeof value !== "string" || value === "")
    return invalid(path, "invalid_type", `${path} must be the continuation token of an earlier answer.`)
  return Result.succeed(
    facts.longDecode === undefined
      ? { body: {}, unused: [path, ...losers] }
      : { body: { continuationToken: value }, unused: losers }
  )
}

const armorFields = [
  ["prompt_template_name", "promptTemplateName"],
  ["response_template_name", "responseTemplateName"]
] as const

const readArmor = (
  request: ChatRequest,
  target: TranslateContext["target"],
  hasSafety: boolean
): Result.Result<Part, RequestFault> => {
  const asked = request.model_armor_config ?? undefined
  if (asked === undefined) return Result.succeed(nothing)
  if (target.kind !== "vertex-ai") return Result.succeed({ body: {}, unused: ["model_armor_config"] })
  if (hasSafety) {
    return invalid("model_armor_config", "invalid_value", "model_armor_config and safety_settings exclude each other.")
  }
  const names: Record<string, string> = {}
  for (const [param, field] of armorFields) {
    const value = asked[param] ?? undefined
    if (value === undefined) continue
    if (typeof value !== "string") {
      return invalid(`model_armor_config.${param}`, "invalid_type", `model_armor_config.${param} must be a string.`)
    }
    names[field] = value
  }
  return Result.succeed({ body: { modelArmorConfig: names }, unused: [] })
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
