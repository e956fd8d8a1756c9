// A native request for an account of the other Google product: table 1 of the native routes, field by field.
// It must not know bytes, accounts or URLs. Rules: N501-N503. Derived from the published schemas of both products.
import * as Result from "effect/Result"
import { readEach } from "../../domain/text/readEach.ts"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BuiltInKind } from "../../domain/ProviderAccount.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/fault.ts"
import { camelMembers, listOf } from "./camelMembers.ts"
import { crossContent, type PartCrossing, withoutForeign } from "./crossParts.ts"

export interface Crossed {
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
  /** Fields that were dropped, by their path in camel case. */
  readonly ignored: ReadonlyArray<string>
}

export interface CrossTo {
  readonly kind: BuiltInKind
  /** The model takes search and functions together only when the request states it (T334). */
  readonly mixesTools: boolean
  /** `x-vertex-ai-llm-shared-request-type` of a client of Vertex AI. */
  readonly sharedRequestType: string | undefined
}

type Read<A> = Result.Result<A, RequestFault>

const tierHeader = "x-vertex-ai-llm-shared-request-type"
const tiers: ReadonlySet<string> = new Set(["flex", "priority"])

/** Categories that one product has alone; Gemini refuses the whole request for one it does not know (googleapis/js-genai #810). */
const foreignCategories: Readonly<Record<BuiltInKind, RegExp>> = {
  "vertex-ai": /^HARM_CATEGORY_(DEROGATORY|TOXICITY|VIOLENCE|SEXUAL|MEDICAL|DANGEROUS)$/,
  google: /^HARM_CATEGORY_IMAGE_(HATE|DANGEROUS_CONTENT|HARASSMENT|SEXUALLY_EXPLICIT)$/
}

/** Kinds of tools that only the other product has. */
const foreignTools: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["fileSearch", "mcpServers"],
  google: ["enterpriseWebSearch", "retrieval", "exaAiSearch", "parallelAiSearch"]
}

const foreignSettings: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["enableEnhancedCivicAnswers", "translationConfig"],
  google: ["audioTimestamp", "routingConfig"]
}
const foreignImageSettings = ["imageOutputOptions", "personGeneration", "prominentPeople"]

const products: Readonly<Record<BuiltInKind, string>> = { "vertex-ai": "Vertex AI", google: "the Gemini API" }

const refused = (param: string, kind: BuiltInKind): Result.Result<never, RequestFault> =>
  invalid(param, "unsupported_operation", `${param} is not known to ${products[kind]}, which would serve this request.`)

const objects = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const crossSafety = (settings: Json | undefined, { kind }: CrossTo, ignored: Array<string>): Json | undefined => {
  if (!Array.isArray(settings)) return settings
  return settings.flatMap((setting: Json, index): ReadonlyArray<Json> => {
    if (!isJsonObject(setting)) return [setting]
    const { category } = setting
    if (typeof category === "string" && foreignCategories[kind].test(category)) {
      ignored.push(`safetySettings[${index}]`)
      return []
    }
    return [kind === "google" ? withoutForeign(setting, ["method"], `safetySettings[${index}].`, ignored) : setting]
  })
}

/** Each kind of tool in an object of its own, which Vertex AI demands (T330). */
const crossTools = (tools: Json | undefined, { kind }: CrossTo): Read<Json | undefined> => {
  if (!Array.isArray(tools)) return Result.succeed(tools)
  const crossed: Array<Json> = []
  for (const [index, tool] of tools.entries()) {
    if (!isJsonObject(tool)) crossed.push(tool)
    else {
      const foreign = foreignTools[kind].find((name) => tool[name] !== undefined)
      if (foreign !== undefined) return refused(`tools[${index}].${foreign}`, kind)
      const kinds = Object.entries(tool)
      if (kinds.length === 0) continue
      if (kind === "google" || kinds.length < 2) crossed.push(tool)
      else crossed.push(...kinds.map(([name, value]) => ({ [name]: value })))
    }
  }
  return Result.succeed(crossed)
}

