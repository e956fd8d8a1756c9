// Reads tools and tool choice of a chat request, `tools` as well as legacy `functions`, into plain unions.
// Must not depend on an upstream's tool format and must not convert schemas.
import * as Result from "effect/Result"
import { readEach } from "../../../domain/faults.ts"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import { invalid } from "./paramReader.ts"
import { type CacheControl, cacheControlOf } from "./readParts.ts"

/** A function declared by the client. `path` is its position in the request. */
export interface FunctionTool {
  readonly _tag: "Function"
  readonly path: string
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject | undefined
  readonly strict: boolean
  /** The schema of the function's result, if the client declared it. */
  readonly response: JsonObject | undefined
  readonly cacheControl: CacheControl
}

/** A tool that the provider runs or defines; `config` holds the client's settings, unread. */
export interface BuiltInTool {
  readonly _tag:
    | "CodeExecution"
    | "Search"
    | "SearchRetrieval"
    | "UrlContext"
    | "Maps"
    | "EnterpriseSearch"
    | "FileSearch"
    | "ComputerUse"
    /** No model here runs it; `name` is its type. */
    | "Unknown"
  readonly path: string
  readonly name: string
  readonly config: JsonObject
  /** It is left out, and named, where the model cannot have it together with the other tools. */
  readonly optional?: boolean
}

export type AskedTool = FunctionTool | BuiltInTool

export type ToolChoice =
  /** `validated`: calls must follow their schemas; an upstream without such a mode reads it as auto (M-400). */
  | { readonly _tag: "Auto"; readonly validated?: true }
  | { readonly _tag: "None" | "Required" }
  /** One function; `path` is the position of its name. */
  | { readonly _tag: "Named"; readonly name: string; readonly path: string }
  | {
      readonly _tag: "Allowed"
      readonly required: boolean
      readonly names: ReadonlyArray<{ name: string; path: string }>
    }

const byType: ReadonlyMap<unknown, BuiltInTool["_tag"]> = new Map([
  ["code_execution", "CodeExecution"],
  ["web_search", "Search"],
  ["google_search", "Search"],
  ["googleSearch", "Search"],
  ["web_search_retrieval", "SearchRetrieval"],
  ["google_search_retrieval", "SearchRetrieval"],
  ["url_context", "UrlContext"],
  ["google_maps", "Maps"],
  ["enterprise_web_search", "EnterpriseSearch"],
  ["file_search", "FileSearch"],
  ["computer_use", "ComputerUse"],
  ["computerUse", "ComputerUse"]
])
const longestName = 256

/** Reads `tools`, or legacy `functions` without `tools`, and adds the search that `web_search_options` requests. */
export const readTools = (
  request: ChatRequest,
  limits: { readonly tools: number }
): Result.Result<ReadonlyArray<AskedTool>, RequestFault> => {
  const legacy = usesLegacyFunctions(request)
  const list = (legacy ? request.functions : request.tools) ?? []
  const where = legacy ? "functions" : "tools"
  if (list.length > limits.tools) {
    return invalid(where, "array_too_long", `At most ${limits.tools} tools are taken, ${list.length} were sent.`)
  }
  const read = readEach(list, (tool, index): Result.Result<AskedTool, RequestFault> => {
    const path = `${where}[${index}]`
    if (!isJsonObject(tool)) return invalid(where, "invalid_type", `${path} must be an object.`)
    return legacy ? readFunction(tool, path, path, undefined) : readTool(tool, path)
  })
  return Result.flatMap(read, (tools) => {
    if (isJsonObject(request.web_search_options) && !tools.some((tool) => tool._tag === "Search")) {
      tools.push({ _tag: "Search", path: "web_search_options", name: "web_search", config: searchOptions(request) })
    }
    return refuseDuplicates(tools, where) ?? Result.succeed(tools)
  })
}

/** Cast: a field of a parsed body is JSON. */
const searchOptions = ({ web_search_options: options }: ChatRequest): JsonObject => (options ?? {}) as JsonObject

/** True for requests with legacy `functions`; the response then uses the legacy form too. */
export const usesLegacyFunctions = (request: ChatRequest): boolean =>
  (request.tools ?? undefined) === undefined && (request.functions ?? undefined) !== undefined

