// Inputs of the messages-to-chat pair other than the body, its reader, what the answer needs of the request, and the paths back to it.
// It must not know the clock, stores or keys: values and pure functions only. Rule: D501.
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { Reader } from "../../domain/Reader.ts"
import type { CarrierSealing } from "../../domain/RequestContext.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { TurnPath } from "../shared/carrier.ts"
import type { Adjustment, TranslateContext } from "../Translator.ts"

/** Reads one request. */
export class MessagesReader extends Reader<BodyInvalid> {
  /** Paths of what has no effect. */
  readonly ignored: Array<string> = []
}

export interface RequestFacts {
  /** The family that serves the chat. */
  readonly family: TranslateContext["target"]["family"]
  /** Most tokens of the model's answers; undefined where it is not known. */
  readonly maxOutput: number | undefined
  readonly unseal: CarrierSealing["unseal"]
  readonly digest: CarrierSealing["digest"]
}

/** What of the model's thinking a client gets. */
export interface Shown {
  /** The request asks for thinking: each run of thoughts is a block with a carrier. */
  readonly thinking: boolean
  /** The texts of thoughts are shown. */
  readonly texts: boolean
}

export interface Plan {
  readonly paths: ChatPaths
  readonly shown: Shown
  /** Stop sequences of the request. */
  readonly stops: ReadonlyArray<string>
  /** Ids of the calls of the history: an answer repeats none of them. */
  readonly taken: ReadonlySet<string>
}

export interface MessagesChat {
  readonly chat: ChatRequest
  /** Fields of the request that have no place in the chat, in the client's words. */
  readonly ignored: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
  readonly plan: Plan
}

export interface AnswerFacts {
  /** `msg_` and 32 hex digits. */
  readonly id: string
  readonly plan: Pick<Plan, "shown" | "stops" | "taken">
  /** The backend that answers, `family/kind`. */
  readonly issuer: string
  /** The estimate of the prompt, for the first event. */
  readonly inputTokens: number
  readonly seal: CarrierSealing["seal"]
  readonly digest: CarrierSealing["digest"]
  /** The longest sealed text that is given to a client. */
  readonly carrierBytes: number
}

// Maps paths of the chat back to paths of the message, so that faults and ignored fields have the client's names.

interface ChatPaths {
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
