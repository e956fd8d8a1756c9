// The body of an Anthropic message in Anthropic's own words, where a client mixed OpenAI's into it.
// Must not change a byte of a body without such words. Rule: W39.
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import { editTopLevel, type TopLevelEdits } from "../domain/text/topMembers.ts"
import { chatPart } from "./shared/chat-request/partSpellings.ts"
import { parseArguments } from "./shared/chat-request/toolCalls.ts"

interface Spelled {
  readonly body: JsonObject
  readonly bytes: Uint8Array
}

/** Undefined for a body that has Anthropic's own words, as nearly all have. */
export const messagesBody = (body: JsonObject, bytes: Uint8Array): Spelled | undefined => {
  const changes = { ...changedValues(body), ...changedMessages(body), ...changedTools(body), ...changedLimits(body) }
  const names = Object.keys(changes)
  if (names.length === 0) return undefined
  const edits: TopLevelEdits = Object.fromEntries(
    names.map((name) => [name, changes[name] === undefined ? undefined : JSON.stringify(changes[name])])
  )
  return { body: { ...body, ...changes }, bytes: editTopLevel(bytes, edits) }
}

const isThere = (value: Json | undefined): boolean => value !== undefined && value !== null

const numbers: ReadonlySet<string> = new Set(["max_tokens", "temperature", "top_p", "top_k"])
const numeric = /^\s*-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

const numberOf = (value: Json | undefined): Json | undefined =>
  typeof value === "string" && numeric.test(value) ? Number(value) : value

/** A null is a parameter that is absent, and a numeric text is a number (W2, W4). */
const changedValues = (body: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(body).flatMap(([name, value]): ReadonlyArray<readonly [string, Json | undefined]> => {
      if (value === null) return [[name, undefined]]
      return numbers.has(name) && numberOf(value) !== value ? [[name, numberOf(value)]] : []
    })
  )

const changedLimits = (body: JsonObject): JsonObject => {
  const { max_completion_tokens: most, max_tokens: usual, stop, stop_sequences: stops } = body
  return {
    ...(isThere(most)
      ? { max_completion_tokens: undefined, ...(isThere(usual) ? {} : { max_tokens: numberOf(most) }) }
      : {}),
    ...(isThere(stop)
      ? { stop: undefined, ...(isThere(stops) ? {} : { stop_sequences: Array.isArray(stop) ? stop : [stop ?? ""] }) }
      : {})
  }
}

const isFunction = (tool: Json): boolean =>
  isJsonObject(tool) && (isJsonObject(tool["function"]) || tool["type"] === "function")

const changedTools = ({ parallel_tool_calls: parallel, tool_choice: choice, tools }: JsonObject): JsonObject => {
  const converted = claudeChoice(choice, parallel === false)
  return {
    ...(Array.isArray(tools) && tools.some(isFunction) ? { tools: tools.map(claudeTool) } : {}),
    ...(converted === choice ? {} : { tool_choice: converted }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: undefined })
  }
}

const claudeTool = (tool: Json): Json => {
  if (!isJsonObject(tool) || !isFunction(tool)) return tool
  const { cache_control: mark, function: nested } = tool
  const { description, name, parameters } = isJsonObject(nested) ? nested : tool
  return {
    name,
    ...(isThere(description) ? { description } : {}),
    input_schema: { type: "object", ...(isJsonObject(parameters) ? parameters : {}) },
    ...(isThere(mark) ? { cache_control: mark } : {})
  }
}

const choiceTypes: ReadonlyMap<Json | undefined, string> = new Map([
  ["auto", "auto"],
  ["none", "none"],
  ["any", "any"],
  ["required", "any"]
])

const claudeChoice = (choice: Json | undefined, alone: boolean): Json | undefined => {
  const one = alone ? { disable_parallel_tool_use: true } : {}
  const type = choiceTypes.get(choice)
  if (type !== undefined) return { type, ...(type === "none" ? {} : one) }
  if (!isJsonObject(choice)) return choice
  const { function: inner, name } = choice
  return choice["type"] === "function"
    ? { type: "tool", name: isJsonObject(inner) ? inner["name"] : name, ...one }
    : choice
}

