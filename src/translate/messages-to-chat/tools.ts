// The tools of a message as functions of the chat, Anthropic's own client tools among them, and the choice among them.
// It must not know turns. Source: Anthropic's pages on the bash, text editor and memory tools. Rules: D211, D212, Table 2.
import * as Result from "effect/Result"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { invalid } from "../shared/chat-request/paramReader.ts"
import type { RequestFacts } from "./facts.ts"

type Read<A> = Result.Result<A, BodyInvalid>

export interface ReadTools {
  readonly tools: ReadonlyArray<{ readonly tool: JsonObject; readonly path: string }>
  readonly ignored: ReadonlyArray<string>
}

/** The tools that the history mentions: by name those that a turn makes known, calls or takes away. */
export interface ToolMentions {
  readonly known: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
}

const search = /^web_search_\d+$/
const withoutEffect = /^(?:tool_search_tool_|advisor_)/
const searchOptions = ["allowed_domains", "blocked_domains", "user_location", "max_uses"] as const

const notTaken = (path: string, type: string): Result.Result<never, BodyInvalid> =>
  invalid(
    path,
    "unsupported_tool",
    `${path} is the tool ${JSON.stringify(type)}, which runs at Anthropic and is not there for this model; leave it out, or use a Claude model.`
  )

const functionTool = (tool: JsonObject, path: string): Read<JsonObject> => {
  const { description, input_schema: schema, name, strict } = tool
  if (typeof name !== "string" || name === "")
    return invalid(`${path}.name`, "missing_required_parameter", `${path}.name is missing.`)
  return Result.succeed({
    type: "function",
    function: {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: isJsonObject(schema) ? schema : { type: "object", properties: {} },
      ...(strict === true ? { strict } : {})
    }
  })
}

/** A search is served by Gemini: next to functions from the third generation on, which its pair decides. */
const searchTool = (
  tool: JsonObject,
  path: string,
  { family }: Pick<RequestFacts, "family">,
  isAlone: boolean,
  ignored: Array<string>
): Read<ReadonlyArray<JsonObject>> => {
  if (family === "gemini") {
    for (const name of searchOptions) if ((tool[name] ?? undefined) !== undefined) ignored.push(`${path}.${name}`)
    return Result.succeed([{ type: "web_search" }])
  }
  if (isAlone) return notTaken(path, String(tool["type"]))
  ignored.push(path)
  return Result.succeed([])
}

const isFunction = ({ input_schema: schema, type }: JsonObject): boolean =>
  type === undefined || type === null || type === "custom" || (schema !== undefined && type === "function")

export const readTools = (
  given: Json | undefined,
  mentions: ToolMentions,
  facts: Pick<RequestFacts, "family">
): Read<ReadTools> => {
  if (given === undefined || given === null) return Result.succeed({ tools: [], ignored: [] })
  if (!Array.isArray(given)) return invalid("tools", "invalid_type", "tools must be an array.")
  const ignored: Array<string> = []
  const tools: Array<ReadTools["tools"][number]> = []
  const searches = given.some((tool) => isJsonObject(tool) && String(tool["type"]).startsWith("tool_search_tool_"))
  for (const [index, tool] of given.entries()) {
    const path = `tools[${index}]`
    if (!isJsonObject(tool)) return invalid(path, "invalid_type", `${path} must be an object.`)
    const name = String(tool["name"])
    if (mentions.removed.has(name)) continue
    if (tool["defer_loading"] === true && !searches && !mentions.known.has(name)) continue
    const read = readTool(tool, path, facts, given.length === 1, ignored)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    for (const one of read.success) tools.push({ tool: one, path })
  }
  return Result.succeed({ tools, ignored })
}

const readTool = (
  tool: JsonObject,
  path: string,
  facts: Pick<RequestFacts, "family">,
  isAlone: boolean,
  ignored: Array<string>
): Read<ReadonlyArray<JsonObject>> => {
  if (isFunction(tool)) return Result.map(functionTool(tool, path), (one) => [one])
  const type = String(tool["type"])
  const builtIn = clientTool(type)
  if (builtIn !== undefined) return Result.succeed([{ type: "function", function: { ...builtIn } }])
  if (search.test(type)) return searchTool(tool, path, facts, isAlone, ignored)
  if (!withoutEffect.test(type)) return notTaken(path, type)
  ignored.push(path)
  return Result.succeed([])
}

const choices: ReadonlyMap<Json | undefined, string> = new Map([
  ["auto", "auto"],
  ["any", "required"],
  ["none", "none"]
])

/** `tool_choice` and `parallel_tool_calls` of the chat. */
export const readToolChoice = (given: Json | undefined): Read<JsonObject> => {
  if (given === undefined || given === null) return Result.succeed({})
  if (!isJsonObject(given)) return invalid("tool_choice", "invalid_type", "tool_choice must be an object.")
  const { disable_parallel_tool_use: alone, name, type } = given
  const parallel = alone === true ? { parallel_tool_calls: false } : {}
  const word = choices.get(type)
  if (word !== undefined) return Result.succeed({ tool_choice: word, ...parallel })
  return type === "tool" && typeof name === "string"
    ? Result.succeed({ tool_choice: { type: "function", function: { name } }, ...parallel })
    : invalid("tool_choice", "invalid_value", "tool_choice.type must be auto, any, tool with a name, or none.")
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
