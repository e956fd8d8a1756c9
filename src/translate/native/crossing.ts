// A native request for an account of the other Google product: table 1 of the native routes, field by field and part by part.
// It must not know bytes, accounts or URLs. Rules: N501-N503, N506. Derived from the published schemas of both products.
import * as Result from "effect/Result"
import { readEach } from "../../domain/faults.ts"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BuiltInKind } from "../../domain/ProviderAccount.ts"
import { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import { mimeOfPath } from "../shared/media/mime.ts"
import { camelMembers, listOf } from "./memberNames.ts"

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

// Contents and parts for the other Google product, and signatures that it did not make.

interface PartCrossing {
  /** The product that will serve. */
  readonly kind: BuiltInKind
  readonly ignored: Array<string>
  readonly refused: (param: string) => Result.Result<never, RequestFault>
}

const filesApi = /^https:\/\/generativelanguage\.googleapis\.com\//

/** Parts that only the Gemini API has: calls of server tools cannot be left out, notes can. */
const refusedParts: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["toolCall", "toolResponse"],
  google: []
}
const droppedMembers: Readonly<Record<BuiltInKind, ReadonlyArray<string>>> = {
  "vertex-ai": ["partMetadata", "mediaProcessing"],
  google: ["audioTranscription"]
}
/** Members inside of a part's own member. */
const droppedInside: Readonly<
  Record<BuiltInKind, ReadonlyArray<readonly [part: string, names: ReadonlyArray<string>]>>
> = {
  "vertex-ai": [["functionResponse", ["willContinue"]]],
  google: [
    ["functionCall", ["partialArgs", "willContinue"]],
    ["inlineData", ["displayName"]],
    ["fileData", ["displayName"]]
  ]
}

/** The object without these members; each that was there is named, after the prefix of its path. */
const withoutForeign = (
  holder: JsonObject,
  names: ReadonlyArray<string>,
  prefix: string,
  ignored: Array<string>
): JsonObject => {
  const present = names.filter((name) => holder[name] !== undefined)
  if (present.length === 0) return holder
  ignored.push(...present.map((name) => prefix + name))
  return Object.fromEntries(Object.entries(holder).filter(([name]) => !present.includes(name)))
}

/** An address that the other product can read, with the type that Vertex AI demands. */
const crossFile = (file: JsonObject, path: string, { kind, refused }: PartCrossing): Read<JsonObject> => {
  const { fileUri, mimeType } = file
  if (typeof fileUri !== "string") return Result.succeed(file)
  if (kind === "google") return /^gs:/i.test(fileUri) ? refused(`${path}.fileUri`) : Result.succeed(file)
  if (filesApi.test(fileUri)) return refused(`${path}.fileUri`)
  if (mimeType !== undefined) return Result.succeed(file)
  const type = mimeOfPath(fileUri)
  return type === undefined ? refused(`${path}.mimeType`) : Result.succeed({ ...file, mimeType: type })
}

const crossPart = (written: Json, path: string, crossing: PartCrossing): Read<Json> => {
  if (!isJsonObject(written)) return Result.succeed(written)
  const { ignored, kind, refused } = crossing
  const foreign = refusedParts[kind].find((name) => written[name] !== undefined)
  if (foreign !== undefined) return refused(`${path}.${foreign}`)
  const part: Record<string, Json | undefined> = {
    ...withoutForeign(written, droppedMembers[kind], `${path}.`, ignored)
  }
  for (const [name, names] of droppedInside[kind]) {
    const inner = part[name]
    if (isJsonObject(inner)) part[name] = withoutForeign(inner, names, `${path}.${name}.`, ignored)
  }
  const reader = new Reader()
  const response = part["functionResponse"]
  const answered = isJsonObject(response) ? listOf(response["parts"]) : undefined
  if (isJsonObject(response) && Array.isArray(answered)) {
    const parts = reader.each(answered, (inner: Json, index) =>
      reader.take(crossResponsePart(inner, `${path}.functionResponse.parts[${index}]`, crossing))
    )
    part["functionResponse"] = { ...response, parts }
  }
  const file = part["fileData"]
  if (isJsonObject(file)) part["fileData"] = reader.take(crossFile(file, `${path}.fileData`, crossing))
  return reader.result(part)
}

/** A part of a function's response, where the Gemini API takes bytes alone. */
const crossResponsePart = (part: Json, path: string, crossing: PartCrossing): Read<Json> =>
  crossing.kind === "google" && isJsonObject(part) && part["fileData"] !== undefined
    ? crossing.refused(`${path}.fileData`)
    : crossPart(part, path, crossing)

/** A content with its role: a missing one is the user's, which Vertex AI demands. An instruction has none. */
const crossContent = (content: Json, path: string, crossing: PartCrossing): Read<Json> => {
  if (!isJsonObject(content)) return Result.succeed(content)
  const parts = listOf(content["parts"])
  const isTurn = path.startsWith("contents")
  const role = content["role"] === undefined && isTurn ? { role: "user" } : {}
  if (!Array.isArray(parts)) return Result.succeed({ ...role, ...content })
  return Result.map(
    readEach(parts, (part, index) => crossPart(part, `${path}.parts[${index}]`, crossing)),
    (crossed) => ({ ...role, ...content, parts: crossed })
  )
}

/** What Gemini takes where a signature is not known. Source: Google's page on thought signatures. */
const sentinel = "skip_thought_signature_validator"

/**
 * The body without signatures, for one more try after they were refused. The first call of each turn of the model gets the
 * sentinel where the model takes it.
 */
export const withoutSignatures = (body: JsonObject, takesSentinel: boolean): JsonObject => {
  const { contents } = body
  if (!Array.isArray(contents)) return body
  return {
    ...body,
    contents: contents.map((content: Json) => {
      const parts = isJsonObject(content) ? content["parts"] : undefined
      if (!isJsonObject(content) || !Array.isArray(parts)) return content
      const first = parts.findIndex((part: Json) => isJsonObject(part) && part["functionCall"] !== undefined)
      return {
        ...content,
        parts: parts.map((part: Json, index): Json => {
          if (!isJsonObject(part)) return part
          const { thoughtSignature: _theirs, thought_signature: _also, ...rest } = part
          return takesSentinel && index === first ? { ...rest, thoughtSignature: sentinel } : rest
        })
      }
    })
  }
}
