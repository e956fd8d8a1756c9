// Reads messages, tools and tool choices as other dialects spell them, and gives them chat's own form.
// Must not depend on a provider, and refuses nothing: the readers of chat's own form do that.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { customArguments, customFunction } from "./toolCalls.ts"

/** A message of chat, and where it was among those of the client. */
export interface PlacedMessage {
  readonly message: unknown
  readonly index: number
}

/** Undefined where all messages have chat's own form, as nearly all have. */
export const chatMessages = (given: ReadonlyArray<unknown>): ReadonlyArray<PlacedMessage> | undefined => {
  if (!given.some(isForeign)) return undefined
  return given.flatMap((message, index) =>
    (isJsonObject(message) && isForeign(message) ? spelled(message) : [message]).map((one) => ({ message: one, index }))
  )
}

const isForeign = (message: unknown): boolean => {
  if (!isJsonObject(message)) return false
  const { content, images, role, tool_calls: calls } = message
  if (role === "assistant")
    return (
      (Array.isArray(content) && content.some(isForeignBlock)) ||
      (Array.isArray(images) && images.length > 0) ||
      (typeof content === "string" && content.includes(linkStart)) ||
      (Array.isArray(calls) && calls.some(isCustomCall))
    )
  return role === "user" && Array.isArray(content) && content.some(isResult)
}

const spelled = (message: JsonObject): ReadonlyArray<JsonObject> =>
  message["role"] === "assistant" ? [assistantMessage(message)] : userMessages(message)

const typeOf = (block: unknown): Json | undefined => (isJsonObject(block) ? block["type"] : undefined)
const isResult = (block: unknown): boolean => typeOf(block) === "tool_result"

/** Blocks of tools that Anthropic runs itself: they return to Claude only. */
const serverBlock = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|[a-z_]+_tool_result)$/
const isServerBlock = (block: unknown): block is JsonObject => serverBlock.test(String(typeOf(block)))

const isForeignBlock = (block: unknown): boolean => {
  const type = typeOf(block)
  if (type === "text")
    return isJsonObject(block) && typeof block["text"] === "string" && block["text"].includes(linkStart)
  return type === "tool_use" || isServerBlock(block)
}

/** Results stand before the other blocks of their turn, each as a message of its own. */
const userMessages = (message: JsonObject): ReadonlyArray<JsonObject> => {
  const blocks = listOf(message["content"])
  const rest = blocks.filter((block) => !isResult(block))
  return [
    ...blocks.flatMap((block) => (isJsonObject(block) && isResult(block) ? [toolMessage(block)] : [])),
    ...(rest.length === 0 ? [] : [{ ...message, content: rest }])
  ]
}

const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const toolMessage = (block: JsonObject): JsonObject => {
  const { cache_control: mark, content = "", is_error: failed, tool_use_id: id } = block
  const text = failed === true ? textOf(content) : undefined
  return {
    role: "tool",
    tool_call_id: id,
    // An error is known by its member on every family.
    content: text === undefined ? content : JSON.stringify({ error: text }),
    ...(mark === undefined ? {} : { cache_control: mark })
  }
}

/** Undefined for a content that is not of texts alone. */
const textOf = (content: Json): string | undefined => {
  if (typeof content === "string") return content
  const texts = listOf(content).map((block) => (isJsonObject(block) ? block["text"] : block))
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined
}

const assistantMessage = (message: JsonObject): JsonObject => {
  const { content, content_parts: parts, images, tool_calls: calls, ...rest } = message
  const blocks = listOf(content)
  const used = blocks.flatMap((block) => (isJsonObject(block) && block["type"] === "tool_use" ? [callOf(block)] : []))
  const allCalls = [...listOf(calls).map(functionCall), ...used]
  const otherBlocks = blocks
    .filter((block) => typeOf(block) !== "tool_use")
    .flatMap((block) => (isServerBlock(block) ? [providerPart(block)] : piecesOf(block)))
  const texts = typeof content === "string" ? textPieces(content) : otherBlocks
  const pictures = listOf(images).map(picture)
  const hasPictures = pictures.length > 0 || texts.some((part) => typeOf(part) === "image_url")
  return {
    ...rest,
    content: typeof content === "string" && !hasPictures ? content : withoutPictures(texts),
    ...(parts === undefined ? {} : { content_parts: parts }),
    // The text alone is the content, for families that take no pictures of an assistant.
    ...(hasPictures && listOf(parts).length === 0 ? { content_parts: [...texts, ...pictures] } : {}),
    ...(allCalls.length === 0 ? {} : { tool_calls: allCalls })
  }
}

