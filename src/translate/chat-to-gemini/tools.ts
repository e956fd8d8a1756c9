// Tools and tool choice as Gemini takes them.
// It must not know where in the request they stood; it gets them read.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/fault.ts"
import {
  type AskedTool,
  type BuiltInTool,
  checkToolChoice,
  type FunctionTool,
  namedIn,
  type ToolChoice
} from "../shared/chat-request/readTools.ts"
import type { ToolNames } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import type { SchemaBounds } from "./schema/schema.ts"
import { lightSchema } from "./schema/schemaLight.ts"
import { subsetSchema } from "./schema/schemaSubset.ts"

export interface GeminiTools {
  readonly tools?: ReadonlyArray<JsonObject>
  readonly toolConfig?: JsonObject
  /** True when the tool choice could not be obeyed and is left out. */
  readonly choiceUnused: boolean
}

interface Calling {
  readonly config: JsonObject | undefined
  /** The declarations that are left when others are not allowed. */
  readonly functions: ReadonlyArray<FunctionTool>
  readonly unused: boolean
}

export const geminiTools = (
  asked: ReadonlyArray<AskedTool>,
  choice: ToolChoice | undefined,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): Result.Result<GeminiTools, RequestFault> => {
  if (asked.length === 0 && choice === undefined) return none
  const read = functionCalling(asked, choice, names, target)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const calling = read.success
  const declarations: Array<JsonObject> = []
  for (const tool of calling.functions) {
    const declared = declaration(tool, names, target, bounds)
    if (Result.isFailure(declared)) return Result.fail(declared.failure)
    declarations.push(declared.success)
  }
  const tools: Array<JsonObject> = []
  for (const tool of asked) {
    // All declarations stand in one Tool object, every other kind in its own: two kinds in one object are refused.
    if (tool._tag === "Function") {
      if (tool === calling.functions[0]) tools.push({ functionDeclarations: declarations })
      continue
    }
    const own = builtIn(tool, target)
    if (Result.isFailure(own)) return Result.fail(own.failure)
    tools.push(own.success)
  }
  const builtIns = asked.filter((tool) => tool._tag !== "Function")
  const hasServerSide = builtIns.some((tool) => tool._tag !== "ComputerUse")
  const mixes = target.kind === "google" && isNewest(target) && declarations.length > 0 && hasServerSide
  const maps = builtIns.find((tool) => tool._tag === "Maps")
  const toolConfig = {
    ...(calling.config === undefined ? {} : { functionCallingConfig: calling.config }),
    ...(maps === undefined ? {} : whereabouts(maps.config)),
    ...(mixes ? { includeServerSideToolInvocations: true } : {})
  }
  return Result.succeed({
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(toolConfig).length === 0 ? {} : { toolConfig }),
    choiceUnused: calling.unused
  })
}

const none: Result.Result<GeminiTools, RequestFault> = Result.succeed({ choiceUnused: false })

const isNewest = (target: TranslateContext["target"]): boolean => target.facts.generation === "g3"

const functionCalling = (
  asked: ReadonlyArray<AskedTool>,
  choice: ToolChoice | undefined,
  names: ToolNames,
  target: TranslateContext["target"]
): Result.Result<Calling, RequestFault> => {
  const functions = asked.filter((tool) => tool._tag === "Function")
  const fault = checkToolChoice(choice, asked)
  if (Result.isFailure(fault)) return Result.fail(fault.failure)
  const wanted = namedIn(choice)
  // A choice without declarations is refused upstream; "auto" and "none" are then what happens anyway.
  const idle = (unused: boolean): Calling => ({ config: undefined, functions, unused })
  if (functions.length === 0)
    return Result.succeed(idle(choice !== undefined && choice._tag !== "Auto" && choice._tag !== "None"))
  const named = functions.filter((tool) => wanted.some(({ name }) => name === tool.name))
  if (wanted.length > 0 && named.length === 0) return Result.succeed(idle(true))
  const free = (left: ReadonlyArray<FunctionTool>, said: boolean): Calling => {
    const validated = left.some((tool) => tool.strict) && (isNewest(target) || target.facts.generation === "g2.5")
    const mode = validated ? "VALIDATED" : said ? "AUTO" : undefined
    return { config: mode === undefined ? undefined : { mode }, functions: left, unused: false }
  }
  const forced = { mode: "ANY", allowedFunctionNames: named.map((tool) => names.mangle(tool.name)) }
  switch (choice?._tag) {
    case undefined:
    case "Auto":
      return Result.succeed(free(functions, choice !== undefined))
    case "None":
      return Result.succeed({ config: { mode: "NONE" }, functions, unused: false })
    case "Required":
      return Result.succeed({ config: { mode: "ANY" }, functions, unused: false })
    case "Named":
      return Result.succeed({ config: forced, functions, unused: false })
    case "Allowed":
      // Mode AUTO takes no names, so the others are not declared.
      return Result.succeed(choice.required ? { config: forced, functions, unused: false } : free(named, true))
  }
}

