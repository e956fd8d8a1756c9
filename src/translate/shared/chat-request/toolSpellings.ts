// Reads tools and tool choices as other dialects spell them, and gives them chat's own form.
// Must not depend on a provider, and refuses nothing: what it does not know stays as it is.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { customFunction } from "./customTools.ts"

/** Tools that a provider runs, by their names in Google's API and in those of OpenAI and Anthropic. */
const hosted: ReadonlyMap<string, string> = new Map([
  ["googleSearch", "google_search"],
  ["google_search", "google_search"],
  ["googleSearchRetrieval", "google_search_retrieval"],
  ["google_search_retrieval", "google_search_retrieval"],
  ["urlContext", "url_context"],
  ["url_context", "url_context"],
  ["codeExecution", "code_execution"],
  ["code_execution", "code_execution"],
  ["googleMaps", "google_maps"],
  ["google_maps", "google_maps"],
  ["enterpriseWebSearch", "enterprise_web_search"],
  ["enterprise_web_search", "enterprise_web_search"],
  ["fileSearch", "file_search"],
  ["computerUse", "computer_use"]
])

/** OpenAI and Anthropic date their own tools: `web_search_preview_2025_03_11`, `web_search_20250305`. */
const dated: ReadonlyArray<readonly [RegExp, string]> = [
  [/^web_search(?:_preview)?_\d{4}_?\d{2}_?\d{2}$|^web_search_preview$/, "web_search"],
  [/^code_execution_\d{8}$|^code_interpreter$/, "code_execution"],
  [/^web_fetch_\d{8}$/, "url_context"]
]

/** A tool of chat, and where it was among those of the client. */
interface PlacedTool {
  readonly tool: unknown
  readonly index: number
}

export interface SpelledTools {
  readonly tools: ReadonlyArray<PlacedTool>
  /** Names of custom tools: calls of their stand-ins come back as custom calls. */
  readonly customs: ReadonlySet<string>
}

/** Undefined where all tools have chat's own form. */
export const chatTools = (given: ReadonlyArray<unknown>): SpelledTools | undefined => {
  const customs = new Set<string>()
  let changed = false
  const tools = given.flatMap((tool, index): ReadonlyArray<PlacedTool> => {
    const spelled = isJsonObject(tool) ? chatTool(tool, customs) : undefined
    if (spelled === undefined) return [{ tool, index }]
    changed = true
    return spelled.map((one) => ({ tool: one, index }))
  })
  return changed ? { tools, customs } : undefined
}

/** Undefined for a tool that has no other spelling. */
const chatTool = (tool: JsonObject, customs: Set<string>): ReadonlyArray<JsonObject> | undefined => {
  const { custom, function: declared, name, type } = tool
  if (isJsonObject(declared)) return undefined
  const isNamed = typeof name === "string" && name !== ""
  if (type === "custom" && !isJsonObject(tool["input_schema"])) {
    const own = isJsonObject(custom) ? custom : tool
    if (typeof own["name"] !== "string") return undefined
    customs.add(own["name"])
    return [functionTool(tool, { ...customFunction(own), name: own["name"] })]
  }
  // Anthropic's tools have no type, or `custom`.
  if (isNamed && (type === "function" || type === "custom" || (type ?? undefined) === undefined))
    return [functionTool(tool, functionFields(tool))]
  if (typeof type !== "string") return (type ?? undefined) === undefined ? googleTools(tool) : undefined
  const kind = hosted.get(type) ?? dated.find(([pattern]) => pattern.test(type))?.[1]
  if (kind === undefined || kind === type) return undefined
  const own = tool[type]
  return [
    {
      ...(tool["optional"] === undefined ? {} : { optional: tool["optional"] }),
      type: kind,
      [kind]: isJsonObject(own) ? own : tool
    }
  ]
}

const functionTool = ({ cache_control: mark }: JsonObject, declared: JsonObject): JsonObject => ({
  type: "function",
  function: declared,
  ...(mark === undefined ? {} : { cache_control: mark })
})

const schemas = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"] as const
const results = ["response_schema", "output_schema", "response", "responseJsonSchema"] as const

/** The function of a tool that has its fields in itself. */
const functionFields = (tool: JsonObject): JsonObject => {
  const schemaAt = (names: ReadonlyArray<string>) =>
    names.map((name) => tool[name]).find((value) => (value ?? undefined) !== undefined)
  const { description, name, strict } = tool
  const parameters = schemaAt(schemas)
  const response = schemaAt(results)
  return {
    name,
    ...((description ?? undefined) === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters: jsonSchema(parameters) }),
    ...(response === undefined ? {} : { response_schema: jsonSchema(response) }),
    ...((strict ?? undefined) === undefined ? {} : { strict })
  }
}

/** Google writes the types of a schema in capitals; JSON Schema, which other families read, does not. */
const jsonSchema = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(jsonSchema)
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" && /^[A-Z]+$/.test(value)
        ? value.toLowerCase()
        : jsonSchema(value ?? null)
    ])
  )
}

/** One of Google's tool objects may hold several tools, and declarations of functions. */
const googleTools = (tool: JsonObject): ReadonlyArray<JsonObject> | undefined => {
  const found = Object.entries(tool).flatMap(([name, config]): ReadonlyArray<JsonObject> => {
    const kind = name === "file_search" ? name : hosted.get(name)
    if (kind !== undefined) return [{ type: kind, [kind]: isJsonObject(config) ? config : {} }]
    if ((name !== "functionDeclarations" && name !== "function_declarations") || !Array.isArray(config)) return []
    return config.flatMap((one: Json) => (isJsonObject(one) ? [functionTool({}, functionFields(one))] : []))
  })
  return found.length === 0 ? undefined : found
}

const words: ReadonlyMap<unknown, string> = new Map([
  ["auto", "auto"],
  ["none", "none"],
  ["any", "required"],
  ["required", "required"]
])

const named = (name: string): JsonObject => ({ type: "function", function: { name } })

/** The choice in chat's own form; one without another spelling is the same value. */
export const chatToolChoice = (choice: unknown): unknown => {
  if (!isJsonObject(choice)) return choice
  const { function: inner, mode, name, type } = choice
  const calling = choice["functionCallingConfig"] ?? choice["function_calling_config"]
  if (isJsonObject(calling)) return googleChoice(calling)
  if (type === "allowed_tools") return isJsonObject(choice["allowed_tools"]) ? choice : allowed(mode, choice["tools"])
  if (isJsonObject(inner)) return choice
  const word = words.get(type)
  if (word !== undefined) return word
  const custom = choice["custom"]
  const own = isJsonObject(custom) ? custom["name"] : name
  const namesOne = type === "tool" || type === "function" || type === "custom" || (type ?? undefined) === undefined
  return namesOne && typeof own === "string" ? named(own) : choice
}

const allowed = (mode: Json | undefined, tools: Json | undefined): JsonObject => ({
  type: "allowed_tools",
  allowed_tools: { mode, tools: Array.isArray(tools) ? tools.map((tool: Json) => asJson(chatToolChoice(tool))) : tools }
})

const asJson = (choice: unknown): Json => (isJsonObject(choice) ? choice : null)

const googleChoice = ({ allowed_function_names, allowedFunctionNames, mode }: JsonObject): unknown => {
  const names = allowedFunctionNames ?? allowed_function_names
  const word = words.get(String(mode).toLowerCase()) ?? "auto"
  return Array.isArray(names) && names.length > 0
    ? allowed(
        word === "required" ? word : "auto",
        names.map((name: Json) => named(String(name)))
      )
    : word
}
