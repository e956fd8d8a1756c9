// Maps paths of the chat back to paths of the request, so that faults and ignored fields have the client's names.
// It must not know why something is named. Rules: R611, R612.
import type { TurnPath } from "../../shared/carrier/assistantTurn.ts"

/** Of one message: its item (`input[3]`, `instructions`, `prompt`, or `previous_response_id` for loaded history). */
export type MessagePath = TurnPath

export interface ItemPaths {
  readonly messages: ReadonlyArray<MessagePath>
  /** Of each tool of the chat: `tools[2]`, or `tools[2].tools[0]` inside a namespace. */
  readonly tools: ReadonlyArray<string>
  /** The parameter that `user` and `thinking` of the chat came from. */
  readonly user: string
  readonly thinking: string
}

const whole: ReadonlySet<string> = new Set(["previous_response_id", "instructions", "prompt"])

const fields: ReadonlyMap<string, string> = new Map([
  ["max_completion_tokens", "max_output_tokens"],
  ["max_tokens", "max_output_tokens"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["messages", "input"]
])

/** Inside a part: the chat nests what an input item has flat. */
const inPart = (rest: string): string =>
  rest
    .replace(/^\.image_url(?:\.url)?/, ".image_url")
    .replace(/^\.file\./, ".")
    .replace(/^\.file$/, "")

const messagePath = (paths: ItemPaths, index: number, rest: string): string => {
  const message = paths.messages[index]
  if (message === undefined) return "input"
  const [, call = "", inCall = ""] = /^\.tool_calls\[(\d+)\](.*)$/.exec(rest) ?? []
  const at = call === "" ? message.at : (message.calls[Number(call)] ?? message.at)
  if (whole.has(at)) return at
  if (call !== "") return `${at}${inCall.replace(/^\.function\b/, "").replace(/^\.id\b/, ".call_id")}`
  if (rest.startsWith(".tool_call_id")) return `${at}.call_id`
  const [, block = ""] = /^\.content_(?:parts|blocks)\[(\d+)\]/.exec(rest) ?? []
  if (block !== "") return message.parts[Number(block)] ?? at
  const [, part = "", inside = ""] = /^\.content(\[\d+\])?(.*)$/.exec(rest) ?? []
  return rest.startsWith(".content") ? `${at}.${message.list}${part}${inPart(inside)}` : `${at}${rest}`
}

const toolPath = (paths: ItemPaths, index: number, rest: string): string =>
  `${paths.tools[index] ?? "tools"}${rest.replace(/^\.function\b/, "").replace(".response_schema", ".output_schema")}`

/** The request's word for a parameter of the chat. */
export const paramOf = (paths: ItemPaths, param: string): string => {
  const [, list = "", index = "", rest = ""] = /^(messages|tools)\[(\d+)\](.*)$/.exec(param) ?? []
  if (list === "messages") return messagePath(paths, Number(index), rest)
  if (list === "tools") return toolPath(paths, Number(index), rest)
  const end = param.search(/[.[]/)
  const name = end < 0 ? param : param.slice(0, end)
  const inside = param.slice(name.length)
  if (name === "user") return paths.user
  if (name === "thinking" && paths.thinking !== "thinking") return paths.thinking
  if (name === "response_format") return `text.format${inside.replace(".json_schema", "")}`
  if (name === "tool_choice") return `tool_choice${inside.replace(".allowed_tools", "").replace(/\.function\b/, "")}`
  const own = fields.get(name)
  return own === undefined ? param : `${own}${inside}`
}