const changedMessages = ({ messages, system }: JsonObject): JsonObject => {
  if (!Array.isArray(messages) || !messages.some(isForeign)) return {}
  const leading = messages.findIndex((message) => !isSystem(message))
  const first = leading < 0 ? messages.length : leading
  const systems = [...blocksOf(system ?? ""), ...messages.slice(0, first).flatMap((one) => blocksOf(contentOf(one)))]
  return {
    messages: joined(messages.slice(first).map(claudeMessage)),
    ...(first === 0 ? {} : { system: systems })
  }
}

const contentOf = (message: Json): Json => (isJsonObject(message) ? (message["content"] ?? "") : "")

const isSystem = (message: Json): boolean =>
  isJsonObject(message) && (message["role"] === "system" || message["role"] === "developer")

const foreignParts: ReadonlySet<Json | undefined> = new Set(["image_url", "file", "input_text", "input_image"])
const isForeignPart = (part: Json): boolean => isJsonObject(part) && foreignParts.has(part["type"])

const isForeign = (message: Json, index: number): boolean => {
  if (!isJsonObject(message)) return false
  const { content, role, tool_calls: calls } = message
  return (
    role === "tool" ||
    (index === 0 && isSystem(message)) ||
    Array.isArray(calls) ||
    (Array.isArray(content) && content.some(isForeignPart))
  )
}

const blocksOf = (content: Json): ReadonlyArray<Json> => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  return Array.isArray(content) ? content.map(claudePart) : []
}

const claudeMessage = (message: Json): Json => {
  if (!isJsonObject(message)) return message
  const { cache_control: mark, content = null, role, tool_call_id: id, tool_calls: calls } = message
  const marked = isThere(mark) ? { cache_control: mark } : {}
  if (role === "tool")
    return {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: id,
          content: typeof content === "string" ? content : blocksOf(content),
          ...marked
        }
      ]
    }
  if (Array.isArray(calls)) return { role, content: [...blocksOf(content), ...calls.flatMap(claudeCall)] }
  return Array.isArray(content) ? { ...message, content: content.map(claudePart) } : message
}

const claudeCall = (call: Json): ReadonlyArray<Json> => {
  const called = isJsonObject(call) ? call["function"] : undefined
  if (!isJsonObject(call) || !isJsonObject(called)) return []
  const { arguments: text, name } = called
  return [{ type: "tool_use", id: call["id"], name, input: parseArguments(text).args }]
}

/** Results of one turn are one message, as Anthropic asks. */
const joined = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const out: Array<Json> = []
  for (const message of messages) {
    const last = out.at(-1)
    if (isResults(message) && isResults(last))
      out[out.length - 1] = { ...last, content: [...last.content, ...message.content] }
    else out.push(message)
  }
  return out
}

type Results = JsonObject & { readonly content: ReadonlyArray<Json> }

const isResults = (message: Json | undefined): message is Results =>
  isJsonObject(message) &&
  message["role"] === "user" &&
  Array.isArray(message["content"]) &&
  message["content"].every((block: Json) => isJsonObject(block) && block["type"] === "tool_result")

/** Text, pictures and documents; any other part stays as it is. */
const claudePart = (given: Json): Json => {
  if (!isJsonObject(given) || !isForeignPart(given)) return given
  const part = chatPart(given)
  const mark = isThere(part["cache_control"]) ? { cache_control: part["cache_control"] } : {}
  if (part["type"] === "text") return { type: "text", text: part["text"], ...mark }
  const { file, image_url: image } = part
  const url = isJsonObject(image) ? image["url"] : image
  const address = isJsonObject(file) ? (file["file_data"] ?? file["file_url"]) : url
  if (typeof address !== "string") return given
  return { type: isJsonObject(file) ? "document" : "image", source: sourceOf(address), ...mark }
}

const sourceOf = (address: string): JsonObject => {
  const [, type = "", data] = /^data:([^;,]*)[^,]{0,64},([^]*)$/.exec(address) ?? []
  return data === undefined ? { type: "url", url: address } : { type: "base64", media_type: type, data }
}
