// Translates tools and tool choice to Gemini's form: function declarations, built-in tools, `toolConfig`.
// Must not depend on the tools' position in the request; receives them already read.
import * as Result from "effect/Result"
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import {
  type AskedTool,
  type BuiltInTool,
  checkToolChoice,
  type FunctionTool,
  namedTools,
  noTools,
  runnableTools,
  type ToolChoice
} from "../shared/chat-request/readTools.ts"
import type { ToolNames } from "../shared/chat-request/toolCalls.ts"
import type { TranslateContext } from "../Translator.ts"
import type { SchemaBounds } from "./schema.ts"
import { lightSchema } from "./schemaLight.ts"
import { subsetSchema } from "./schemaSubset.ts"

export interface GeminiTools {
  readonly tools?: ReadonlyArray<JsonObject>
  readonly toolConfig?: JsonObject
  /** True when the tool choice has no equivalent and is dropped. */
  readonly choiceUnused: boolean
  /** Optional tools that this model cannot have together with functions. */
  readonly left?: ReadonlyArray<string>
}

interface Calling {
  readonly config: JsonObject | undefined
  /** The declarations that the tool choice allows. */
  readonly functions: ReadonlyArray<FunctionTool>
  readonly unused: boolean
}

export const geminiTools = (
  reader: Reader,
  wanted: ReadonlyArray<AskedTool>,
  choice: ToolChoice | undefined,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): GeminiTools => {
  if (wanted.length === 0 && choice === undefined) return { choiceUnused: false }
  const { left, tools: asked } = reader.take(runnableTools(wanted, choice, runsOn(wanted, target), refusal), noTools)
  // NONE stops functions only, so the provider's own tools are left out (M-403).
  const sent = choice?._tag === "None" ? asked.filter((tool) => tool._tag === "Function") : asked
  const builtIns = sent.filter((tool) => tool._tag !== "Function")
  const hasServerSide = builtIns.some((tool) => tool._tag !== "ComputerUse")
  const mayMix = hasServerSide && target.kind === "google" && isNewest(target)
  reader.take(checkToolChoice(choice, asked))
  const calling = functionCalling(sent, choice, { names, target, mayMix })
  const tools = toolObjects(reader, sent, calling.functions, names, target, bounds)
  const maps = builtIns.find((tool) => tool._tag === "Maps")
  const toolConfig = {
    ...(calling.config === undefined ? {} : { functionCallingConfig: calling.config }),
    ...(maps === undefined ? {} : userLocation(maps.config)),
    ...(mayMix && calling.functions.length > 0 ? { includeServerSideToolInvocations: true } : {})
  }
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(toolConfig).length === 0 ? {} : { toolConfig }),
    choiceUnused: calling.unused,
    ...(left.length === 0 ? {} : { left })
  }
}

/** Models before Gemini 3 refuse their own tools together with functions, and some tools are of one product only. */
const runsOn = (wanted: ReadonlyArray<AskedTool>, target: TranslateContext["target"]) => {
  const mixes = isNewest(target) || !wanted.some((tool) => tool._tag === "Function")
  return ({ _tag, config, optional }: BuiltInTool): boolean => {
    const home = homes[_tag]
    if (_tag === "Unknown" || (home !== undefined && home.kind !== target.kind)) return false
    return _tag === "FileSearch" ? hasStores(config) : mixes || optional !== true
  }
}

/** OpenAI's tool of this name has stores of OpenAI's. */
const hasStores = (config: JsonObject): boolean =>
  either(config, "file_search_store_names", "fileSearchStoreNames") !== undefined

const homes: Readonly<Partial<Record<BuiltInTool["_tag"], { readonly kind: string; readonly name: string }>>> = {
  EnterpriseSearch: { kind: "vertex-ai", name: "Vertex AI" },
  FileSearch: { kind: "google", name: "the Gemini Developer API" }
}

const refusal = ({ _tag, config, name }: BuiltInTool): string => {
  const home = _tag === "FileSearch" && !hasStores(config) ? undefined : homes[_tag]
  return home === undefined
    ? `The tool ${name} is none that Gemini runs.`
    : `The tool ${name} exists on ${home.name} only.`
}

/** All declarations share one Tool object; every other kind has its own, because Google rejects mixed objects. */
const toolObjects = (
  reader: Reader,
  asked: ReadonlyArray<AskedTool>,
  functions: ReadonlyArray<FunctionTool>,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): ReadonlyArray<JsonObject> => {
  const functionDeclarations = reader.each(functions, (tool) => declaration(reader, tool, names, target, bounds))
  return asked.flatMap((tool) => {
    if (tool._tag !== "Function") return [builtIn(tool)]
    return tool === functions[0] ? [{ functionDeclarations }] : []
  })
}

const isNewest = (target: TranslateContext["target"]): boolean => target.facts.generation === "g3"

interface Around {
  readonly names: ToolNames
  readonly target: TranslateContext["target"]
  /** True when functions would stand with the provider's own tools, which needs validated calls (M-402). */
  readonly mayMix: boolean
}