const hasTool = (tools: Json | undefined, name: string): boolean =>
  objects(tools).some((tool) => isJsonObject(tool) && tool[name] !== undefined)

const crossToolConfig = (body: JsonObject, to: CrossTo, ignored: Array<string>): Json | undefined => {
  const { toolConfig, tools } = body
  const config = isJsonObject(toolConfig) ? toolConfig : undefined
  if (to.kind === "vertex-ai") {
    return config === undefined
      ? toolConfig
      : withoutForeign(config, ["includeServerSideToolInvocations"], "toolConfig.", ignored)
  }
  const isMixed = to.mixesTools && hasTool(tools, "googleSearch") && hasTool(tools, "functionDeclarations")
  return isMixed ? { ...config, includeServerSideToolInvocations: true } : toolConfig
}

const crossSettings = (config: Json | undefined, { kind }: CrossTo, ignored: Array<string>): Json | undefined => {
  if (!isJsonObject(config)) return config
  const plain = withoutForeign(config, foreignSettings[kind], "generationConfig.", ignored)
  const { imageConfig } = plain
  return kind === "google" && isJsonObject(imageConfig)
    ? {
        ...plain,
        imageConfig: withoutForeign(imageConfig, foreignImageSettings, "generationConfig.imageConfig.", ignored)
      }
    : plain
}

/** Each content through the rules of parts; the first that cannot cross refuses the request. */
const crossContents = (contents: Json | undefined, crossing: PartCrossing): Read<Json | undefined> => {
  if (!Array.isArray(contents)) return Result.succeed(contents)
  return readEach(contents, (content, index) => crossContent(content, `contents[${index}]`, crossing))
}

/** Top-level fields that only one product has. */
const crossTop = (body: JsonObject, to: CrossTo, ignored: Array<string>) => {
  const headers: Record<string, string> = {}
  if (to.kind === "google") {
    const tier = to.sharedRequestType
    const top = withoutForeign(body, ["labels"], "", ignored)
    const isTier = tier !== undefined && tiers.has(tier) && top["serviceTier"] === undefined
    return { top: isTier ? { ...top, serviceTier: tier } : top, headers }
  }
  const { model: _path, serviceTier, ...rest } = body
  const tier = typeof serviceTier === "string" ? serviceTier.toLowerCase() : undefined
  if (tier !== undefined && tiers.has(tier)) headers[tierHeader] = tier
  else if (serviceTier !== undefined) ignored.push("serviceTier")
  return { top: withoutForeign(rest, ["store"], "", ignored), headers }
}

/** Without the members that are undefined; an empty name of a cached content is none. */
const present = (members: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([name, value]) => value !== undefined && (name !== "cachedContent" || value !== ""))
  )

/** A generateContent body in the other product's words. Unknown fields pass. */
export const crossRequest = (written: JsonObject, to: CrossTo): Read<Crossed> => {
  const body = camelMembers(written)
  if ((body["cachedContent"] ?? "") !== "") return refused("cachedContent", to.kind)
  if (to.kind === "google" && body["modelArmorConfig"] !== undefined) return refused("modelArmorConfig", to.kind)
  const ignored: Array<string> = []
  const { headers, top } = crossTop(body, to, ignored)
  const crossing: PartCrossing = { kind: to.kind, ignored, refused: (param) => refused(param, to.kind) }
  return Result.gen(function* () {
    const tools = yield* crossTools(listOf(top["tools"]), to)
    const contents = yield* crossContents(listOf(top["contents"]), crossing)
    const system = top["systemInstruction"]
    const systemInstruction =
      system === undefined ? undefined : yield* crossContent(system, "systemInstruction", crossing)
    return {
      body: present({
        ...top,
        contents,
        systemInstruction,
        tools,
        toolConfig: crossToolConfig({ ...top, tools }, to, ignored),
        safetySettings: crossSafety(listOf(top["safetySettings"]), to, ignored),
        generationConfig: crossSettings(top["generationConfig"], to, ignored)
      }),
      headers,
      ignored
    }
  })
}