const withoutPictures = (parts: ReadonlyArray<Json>): Json => {
  const left = parts.filter((part) => typeOf(part) !== "image_url")
  const [only] = left
  if (left.length === 0) return null
  return left.length === 1 && isJsonObject(only) && Object.keys(only).length === 2 && typeof only["text"] === "string"
    ? only["text"]
    : left
}

const callOf = ({ id, input, name, signature, thought_signature }: JsonObject): JsonObject => {
  const signed = thought_signature ?? signature
  return {
    id,
    type: "function",
    function: {
      name,
      arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
      ...(signed === undefined ? {} : { thought_signature: signed })
    }
  }
}

const isCustomCall = (call: Json): boolean => isJsonObject(call) && isJsonObject(call["custom"])

/** A call of a custom tool is one of its stand-in. */
const functionCall = (call: Json): Json => {
  if (!isJsonObject(call) || !isJsonObject(call["custom"])) return call
  const { custom, ...rest } = call
  const { input, name } = custom
  return {
    ...rest,
    type: "function",
    function: { name, arguments: customArguments(typeof input === "string" ? input : "") }
  }
}

const providerPart = (part: JsonObject): JsonObject => ({ type: "provider_part", provider: "anthropic", part })

const linkStart = "](data:image/"
/** `![alt](data:image/png;base64,...)`: a picture as Markdown. */
const link = /!\[[^\]\n]{0,256}\]\((data:image\/[a-z0-9.+-]{1,32};base64,[A-Za-z0-9+/=_-]+)\)/g

const piecesOf = (block: Json): ReadonlyArray<Json> =>
  isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string" && isForeignBlock(block)
    ? textPieces(block["text"])
    : [block]

/** A text without its pictures, and the pictures at their places. */
const textPieces = (text: string): ReadonlyArray<Json> => {
  const pieces: Array<Json> = []
  let from = 0
  for (const match of text.matchAll(link)) {
    if (match.index > from) pieces.push({ type: "text", text: text.slice(from, match.index) })
    pieces.push(picture(match[1] ?? ""))
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push({ type: "text", text: text.slice(from) })
  return pieces
}

/** A picture of OpenRouter's `images`: a part of chat, or its address alone. */
const picture = (given: Json): JsonObject => {
  if (isJsonObject(given) && (given["image_url"] ?? undefined) !== undefined) return { ...given, type: "image_url" }
  return isJsonObject(given) && given["type"] !== undefined
    ? given
    : { type: "image_url", image_url: isJsonObject(given) ? given : { url: given } }
}

// Reads tools and tool choices as other dialects spell them, and gives them chat's own form.

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
    const customTool = isJsonObject(custom) ? custom : tool
    if (typeof customTool["name"] !== "string") return undefined
    customs.add(customTool["name"])
    return [functionTool(tool, { ...customFunction(customTool), name: customTool["name"] })]
  }
  // Anthropic's tools have no type, or `custom`.
  if (isNamed && (type === "function" || type === "custom" || (type ?? undefined) === undefined))
    return [functionTool(tool, functionFields(tool))]
  if (typeof type !== "string") return (type ?? undefined) === undefined ? googleTools(tool) : undefined
  const kind = hosted.get(type) ?? dated.find(([pattern]) => pattern.test(type))?.[1]
  if (kind === undefined || kind === type) return undefined
  const config = tool[type]
  return [
    {
      ...(tool["optional"] === undefined ? {} : { optional: tool["optional"] }),
      type: kind,
      [kind]: isJsonObject(config) ? config : tool
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
  const configs = Object.entries(tool).flatMap(([name, config]): ReadonlyArray<JsonObject> => {
    const kind = name === "file_search" ? name : hosted.get(name)
    if (kind !== undefined) return [{ type: kind, [kind]: isJsonObject(config) ? config : {} }]
    if ((name !== "functionDeclarations" && name !== "function_declarations") || !Array.isArray(config)) return []
    return config.flatMap((one: Json) => (isJsonObject(one) ? [functionTool({}, functionFields(one))] : []))
  })
  return configs.length === 0 ? undefined : configs
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
  const calledName = isJsonObject(custom) ? custom["name"] : name
  const namesOne = type === "tool" || type === "function" || type === "custom" || (type ?? undefined) === undefined
  return namesOne && typeof calledName === "string" ? named(calledName) : choice
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
