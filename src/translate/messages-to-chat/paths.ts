// Maps paths of the chat back to paths of the message, so that faults and ignored fields have the client's names.
// It must not know why something is named. Rule: D501.
import type { TurnPath } from "../shared/carrier/assistantTurn.ts"

export interface ChatPaths {
  readonly messages: ReadonlyArray<TurnPath>
  /** Of each tool of the chat. */
  readonly tools: ReadonlyArray<string>
  /** The parameters that effort and format of the chat came from. */
  readonly effort: string
  readonly format: string
}

const fields: ReadonlyMap<string, string> = new Map([
  ["max_completion_tokens", "max_tokens"],
  ["stop", "stop_sequences"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"]
])

/** The chat nests what a block has in its source. */
const inPart = (rest: string): string => rest.replace(/^\.(?:image_url|file)\b.*$/, ".source")

const messagePath = ({ at, calls, parts }: TurnPath, rest: string): string => {
  const [, call = "", inCall = ""] = /^\.tool_calls\[(\d+)\](.*)$/.exec(rest) ?? []
  if (call !== "")
    return `${calls[Number(call)] ?? at}${inCall.replace(/^\.function\b/, "").replace(/^\.arguments/, ".input")}`
  if (rest.startsWith(".tool_call_id")) return `${at}.tool_use_id`
  const [, part = "", inside = ""] = /^\.content(?:_parts|_blocks)?\[(\d+)\](.*)$/.exec(rest) ?? []
  if (part !== "") return `${parts[Number(part)] ?? at}${inPart(inside)}`
  return rest.startsWith(".content") ? at : `${at}${rest}`
}

/** The message's word for a parameter of the chat. */
export const paramOf = ({ effort, format, messages, tools }: ChatPaths, param: string): string => {
  const [, list = "", index = "", rest = ""] = /^(messages|tools)\[(\d+)\](.*)$/.exec(param) ?? []
  if (list === "messages") {
    const message = messages[Number(index)]
    return message === undefined ? "messages" : messagePath(message, rest)
  }
  if (list === "tools")
    return `${tools[Number(index)] ?? "tools"}${rest.replace(/^\.function\b/, "").replace(/^\.parameters/, ".input_schema")}`
  const end = param.search(/[.[]/)
  const name = end < 0 ? param : param.slice(0, end)
  if (name === "reasoning_effort") return effort
  if (name === "response_format") return format
  if (name === "tool_choice") return "tool_choice"
  return `${fields.get(name) ?? name}${param.slice(name.length)}`
}
