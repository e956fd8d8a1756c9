// Inputs of the responses-to-chat pair other than the body, what the answer needs of the request, and ids, paths and counts.
// It must not know the clock, stores or keys: values and pure functions only. Rules: R609, R611, R612.
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../wire/openai/Chat.ts"
import type { Usage } from "../../wire/openai/ChatReply.ts"
import type { ResponseEcho, ResponseUsage } from "../../wire/openai/Responses.ts"
import type { Carrier, TurnPath } from "../shared/carrier.ts"

/** A turn of a stored conversation: what led to its response, what that answered, and what its items carry. */
export interface StoredTurn {
  readonly input: ReadonlyArray<JsonObject>
  readonly output: ReadonlyArray<JsonObject>
  readonly carrier: Carrier | undefined
}

/** An item that is meant by its id. */
export interface StoredItem {
  readonly item: JsonObject
  readonly carrier: Carrier | undefined
}

/** A prompt of the gateway, rendered. */
export interface RenderedPrompt {
  readonly messages: ReadonlyArray<ChatMessage>
  readonly parameters: JsonObject
  readonly model: string | undefined
}

export interface RequestFacts {
  /** `resp_` and 32 hex digits. */
  readonly id: string
  /** The chain that `previous_response_id` names, the oldest turn first. */
  readonly history: ReadonlyArray<StoredTurn>
  readonly stored: (itemId: string) => StoredItem | undefined
  readonly prompt: RenderedPrompt | undefined
  /** Opens what was sealed for this gateway key; undefined for anything else. */
  readonly unseal: (sealed: string) => string | undefined
  /** The first 32 hex digits of the SHA-256 of a text. */
  readonly digest: (text: string) => string
  /** Whether the operator keeps responses at all. */
  readonly keeps: boolean
  /** Whether the request refuses whatever would be ignored. */
  readonly rejects: boolean
}

/** The name a client gave a tool, where the chat has another form of it. */
export interface ToolName {
  readonly name: string
  readonly namespace: string | undefined
  readonly isCustom: boolean
}

/** What of an answer is shown. */
export interface Shown {
  readonly summaries: boolean
  readonly carriers: boolean
  readonly logprobs: boolean
  readonly sources: boolean
  readonly outputs: boolean
}

export interface Plan {
  readonly echo: ResponseEcho
  readonly shown: Shown
  /** By the name in the chat; those of plain functions are absent. */
  readonly names: ReadonlyMap<string, ToolName>
  /** The places of the chat's parts in the request. */
  readonly paths: ItemPaths
  /** Whether the response is to be kept. */
  readonly keep: boolean
  /** This turn's own input, references resolved, each item with an id. */
  readonly input: ReadonlyArray<JsonObject>
}

export interface ResponsesChat {
  readonly chat: ChatRequest
  /** Fields of the request that have no place in the chat, in the client's words. */
  readonly ignored: ReadonlyArray<string>
  readonly plan: Plan
}

export interface AnswerFacts {
  readonly id: string
  readonly createdSeconds: number
  readonly plan: Plan
  /** The backend that answers, `family/kind`. */
  readonly issuer: string
  readonly seal: (text: string) => string
  readonly digest: (text: string) => string
  /** The longest sealed text that is given to a client. */
  readonly carrierBytes: number
}

// Ids of responses and of their items: one number, so that an item leads to its response without an index.

const responseForm = /^resp_[0-9a-f]{32}$/
const itemForm = /^(?:msg|rs|fc|ctc|ws|ci|ig)_([0-9a-f]{32})[0-9a-f]{4}$/

/** The first position of input items that came without an id. */
export const inputPositions = 0x80_00

const digits = 4

/** `resp_` and the 32 hex digits of a request's own id. */
export const responseIdOf = (seed: string): string => `resp_${seed.replaceAll("-", "").toLowerCase()}`

export const isResponseId = (id: string): boolean => responseForm.test(id)

/** The number of a response, from its id. */
export const numberOf = (responseId: string): string => responseId.slice("resp_".length)

export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ws" | "ci" | "ig"

/** The id of the item at this position of a response. */
export const itemId = (prefix: ItemPrefix, responseId: string, position: number): string =>
  `${prefix}_${numberOf(responseId)}${position.toString(16).padStart(digits, "0")}`

/** The response an item of ours belongs to; undefined for an id of another maker. */
export const responseOfItem = (id: string): string | undefined => {
  const number = itemForm.exec(id)?.[1]
  return number === undefined ? undefined : `resp_${number}`
}

// Maps paths of the chat back to paths of the request, so that faults and ignored fields have the client's names.

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
  const field = fields.get(name)
  return field === undefined ? param : `${field}${inside}`
}

// The counts of a chat as the Responses API names them: always all of them.

export const usageOf = (usage: Usage): ResponseUsage => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: {
    cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cache_write_tokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0
  },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
  total_tokens: usage.total_tokens
})

const tiers: ReadonlySet<string> = new Set(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"])

/** A tier by a word of the published list; upstreams have words of their own. */
export const serviceTier = (...words: ReadonlyArray<string | undefined>): string =>
  words.find((word) => word !== undefined && tiers.has(word)) ?? "default"
