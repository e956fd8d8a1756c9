// The tools of a message as functions of the chat, Anthropic's own client tools among them, and the choice among them.
// It must not know turns. Source: Anthropic's pages on the bash, text editor and memory tools. Rules: D211, D212, Table 2.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { MessagesReader, RequestFacts } from "./facts.ts"

interface PlacedTool {
  readonly tool: JsonObject
  readonly path: string
}

/** The tools that the history mentions: by name those that a turn makes known, calls or takes away. */
export interface ToolMentions {
  readonly known: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
}

const search = /^web_search_\d+$/
const withoutEffect = /^(?:tool_search_tool_|advisor_)/
const searchOptions = ["allowed_domains", "blocked_domains", "user_location", "max_uses"] as const

const notTaken = (reader: MessagesReader, path: string, type: string): undefined =>
  reader.invalid(
    path,
    "unsupported_tool",
    `${path} is the tool ${JSON.stringify(type)}, which runs at Anthropic and is not there for this model; leave it out, or use a Claude model.`
  )

const functionTool = (reader: MessagesReader, { path, tool }: PlacedTool): JsonObject | undefined => {
  const { description, input_schema: schema, name, strict } = tool
  if (typeof name !== "string" || name === "")
    return reader.invalid(`${path}.name`, "missing_required_parameter", `${path}.name is missing.`)
  return {
    type: "function",
    function: {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: isJsonObject(schema) ? schema : { type: "object", properties: {} },
      ...(strict === true ? { strict } : {})
    }
  }
}

/** A search is served by Gemini: next to functions from the third generation on, which its pair decides. */
const searchTool = (
  reader: MessagesReader,
  { path, tool }: PlacedTool,
  { family }: Pick<RequestFacts, "family">,
  isAlone: boolean
): JsonObject | undefined => {
  if (family === "gemini") {
    for (const name of searchOptions)
      if ((tool[name] ?? undefined) !== undefined) reader.ignored.push(`${path}.${name}`)
    return { type: "web_search" }
  }
  if (isAlone) return notTaken(reader, path, String(tool["type"]))
  reader.ignored.push(path)
  return undefined
}

const isFunction = ({ input_schema: schema, type }: JsonObject): boolean =>
  type === undefined || type === null || type === "custom" || (schema !== undefined && type === "function")

export const readTools = (
  reader: MessagesReader,
  given: Json | undefined,
  mentions: ToolMentions,
  facts: Pick<RequestFacts, "family">
): ReadonlyArray<PlacedTool> => {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) {
    reader.invalid("tools", "invalid_type", "tools must be an array.")
    return []
  }
  const searches = given.some((tool) => isJsonObject(tool) && String(tool["type"]).startsWith("tool_search_tool_"))
  return reader.each(given, (tool, index): PlacedTool | undefined => {
    const path = `tools[${index}]`
    if (!isJsonObject(tool)) return reader.invalid(path, "invalid_type", `${path} must be an object.`)
    const name = String(tool["name"])
    if (mentions.removed.has(name)) return undefined
    if (tool["defer_loading"] === true && !searches && !mentions.known.has(name)) return undefined
    const read = readTool(reader, { tool, path }, facts, given.length === 1)
    return read === undefined ? undefined : { tool: read, path }
  })
}

/** The tool of the chat; undefined for a tool that has no effect. */
const readTool = (
  reader: MessagesReader,
  placed: PlacedTool,
  facts: Pick<RequestFacts, "family">,
  isAlone: boolean
): JsonObject | undefined => {
  const { path, tool } = placed
  if (isFunction(tool)) return functionTool(reader, placed)
  const type = String(tool["type"])
  const builtIn = clientTool(type)
  if (builtIn !== undefined) return { type: "function", function: { ...builtIn } }
  if (search.test(type)) return searchTool(reader, placed, facts, isAlone)
  if (!withoutEffect.test(type)) return notTaken(reader, path, type)
  reader.ignored.push(path)
  return undefined
}

const choices: ReadonlyMap<Json | undefined, string> = new Map([
  ["auto", "auto"],
  ["any", "required"],
  ["none", "none"]
])

/** `tool_choice` and `parallel_tool_calls` of the chat. */
export const readToolChoice = (reader: MessagesReader, given: Json | undefined): JsonObject | undefined => {
  if (given === undefined || given === null) return undefined
  if (!isJsonObject(given)) return reader.invalid("tool_choice", "invalid_type", "tool_choice must be an object.")
  const { disable_parallel_tool_use: alone, name, type } = given
  const parallel = alone === true ? { parallel_tool_calls: false } : {}
  const word = choices.get(type)
  if (word !== undefined) return { tool_choice: word, ...parallel }
  if (type === "tool" && typeof name === "string")
    return { tool_choice: { type: "function", function: { name } }, ...parallel }
  return reader.invalid(
    "tool_choice",
    "invalid_value",
    "tool_choice.type must be auto, any, tool with a name, or none."
  )
}

// Anthropic's tools that the client runs, as functions: any model can call them.

interface ClientTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

const text = (description: string): JsonObject => ({ type: "string", description })
const line = (description: string): JsonObject => ({ type: "integer", description })
const oneOf = (...words: ReadonlyArray<string>): JsonObject => ({
  type: "string",
  enum: words,
  description: "The command to run."
})
const range: JsonObject = {
  type: "array",
  items: { type: "integer" },
  description: "First and last line to view, counted from 1; -1 as the last line is the end of the file."
}

const object = (properties: JsonObject, ...required: ReadonlyArray<string>): JsonObject => ({
  type: "object",
  properties,
  required
})

const bash: ClientTool = {
  name: "bash",
  description: "Runs a command in a bash session that stays open between calls. Set restart to start a new session.",
  parameters: object({
    command: text("The command to run; required unless restart is true."),
    restart: { type: "boolean", description: "True starts a new session." }
  })
}

const edits = {
  path: text("Path of the file or folder."),
  view_range: range,
  file_text: text("Text of the new file; required by create."),
  old_str: text("Text to replace, which must occur exactly once; required by str_replace."),
  new_str: text("The new text of str_replace, and the text of insert in older versions."),
  insert_line: line("Line after which insert puts the text; 0 is the beginning of the file."),
  insert_text: text("Text to insert; required by insert.")
} satisfies JsonObject

const editor = (name: string, ...older: ReadonlyArray<string>): ClientTool => ({
  name,
  description: "Views, creates and edits text files.",
  parameters: object(
    { command: oneOf("view", "create", "str_replace", "insert", ...older), ...edits },
    "command",
    "path"
  )
})

const memory: ClientTool = {
  name: "memory",
  description: "Keeps notes in files below /memories, which stay between conversations.",
  parameters: object(
    {
      command: oneOf("view", "create", "str_replace", "insert", "delete", "rename"),
      ...edits,
      old_path: text("Path to rename; required by rename."),
      new_path: text("The new path; required by rename.")
    },
    "command"
  )
}

const tools: ReadonlyArray<readonly [RegExp, ClientTool]> = [
  [/^bash_\d+$/, bash],
  [/^text_editor_(?:20241022|20250124)$/, editor("str_replace_editor", "undo_edit")],
  [/^text_editor_\d+$/, editor("str_replace_based_edit_tool")],
  [/^memory_\d+$/, memory]
]

/** The function of a tool that the client runs; undefined for any other type. */
const clientTool = (type: string): ClientTool | undefined => tools.find(([form]) => form.test(type))?.[1]