const declaration = (
  tool: FunctionTool,
  names: ToolNames,
  target: TranslateContext["target"],
  bounds: SchemaBounds
): Result.Result<JsonObject, RequestFault> => {
  const parameters = schemaField(tool.parameters, target, bounds, "parameters")
  if (Result.isFailure(parameters)) return invalidSchema(`${tool.path}.parameters`, parameters.failure)
  const response = schemaField(tool.response, target, bounds, "response")
  if (Result.isFailure(response)) return invalidSchema(`${tool.path}.response_schema`, response.failure)
  return Result.succeed({
    name: names.mangle(tool.name),
    description: tool.description,
    ...parameters.success,
    ...response.success
  })
}

const invalidSchema = (path: string, fault: string): Result.Result<never, RequestFault> =>
  invalid(path, "invalid_schema", `${path}: ${fault}.`)

/** The schema under the field this model reads; none when it says nothing about the arguments. */
const schemaField = (
  schema: JsonObject | undefined,
  target: TranslateContext["target"],
  bounds: SchemaBounds,
  field: "parameters" | "response"
): Result.Result<JsonObject, string> => {
  if (schema === undefined) return Result.succeed({})
  const light = target.facts.toolSchema === "json"
  const converted = light
    ? lightSchema(schema, bounds)
    : subsetSchema(schema, { kind: target.kind, bounds, ordered: false })
  return Result.map(converted, (cleaned) => {
    const isEmpty = field === "parameters" && saysNothing(cleaned)
    return isEmpty ? {} : { [light ? `${field}JsonSchema` : field]: cleaned }
  })
}

const saysNothing = (schema: JsonObject): boolean => {
  const properties = schema["properties"]
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0
  return !hasProperties && schema["anyOf"] === undefined && schema["oneOf"] === undefined
}

const builtIn = (tool: BuiltInTool, target: TranslateContext["target"]): Result.Result<JsonObject, RequestFault> => {
  const { config } = tool
  switch (tool._tag) {
    case "CodeExecution":
      return Result.succeed({ codeExecution: {} })
    case "Search":
      return Result.succeed({ googleSearch: {} })
    case "SearchRetrieval": {
      const dynamic = either(config, "dynamic_retrieval_config", "dynamicRetrievalConfig")
      const wanted = isJsonObject(dynamic)
        ? { dynamicRetrievalConfig: picked(dynamic, [["mode"], ["dynamic_threshold", "dynamicThreshold"]]) }
        : {}
      return Result.succeed({ googleSearchRetrieval: wanted })
    }
    case "UrlContext":
      return Result.succeed({ urlContext: {} })
    case "Maps":
      return Result.succeed({ googleMaps: picked(config, [["enable_widget", "enableWidget"]]) })
    case "EnterpriseSearch":
      return target.kind === "vertex-ai" ? Result.succeed({ enterpriseWebSearch: {} }) : unsupported(tool, "Vertex AI")
    case "FileSearch": {
      const fields = [
        ["file_search_store_names", "fileSearchStoreNames"],
        ["metadata_filter", "metadataFilter"],
        ["top_k", "topK"]
      ]
      return target.kind === "google"
        ? Result.succeed({ fileSearch: picked(config, fields) })
        : unsupported(tool, "the Gemini Developer API")
    }
    case "ComputerUse":
      return Result.succeed({
        computerUse: {
          environment: config["environment"] ?? "ENVIRONMENT_BROWSER",
          ...picked(config, [["excluded_predefined_functions", "excludedPredefinedFunctions"]])
        }
      })
  }
}

const unsupported = (tool: BuiltInTool, home: string): Result.Result<never, RequestFault> =>
  invalid(tool.path, "unsupported_tool", `The tool ${tool.name} exists on ${home} only.`)

/** A map tool may say where the user is. */
const whereabouts = (config: JsonObject): JsonObject => {
  const latLng = either(config, "lat_lng", "latLng")
  return isJsonObject(latLng) ? { retrievalConfig: { latLng: picked(latLng, [["latitude"], ["longitude"]]) } } : {}
}

const either = (holder: JsonObject, snake: string, camel: string): Json | undefined =>
  holder[snake] ?? holder[camel] ?? undefined

/** Fields by their two spellings, written in the upstream's. */
const picked = (holder: JsonObject, fields: ReadonlyArray<ReadonlyArray<string>>): JsonObject => {
  const out: Record<string, Json> = {}
  for (const [snake = "", camel = snake] of fields) {
    const value = either(holder, snake, camel)
    if (value !== undefined) out[camel] = value
  }
  return out
}
