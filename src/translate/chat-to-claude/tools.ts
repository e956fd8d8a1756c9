// Translates tools, tool choice and structured output to Claude's form; a tool of the gateway may be the output.
// It must not depend on messages, on the position of tools in the request, or on the reading of answers.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Reader } from "../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFormat } from "../shared/chat-request/readOptions.ts"
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
import type { Adjustment } from "../Translator.ts"
import { choiceAdjusted, type ClaudeFacts, schemaAdjusted } from "./facts.ts"
import { inputSchema } from "./inputSchema.ts"
import { nativeSchema } from "./nativeSchema.ts"

interface ClaudeTools {
  readonly tools?: ReadonlyArray<JsonObject>
  readonly tool_choice?: JsonObject
}

interface ToolOptions {
  readonly asked: ReadonlyArray<AskedTool>
  readonly choice: ToolChoice | undefined
  readonly output: JsonOutput | undefined
  /** False when calls must come one at a time. */
  readonly parallel: boolean
  /** Functions called in the history, in upstream spelling. */
  readonly called: ReadonlyArray<string>
  /** True for a model that searches the web itself. */
  readonly searches: boolean
  /** False for a model that refuses a demanded call. */
  readonly forcedTools: boolean
  /** The parameter that chose. */
  readonly choiceParam: "tool_choice" | "function_call"
}

export interface ToolPlan {
  readonly body: ClaudeTools
  /** The model must call a tool; thinking budgets exclude that. */
  readonly forced: boolean
  /** The schema of the answer for the model's own structured output. */
  readonly format: JsonObject | undefined
  /** Parameters without effect. */
  readonly unused: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
}

export const claudeTools = (reader: Reader, options: ToolOptions, names: ToolNames): ToolPlan => {
  const { choice, called } = options
  const functions = options.asked.filter((tool) => tool._tag === "Function")
  // Agents add optional tools unasked, and a project may lack the search.
  const isFree = options.searches && !functions.some(({ name }) => name === searchName)
  const runs = (tool: BuiltInTool) => tool._tag === "Search" && tool.optional !== true && isFree
  const { left, tools: asked } = reader.take(runnableTools(options.asked, choice, runs, refusal), noTools)
  const searches = asked.filter((tool) => tool._tag !== "Function")
  // A ban on calls holds for searches too.
  const search = choice?._tag === "None" ? undefined : searches[0]
  reader.take(checkToolChoice(choice, [...functions, ...searches]))
  const wanted = choice?._tag === "Allowed" ? namedTools(choice).map(({ name }) => name) : undefined
  const declared = functions.filter((tool) => wanted === undefined || wanted.includes(tool.name))
  const output = outputToolOf(options)
  const tools = [
    ...declared.map((tool) => declaration(tool, names)),
    ...(search === undefined ? [] : [searchTool(search)]),
    ...(output === undefined
      ? []
      : [{ name: output.name, description: output.description, input_schema: output.schema }])
  ]
  const hasFunctions = declared.length > 0
  // Claude rejects calls in the history without a declaration.
  const body: ClaudeTools =
    tools.length > 0
      ? withChoice(tools, chooseTool({ ...options, names, output, hasFunctions }), options.parallel)
      : called.length > 0
        ? { tools: called.map((name) => ({ name, input_schema: { type: "object" } })), tool_choice: { type: "none" } }
        : {}
  const native = options.output?._tag === "Native" ? options.output : undefined
  return {
    body,
    forced: isForced(body.tool_choice),
    format: native?.schema,
    unused: [...left, ...unusedOf(options, body, native ?? output)],
    adjusted: [
      ...(!options.forcedTools && demandsCall(choice) ? [choiceAdjusted(options.choiceParam)] : []),
      ...((native ?? output)?.adjusted ?? [])
    ]
  }
}

/** A demanded call of the client excludes the gateway's tool; so does a ban on calls that the model cannot be bound to. */
const outputToolOf = ({ choice, forcedTools, output }: ToolOptions): OutputTool | undefined =>
  output?._tag !== "Tool" || demandsCall(choice) || (!forcedTools && choice?._tag === "None") ? undefined : output

const refusal = ({ name }: BuiltInTool): string =>
  `The tool ${name} is none that Claude runs here. Claude's other server tools work on /v1/messages.`

const searchName = "web_search"

/** Options of Anthropic's tool, which OpenAI nests: `user_location: {type: "approximate", approximate: {...}}`. */
const searchTool = ({ config }: BuiltInTool): JsonObject => {
  const { allowed_domains, blocked_domains, cache_control, filters, max_uses, user_location: place } = config
  const domains = isJsonObject(filters) ? filters["allowed_domains"] : undefined
  const approximate = isJsonObject(place) ? place["approximate"] : undefined
  const location = isJsonObject(approximate) ? { type: "approximate", ...approximate } : place
  const given = { max_uses, allowed_domains: allowed_domains ?? domains, blocked_domains, cache_control }
  return {
    type: "web_search_20250305",
    name: searchName,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => (value ?? undefined) !== undefined)),
    ...(isJsonObject(location) ? { user_location: location } : {})
  }
}

const demandsCall = (choice: ToolChoice | undefined): boolean =>
  choice?._tag === "Required" || choice?._tag === "Named" || (choice?._tag === "Allowed" && choice.required)

/** The schema as Claude takes it; what it lost is stated in the description (W30). */
const declaration = ({ name, description, parameters, cacheControl }: FunctionTool, names: ToolNames): JsonObject => {
  const { schema, words } = inputSchema(parameters ?? {})
  const stated = [description, ...words].filter((text) => text !== "").join("\n\n")
  return {
    name: names.mangle(name),
    ...(stated === "" ? {} : { description: stated }),
    input_schema: schema,
    ...(cacheControl === undefined ? {} : { cache_control: cacheControl })
  }
}