const readTool = (tool: JsonObject, path: string): Result.Result<AskedTool, RequestFault> => {
  const type = tool["type"] ?? (isJsonObject(tool["function"]) ? "function" : undefined)
  if (type === "function") {
    const declared = tool["function"]
    return readFunction(isJsonObject(declared) ? declared : {}, path, `${path}.function`, cacheControlOf(tool))
  }
  const kind = byType.get(type)
  if (kind !== undefined && typeof type === "string") {
    const config = tool[type]
    const optional = tool["optional"] === true ? { optional: true } : {}
    return Result.succeed({ _tag: kind, path, name: type, config: isJsonObject(config) ? config : tool, ...optional })
  }
  return type === "custom"
    ? invalid(`${path}.type`, "unsupported_tool", "Tools of type custom are not supported; declare a function instead.")
    : type === undefined || type === null || typeof type === "string"
      ? Result.succeed({ _tag: "Unknown", path, name: type ?? Object.keys(tool)[0] ?? "", config: tool })
      : invalid(`${path}.type`, "invalid_type", "The type of a tool must be a string.")
}

/** An answer without them would be wrong unseen (W31). */
export const neededTools: ReadonlySet<string> = new Set(["file_search", "mcp"])

const isNeeded = ({ _tag, name }: BuiltInTool): boolean => _tag === "FileSearch" || neededTools.has(name)

interface SortedTools {
  readonly tools: ReadonlyArray<AskedTool>
  /** Places of the tools that are left out. */
  readonly left: ReadonlyArray<string>
}

export const noTools: SortedTools = { tools: [], left: [] }

/** Leaves out the tools that a model does not run, unless the choice demands one or an answer without it would be wrong (W5). */
export const runnableTools = (
  asked: ReadonlyArray<AskedTool>,
  choice: ToolChoice | undefined,
  runs: (tool: BuiltInTool) => boolean,
  refusal: (tool: BuiltInTool) => string
): Result.Result<SortedTools, RequestFault> => {
  const left: Array<string> = []
  const tools: Array<AskedTool> = []
  for (const tool of asked) {
    if (tool._tag === "Function" || runs(tool)) tools.push(tool)
    else if (isNeeded(tool) || (choice?._tag === "Named" && choice.name === tool.name))
      return invalid(tool.path, "unsupported_tool", refusal(tool))
    else left.push(tool.path)
  }
  return left.length > 0 && tools.length === 0 && choice?._tag === "Required"
    ? invalid("tool_choice", "unsupported_tool", "tool_choice asks for a call, and this model runs none of the tools.")
    : Result.succeed({ tools, left })
}

/** A function with the name of a provider's tool and without properties means that tool. */
const readFunction = (
  declared: JsonObject,
  path: string,
  functionPath: string,
  cacheControl: CacheControl
): Result.Result<AskedTool, RequestFault> => {
  const name = declared["name"]
  if (typeof name !== "string" || name === "" || name.length > longestName) {
    return invalid(
      `${functionPath}.name`,
      "invalid_value",
      `A function needs a name of 1 to ${longestName} characters.`
    )
  }
  const parameters = declared["parameters"] ?? undefined
  if (parameters !== undefined && !isJsonObject(parameters)) {
    return invalid(
      `${functionPath}.parameters`,
      "invalid_schema",
      "parameters must be a JSON schema, which is an object."
    )
  }
  const description = declared["description"] ?? ""
  if (typeof description !== "string") {
    return invalid(`${functionPath}.description`, "invalid_type", "description must be a string.")
  }
  const kind = byType.get(name)
  // Only the tool type requests "code_execution": clients declare functions of their own under that name.
  if (kind !== undefined && kind !== "CodeExecution" && !hasProperties(parameters)) {
    return Result.succeed({ _tag: kind, path, name, config: parameters ?? {} })
  }
  const response = declared["response_schema"]
  return Result.succeed({
    _tag: "Function",
    path: functionPath,
    name,
    description,
    parameters,
    strict: declared["strict"] === true,
    response: isJsonObject(response) ? response : undefined,
    cacheControl: cacheControl ?? cacheControlOf(declared)
  })
}

const hasProperties = (parameters: JsonObject | undefined): boolean => {
  const properties = parameters?.["properties"]
  return isJsonObject(properties) && Object.keys(properties).length > 0
}

/** Rejects two functions of the same name; undefined when all names differ. */
const refuseDuplicates = (
  tools: ReadonlyArray<AskedTool>,
  where: string
): Result.Result<never, RequestFault> | undefined => {
  if (tools.length < 2) return undefined
  const seen = new Map<string, number>()
  for (const [index, tool] of tools.entries()) {
    if (tool._tag !== "Function") continue
    const first = seen.get(tool.name)
    if (first !== undefined) {
      return invalid(
        `${tool.path}.name`,
        "invalid_value",
        `${where}[${first}] and ${where}[${index}] declare a function of the same name.`
      )
    }
    seen.set(tool.name, index)
  }
  return undefined
}