const functionCalling = (
  asked: ReadonlyArray<AskedTool>,
  choice: ToolChoice | undefined,
  { mayMix, names, target }: Around
): Calling => {
  const functions = asked.filter((tool) => tool._tag === "Function")
  const wanted = namedTools(choice)
  // Google rejects a choice without declarations; "auto" and "none" then need no field.
  if (functions.length === 0)
    return {
      config: undefined,
      functions,
      unused: choice !== undefined && choice._tag !== "Auto" && choice._tag !== "None"
    }
  const named = functions.filter((tool) => wanted.some(({ name }) => name === tool.name))
  if (wanted.length > 0 && named.length === 0) return { config: undefined, functions, unused: true }
  const calling = (config: JsonObject | undefined, left: ReadonlyArray<FunctionTool> = functions): Calling => ({
    config,
    functions: left,
    unused: false
  })
  const canValidate = isNewest(target) || target.facts.generation === "g2.5"
  const free = (left: ReadonlyArray<FunctionTool>, mode: string | undefined): Calling =>
    calling(
      canValidate && (mayMix || left.some((tool) => tool.strict))
        ? { mode: "VALIDATED" }
        : mode === undefined
          ? undefined
          : { mode },
      left
    )
  const allowedFunctionNames = named.map((tool) => names.mangle(tool.name))
  switch (choice?._tag) {
    case undefined:
      return free(functions, undefined)
    case "Auto":
      return free(functions, choice.validated === true && canValidate ? "VALIDATED" : "AUTO")
    case "None":
      return calling({ mode: "NONE" })
    case "Required":
      return calling({ mode: "ANY" })
    case "Named":
      return calling({ mode: "ANY", allowedFunctionNames })
    case "Allowed":
      if (choice.required) return calling({ mode: "ANY", allowedFunctionNames })
      // Names are legal with VALIDATED, which older models lack: there the other functions are not declared.
      return isNewest(target) ? calling({ mode: "VALIDATED", allowedFunctionNames }) : free(named, "AUTO")
  }
}

const declaration = (
  reader: Reader,
  tool: FunctionTool,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): JsonObject => ({
  name: names.mangle(tool.name),
  description: tool.description,
  ...schemaField(reader, `${tool.path}.parameters`, tool.parameters, target, bounds, "parameters"),
  ...schemaField(reader, `${tool.path}.response_schema`, tool.response, target, bounds, "response")
})

/** The schema under the model's field; nothing when the schema does not constrain the arguments. */
const schemaField = (
  reader: Reader,
  path: string,
  schema: JsonObject | undefined,
  target: TranslateContext["target"],
  bounds: SchemaBounds,
  field: "parameters" | "response"
): JsonObject => {
  if (schema === undefined) return {}
  const light = target.facts.toolSchema === "json"
  const converted = light
    ? lightSchema(schema, bounds)
    : subsetSchema(schema, { kind: target.kind, bounds, ordered: false })
  const cleaned = Result.getOrElse(converted, (fault) => reader.invalid(path, "invalid_schema", `${path}: ${fault}.`))
  const isEmpty = cleaned === undefined || (field === "parameters" && isUnconstrained(cleaned))
  return isEmpty ? {} : { [light ? `${field}JsonSchema` : field]: cleaned }
}

const isUnconstrained = (schema: JsonObject): boolean => {
  const properties = schema["properties"]
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0
  return !hasProperties && schema["anyOf"] === undefined && schema["oneOf"] === undefined
}

const builtIn = ({ _tag, config }: BuiltInTool): JsonObject => {
  switch (_tag) {
    case "CodeExecution":
      return { codeExecution: {} }
    case "Search":
      return { googleSearch: {} }
    case "SearchRetrieval": {
      const dynamic = either(config, "dynamic_retrieval_config", "dynamicRetrievalConfig")
      const wanted = isJsonObject(dynamic)
        ? { dynamicRetrievalConfig: pickFields(dynamic, [["mode"], ["dynamic_threshold", "dynamicThreshold"]]) }
        : {}
      return { googleSearchRetrieval: wanted }
    }
    case "UrlContext":
      return { urlContext: {} }
    case "Maps":
      return { googleMaps: pickFields(config, [["enable_widget", "enableWidget"]]) }
    case "EnterpriseSearch":
      return { enterpriseWebSearch: {} }
    case "FileSearch":
      return {
        fileSearch: pickFields(config, [
          ["file_search_store_names", "fileSearchStoreNames"],
          ["metadata_filter", "metadataFilter"],
          ["top_k", "topK"]
        ])
      }
    case "ComputerUse":
      return {
        computerUse: {
          environment: config["environment"] ?? "ENVIRONMENT_BROWSER",
          ...pickFields(config, [["excluded_predefined_functions", "excludedPredefinedFunctions"]])
        }
      }
    case "Unknown":
      return {}
  }
}

/** A map tool may carry the location and language of the user, as Google's `retrievalConfig` or in itself. */
const userLocation = (config: JsonObject): JsonObject => {
  const nested = either(config, "retrieval_config", "retrievalConfig")
  const given = isJsonObject(nested) ? nested : config
  const latLng = either(given, "lat_lng", "latLng") ?? given
  const point = isJsonObject(latLng) ? pickFields(latLng, [["latitude"], ["longitude"]]) : {}
  const retrievalConfig = {
    ...(Object.keys(point).length === 0 ? {} : { latLng: point }),
    ...pickFields(given, [["language_code", "languageCode"]])
  }
  return Object.keys(retrievalConfig).length === 0 ? {} : { retrievalConfig }
}

const either = (holder: JsonObject, snake: string, camel: string): Json | undefined =>
  holder[snake] ?? holder[camel] ?? undefined

/** Reads fields in two spellings and writes them in the upstream's. */
const pickFields = (holder: JsonObject, fields: ReadonlyArray<ReadonlyArray<string>>): JsonObject => {
  const out: Record<string, Json> = {}
  for (const [snake = "", camel = snake] of fields) {
    const value = either(holder, snake, camel)
    if (value !== undefined) out[camel] = value
  }
  return out
}
