// Anthropic's tools that the client runs, as functions: any model can call them.
// It must not know requests. Source: Anthropic's pages on the bash, text editor and memory tools. Rule: D212.
import type { JsonObject } from "../../../domain/text/json.ts"

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
export const clientTool = (type: string): ClientTool | undefined => tools.find(([form]) => form.test(type))?.[1]