/** Reads `tool_choice`, or the legacy `function_call`; undefined when both are absent. */
export const readToolChoice = (request: ChatRequest): Result.Result<ToolChoice | undefined, RequestFault> => {
  const choice = request.tool_choice ?? undefined
  if (choice === undefined) return readFunctionCall(request.function_call ?? undefined)
  const word = choiceWord(choice)
  if (word !== undefined) return Result.succeed(word)
  if (isJsonObject(choice)) {
    if (choice["type"] === "function") {
      const name = nameIn(choice)
      if (name !== undefined) return Result.succeed({ _tag: "Named", name, path: "tool_choice.function.name" })
      return invalid("tool_choice.function.name", "invalid_value", "tool_choice.function.name must name a tool.")
    }
    if (choice["type"] === "allowed_tools") return readAllowed(choice)
    if (choice["type"] === "validated") return Result.succeed(validated)
  }
  return invalid(
    "tool_choice",
    "invalid_value",
    'tool_choice must be "auto", "none", "required", "validated", {"type":"function",...} or {"type":"allowed_tools",...}.'
  )
}

const validated: ToolChoice = { _tag: "Auto", validated: true }

const choiceWord = (choice: unknown): ToolChoice | undefined => {
  if (choice === "auto") return { _tag: "Auto" }
  if (choice === "validated") return validated
  if (choice === "none") return { _tag: "None" }
  return choice === "required" || choice === "any" ? { _tag: "Required" } : undefined
}

const nameIn = (holder: JsonObject): string | undefined => {
  const inner = holder["function"]
  const name = isJsonObject(inner) ? inner["name"] : holder["name"]
  return typeof name === "string" && name !== "" ? name : undefined
}

const readAllowed = (choice: JsonObject): Result.Result<ToolChoice, RequestFault> => {
  const path = "tool_choice.allowed_tools"
  const allowed = choice["allowed_tools"]
  if (!isJsonObject(allowed)) return invalid(path, "invalid_value", `${path} must be an object.`)
  const mode = allowed["mode"] ?? "auto"
  if (mode !== "auto" && mode !== "required") {
    return invalid(`${path}.mode`, "invalid_value", `${path}.mode must be auto or required.`)
  }
  const tools = allowed["tools"]
  if (!Array.isArray(tools) || tools.length === 0) {
    return invalid(`${path}.tools`, "invalid_value", `${path}.tools must be an array of at least one function.`)
  }
  const names: Array<{ name: string; path: string }> = []
  for (const [index, tool] of tools.entries()) {
    const name = isJsonObject(tool) ? nameIn(tool) : undefined
    const at = `${path}.tools[${index}].function.name`
    if (name === undefined) return invalid(at, "invalid_value", "Every allowed tool must be a function with a name.")
    names.push({ name, path: at })
  }
  return Result.succeed({ _tag: "Allowed", required: mode === "required", names })
}

/** Rejects a choice that the declared tools cannot satisfy. */
export const checkToolChoice = (
  choice: ToolChoice | undefined,
  tools: ReadonlyArray<AskedTool>
): Result.Result<void, RequestFault> => {
  if (choice?._tag === "Required" && tools.length === 0) {
    return invalid(
      "tool_choice",
      "invalid_value",
      "tool_choice asks for a tool call, but the request declares no tools."
    )
  }
  const stray = namedTools(choice).find(({ name }) => !tools.some((tool) => tool.name === name))
  return stray === undefined
    ? Result.succeed(undefined)
    : invalid(stray.path, "invalid_value", "tool_choice names a tool that the request does not declare.")
}

/** Lists the tools that a choice names. */
export const namedTools = (
  choice: ToolChoice | undefined
): ReadonlyArray<{ readonly name: string; readonly path: string }> =>
  choice?._tag === "Named" ? [choice] : choice?._tag === "Allowed" ? choice.names : []

const readFunctionCall = (choice: unknown): Result.Result<ToolChoice | undefined, RequestFault> => {
  if (choice === undefined) return Result.succeed(undefined)
  if (choice === "auto" || choice === "none") return Result.succeed(choiceWord(choice))
  const name = isJsonObject(choice) ? nameIn(choice) : undefined
  if (name !== undefined) return Result.succeed({ _tag: "Named", name, path: "function_call.name" })
  return invalid("function_call", "invalid_value", 'function_call must be "auto", "none" or {"name":...}.')
}