interface Choosing extends Pick<ToolOptions, "choice" | "forcedTools"> {
  readonly names: ToolNames
  readonly output: OutputTool | undefined
  readonly hasFunctions: boolean
}

/**
 * Forces the structured answer as a call: of the gateway's tool, or of any tool when the client declares tools too. A
 * model that refuses demanded calls decides by itself (M-420).
 */
const chooseTool = (choosing: Choosing): JsonObject | undefined => {
  const wanted = wantedChoice(choosing)
  return isForced(wanted) && !choosing.forcedTools ? { type: "auto" } : wanted
}

const wantedChoice = ({ choice, hasFunctions, names, output }: Choosing): JsonObject | undefined => {
  if (output !== undefined) {
    return hasFunctions && choice?._tag !== "None" ? { type: "any" } : { type: "tool", name: output.name }
  }
  switch (choice?._tag) {
    case undefined:
      return undefined
    case "None":
      return { type: "none" }
    case "Required":
      return { type: "any" }
    case "Named":
      return { type: "tool", name: names.mangle(choice.name) }
    case "Allowed":
      return { type: choice.required ? "any" : "auto" }
    default:
      return { type: "auto" }
  }
}

const withChoice = (
  tools: ReadonlyArray<JsonObject>,
  choice: JsonObject | undefined,
  parallel: boolean
): ClaudeTools => {
  if (parallel || choice?.["type"] === "none") return choice === undefined ? { tools } : { tools, tool_choice: choice }
  return { tools, tool_choice: { type: "auto", ...choice, disable_parallel_tool_use: true } }
}

const isForced = (choice: JsonObject | undefined): boolean => choice?.["type"] === "any" || choice?.["type"] === "tool"

const unusedOf = (
  options: ToolOptions,
  { tool_choice: choice }: ClaudeTools,
  output: JsonOutput | undefined
): ReadonlyArray<string> => [
  ...(options.parallel || choice?.["disable_parallel_tool_use"] === true ? [] : ["parallel_tool_calls"]),
  ...(options.output !== undefined && output === undefined ? ["response_format"] : [])
]

// Structured output: a tool of the gateway whose arguments are the answer, or the model's own format field

/** A tool whose arguments are the answer. */
interface OutputTool {
  readonly _tag: "Tool"
  /** The tool's name, different from all client tools. */
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  /** True when the schema is not an object schema: it goes under `value` of an object, and so does the answer. */
  readonly wrapped: boolean
  readonly adjusted: ReadonlyArray<Adjustment>
}

/** The model's own structured output: the text of the answer is JSON. */
export interface NativeOutput {
  readonly _tag: "Native"
  readonly schema: JsonObject
  readonly adjusted: ReadonlyArray<Adjustment>
}

type JsonOutput = OutputTool | NativeOutput

/** Undefined when the request wants text. */
export const jsonOutputOf = (
  request: ChatRequest,
  { structured }: Pick<ClaudeFacts, "structured">
): Result.Result<JsonOutput | undefined, RequestFault> =>
  Result.map(readFormat(request.response_format), (format): JsonOutput | undefined => {
    if (format._tag === "Text") return undefined
    if (format._tag === "Object") return outputTool(request, usualDescription, { type: "object" }, false, [])
    const { schema, named } = format
    const native = structured === "native" ? nativeSchema(schema) : undefined
    if (native !== undefined) {
      const adjusted = native.loosened ? [schemaAdjusted("bounds", "description")] : []
      return { _tag: "Native", schema: native.schema, adjusted }
    }
    const adjusted = structured === "native" ? [schemaAdjusted("schema", "tool")] : []
    const description =
      typeof named["description"] === "string" && named["description"] !== "" ? named["description"] : usualDescription
    return isObjectSchema(schema)
      ? outputTool(request, description, { type: "object", ...schema }, false, adjusted)
      : outputTool(request, description, wrapSchema(schema), true, adjusted)
  })

const outputTool = (
  request: ChatRequest,
  description: string,
  schema: JsonObject,
  wrapped: boolean,
  adjusted: ReadonlyArray<Adjustment>
): OutputTool => ({ _tag: "Tool", name: freeName(request), description, schema, wrapped, adjusted })

const usualDescription = "Gives the answer."

/** A tool's schema accepts none of these at its root. */
const branches = ["anyOf", "oneOf", "allOf"]

const isObjectSchema = (schema: JsonObject): boolean =>
  !branches.some((word) => schema[word] !== undefined) &&
  (schema["type"] === "object" || (schema["type"] === undefined && isJsonObject(schema["properties"])))

/** Definitions move up to the new root, the target of their references. */
const wrapSchema = ({ $defs, definitions, $schema: _dialect, ...value }: JsonObject): JsonObject => ({
  type: "object",
  properties: { value },
  required: ["value"],
  ...($defs === undefined ? {} : { $defs }),
  ...(definitions === undefined ? {} : { definitions })
})

const freeName = ({ tools, functions }: ChatRequest): string => {
  const taken = new Set<Json | undefined>()
  for (const tool of tools ?? functions ?? []) {
    const declared = isJsonObject(tool) && isJsonObject(tool["function"]) ? tool["function"] : tool
    if (isJsonObject(declared)) taken.add(declared["name"])
  }
  let name = "json_output"
  for (let count = 2; taken.has(name); count++) name = `json_output_${count}`
  return name
}
