// Reads the messages of a chat request as turns: checks their shapes, reads tool calls, and joins every tool result to its call.
// Must not depend on a provider.
import * as Result from "effect/Result"
import { readEach } from "../../../domain/faults.ts"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { defaultLimits } from "../../../domain/Limits.ts"
import { Reader } from "../../../domain/Reader.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Adjustment } from "../../Translator.ts"
import { normaliseBase64 } from "../media/base64.ts"
import { invalid } from "./paramReader.ts"
import {
  type CacheControl,
  cacheControlOf,
  joinTexts,
  readContent,
  readPartList,
  textPart,
  type TurnPart
} from "./readParts.ts"
import { historyAdjusted, missingResult } from "./repairHistory.ts"
import { parseArguments } from "./toolCalls.ts"

/** The content of a tool message; `cacheControl` marks the message as a whole. */
export interface ToolResult {
  readonly parts: ReadonlyArray<TurnPart>
  readonly cacheControl: CacheControl
  /** The tool failed, and its result is the error (D205). */
  readonly isError?: boolean
}

/** A call of a turn; `result` is undefined while the call has no tool message. */
export interface TurnCall extends ReadCall {
  readonly result: ToolResult | undefined
}

/** Placeholder for a missing result in the middle of a conversation: upstreams require a result for every call. */
export const noResult: ToolResult = {
  parts: [textPart(missingResult)],
  cacheControl: undefined
}

export type Turn =
  | { readonly _tag: "System"; readonly parts: ReadonlyArray<TurnPart> }
  | { readonly _tag: "User"; readonly parts: ReadonlyArray<TurnPart> }
  /** `isLast`: only system messages follow, so calls without a result are still in progress. */
  | {
      readonly _tag: "Assistant"
      readonly parts: ReadonlyArray<TurnPart>
      readonly calls: ReadonlyArray<TurnCall>
      readonly isLast: boolean
    }

type Read<A> = Result.Result<A, RequestFault>

interface OpenCall {
  readonly call: ReadCall
  result: { readonly parts: Array<TurnPart>; cacheControl: CacheControl; isError?: boolean } | undefined
}
interface OpenTurn {
  readonly parts: ReadonlyArray<TurnPart>
  readonly calls: ReadonlyArray<OpenCall>
  readonly index: number
}
type Draft = Turn | OpenTurn

/** Calls of one turn with the same id; those before `answered` have a result. */
interface SameId {
  readonly calls: Array<OpenCall>
  answered: number
}

/** Index of the calls read so far; finding a call does not walk back over the conversation. */
interface OpenCalls {
  /** By id, from the nearest turn that contains the id. */
  readonly byId: Map<string, SameId>
  /** By name, nearest call last; calls with a result are removed during the search. */
  readonly byName: Map<string, Array<OpenCall>>
  readonly withoutId: Array<OpenCall>
}

/** Reads all messages. A result moves to its call from any position; system messages keep their position. */
export const readMessages = (
  messages: ChatRequest["messages"],
  limits: { readonly messages: number }
): Read<ReadonlyArray<Turn>> => {
  if (messages.length === 0) return invalid("messages", "empty_array", "messages needs at least one message.")
  if (messages.length > limits.messages)
    return invalid("messages", "array_too_long", `messages holds more than ${limits.messages} messages.`)
  const open: OpenCalls = { byId: new Map(), byName: new Map(), withoutId: [] }
  const reader = new Reader()
  const drafts = reader.each(messages, (message, index) => {
    const draft = reader.take(readMessage(message, index, open))
    if (draft !== undefined && !("_tag" in draft)) registerCalls(draft.calls, open)
    return draft
  })
  if (reader.fault !== undefined) return reader.result([])
  const last = messages.findLastIndex(({ role }) => role !== "system" && role !== "developer")
  return reader.result(drafts.map((draft) => ("_tag" in draft ? draft : closeTurn(draft, last))))
}

/** Names calls whose arguments were repaired. */
export const argumentsAdjusted = (turns: ReadonlyArray<Turn>): ReadonlyArray<Adjustment> =>
  turns.some((turn) => turn._tag === "Assistant" && turn.calls.some(({ isRepaired }) => isRepaired === true))
    ? [historyAdjusted("arguments")]
    : []

/** Separates system turns from the conversation. A request of system turns alone uses the last one as the user turn. */
export const withoutSystem = (
  turns: ReadonlyArray<Turn>
): { readonly system: ReadonlyArray<Turn>; readonly talk: ReadonlyArray<Turn> } => {
  const system = turns.filter((turn) => turn._tag === "System")
  const talk = turns.filter((turn) => turn._tag !== "System")
  const last = system.at(-1)
  return talk.length > 0 || last === undefined
    ? { system, talk }
    : { system: system.slice(0, -1), talk: [{ _tag: "User", parts: last.parts }] }
}

const closeTurn = ({ parts, calls, index }: OpenTurn, last: number): Turn => ({
  _tag: "Assistant",
  parts,
  calls: calls.map(({ call, result }) => ({ ...call, result })),
  isLast: index === last
})

/** Most messages are a text of the user or the system, which is read without its path. */
const readPlain = ({ content, role }: ChatMessage): Turn | undefined => {
  if (typeof content !== "string" || !content.isWellFormed()) return undefined
  if (role === "user") return { _tag: "User", parts: [textPart(content)] }
  return role === "system" || role === "developer" ? { _tag: "System", parts: [textPart(content)] } : undefined
}

const readMessage = (message: ChatMessage, index: number, open: OpenCalls): Read<Draft | undefined> => {
  const plain = isJsonObject(message) ? readPlain(message) : undefined
  if (plain !== undefined) return Result.succeed(plain)
  const path = `messages[${index}]`
  if (!isJsonObject(message)) return invalid(path, "invalid_type", "A message must be an object.")
  switch (message.role) {
    case "system":
    case "developer":
      return Result.map(readContent(message.content, "system", `${path}.content`), (parts): Draft => ({
        _tag: "System",
        parts
      }))
    case "user":
      return readUser(message.content, path)
    case "assistant":
      return readAssistant(message, index)
    case "tool":
      return Result.flatMap(findById(message.tool_call_id, path, open), (call) => attachResult(call, message, path))
    case "function":
      return Result.flatMap(findByName(message.name, path, open), (call) => attachResult(call, message, path))
    default:
      return invalid(`${path}.role`, "invalid_value", "role must be one of system, developer, user, assistant, tool.")
  }
}

const readUser = (content: unknown, path: string): Read<Draft> =>
  Result.map(readContent(content, "user", `${path}.content`), (parts) => ({ _tag: "User", parts }))

const readAssistant = (message: ChatMessage, index: number): Read<Draft> => {
  const path = `messages[${index}]`
  return Result.flatMap(assistantParts(message, path), (parts) => {
    const refusal = typeof message.refusal === "string" && message.refusal !== "" ? [textPart(message.refusal)] : []
    return Result.map(readCalls(message, index), (calls) => ({
      parts: [...parts, ...refusal],
      calls: calls.map((call) => ({ call, result: undefined })),
      index
    }))
  })
}

const isText = (part: TurnPart): boolean => part._tag === "Text"

/**
 * Precedence of an assistant message's forms: `content_parts` (may hold images), `content_blocks`, `content`. Blocks
 * are skipped when their text differs from `content`: the client edited the text.
 */
const assistantParts = (message: ChatMessage, path: string): Read<ReadonlyArray<TurnPart>> => {
  const given = message.content_parts
  if (Array.isArray(given) && given.length > 0) return readPartList(given, "assistant", `${path}.content_parts`)
  return Result.flatMap(
    readContent(message.content, "assistant", `${path}.content`),
    (content): Read<ReadonlyArray<TurnPart>> => {
      const blocks = message.content_blocks
      if (!Array.isArray(blocks) || blocks.length === 0) return Result.succeed(content)
      return Result.map(readPartList(blocks, "assistant", `${path}.content_blocks`), (read) => {
        const text = joinTexts(content)
        return content.every(isText) && (text === "" || joinTexts(read) === text) ? read : content
      })
    }
  )
}

const registerCalls = (calls: ReadonlyArray<OpenCall>, { byId, byName, withoutId }: OpenCalls): void => {
  const openById = new Map<string, Array<OpenCall>>()
  for (const open of calls) {
    if (open.call.idMissingAt === undefined) appendCall(openById, open.call.id, open)
    else withoutId.push(open)
  }
  for (const [id, some] of openById) byId.set(id, { calls: some, answered: 0 })
  // The list is a stack: the first call of a turn is answered first, so it goes on top.
  for (const open of calls.toReversed()) appendCall(byName, open.call.name, open)
}

const appendCall = (lists: Map<string, Array<OpenCall>>, key: string, open: OpenCall): void => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [open])
  else list.push(open)
}

/** Finds the call in the nearest earlier turn that contains the id; a call without a result comes first. */
const findById = (id: unknown, path: string, { byId, withoutId }: OpenCalls): Read<OpenCall> => {
  if (typeof id !== "string" || id === "") {
    return invalid(
      `${path}.tool_call_id`,
      "missing_required_parameter",
      "A tool message needs the tool_call_id it answers."
    )
  }
  const waiting = byId.get(id)
  while (waiting?.calls[waiting.answered]?.result !== undefined) waiting.answered++
  const answeredCall = waiting?.calls[waiting.answered] ?? waiting?.calls[0]
  if (answeredCall !== undefined) return Result.succeed(answeredCall)
  const meant = withoutId.findLast(({ result }) => result === undefined)
  return meant?.call.idMissingAt === undefined
    ? invalid(
        `${path}.tool_call_id`,
        "unknown_tool_call_id",
        "No earlier assistant message holds a tool call with this id."
      )
    : invalid(meant.call.idMissingAt, "invalid_value", "A tool call that a tool message answers needs an id.")
}

/** A legacy result carries the function's name only: it answers the nearest earlier open call of that name. */
const findByName = (name: unknown, path: string, { byName }: OpenCalls): Read<OpenCall> => {
  const calls = typeof name === "string" ? byName.get(name) : undefined
  while (calls?.at(-1)?.result !== undefined) calls.pop()
  const open = calls?.at(-1)
  return open === undefined
    ? invalid(`${path}.name`, "unknown_tool_call_id", "No earlier assistant message calls a function of this name.")
    : Result.succeed(open)
}

/** Mutates the drafts of this reading only; the client's messages stay unchanged. */
const attachResult = (open: OpenCall, message: ChatMessage, path: string): Read<undefined> =>
  Result.map(readContent(message.content, "tool", `${path}.content`), (parts) => {
    const messageMark = cacheControlOf(message)
    open.result ??= { parts: [], cacheControl: messageMark }
    for (const part of parts) open.result.parts.push(part)
    open.result.cacheControl = messageMark ?? open.result.cacheControl
    if (message["is_error"] === true) open.result.isError = true
    return undefined
  })

// Reads the tool calls of an assistant message: ids, names, arguments, thought signatures.

interface ReadCall {
  readonly id: string
  /** The path of the missing id when the gateway generated `id`; no tool message can refer to such a call. */
  readonly idMissingAt: string | undefined
  readonly name: string
  readonly args: JsonObject
  /** The arguments came as another text than that of an object. */
  readonly isRepaired?: true
  /** The signature the client sent back, read from any accepted spelling. */
  readonly signature: string | undefined
  /** The backend that made it, if the client names one. */
  readonly issuer?: string | undefined
}

/** Bound on the calls of one turn; models make fewer. */
const maxCalls = defaultLimits.tools

/** Reads `tool_calls`, or the legacy `function_call`. */
const readCalls = (message: ChatMessage, index: number): Read<ReadonlyArray<ReadCall>> => {
  const path = `messages[${index}].tool_calls`
  const given = message.tool_calls
  if (given === undefined || given === null) return readLegacy(message.function_call, index)
  if (!Array.isArray(given)) return invalid(path, "invalid_value", "tool_calls must be an array.")
  if (given.length > maxCalls) return invalid(path, "invalid_value", `tool_calls holds more than ${maxCalls} calls.`)
  return readEach(given, (item, position) => readCall(item, position, `${path}[${position}]`))
}

const readCall = (item: unknown, position: number, path: string): Read<ReadCall> => {
  const called = isJsonObject(item) ? item["function"] : undefined
  if (!isJsonObject(item) || !isJsonObject(called))
    return invalid(`${path}.function`, "invalid_value", "A tool call needs function, an object.")
  const id = item["id"] ?? ""
  if (typeof id !== "string") return invalid(`${path}.id`, "invalid_value", "The id of a tool call must be a string.")
  const named = id === "" ? { id: `call-${position}`, idMissingAt: `${path}.id` } : { id, idMissingAt: undefined }
  const { issuer } = item
  return Result.map(readFunction(called, `${path}.function`), (read) => ({
    ...named,
    ...read,
    signature: readSignature(item, called),
    ...(typeof issuer === "string" ? { issuer } : {})
  }))
}

type Called = Pick<ReadCall, "name" | "args" | "isRepaired">

const readFunction = (called: JsonObject, path: string): Read<Called> => {
  const { name } = called
  if (typeof name !== "string" || name === "")
    return invalid(`${path}.name`, "invalid_value", "A tool call needs the name of its function.")
  const { args, isRepaired } = parseArguments(called["arguments"])
  return Result.succeed({ name, args, ...(isRepaired ? { isRepaired } : {}) })
}

const inside = (value: Json | undefined, ...keys: ReadonlyArray<string>): Json | undefined =>
  keys.reduce<Json | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), value)

/** Clients send a signature in one of four places; the first non-empty place is used. One that is no base64 is none. */
const readSignature = (item: JsonObject, called: JsonObject): string | undefined => {
  const spellings: ReadonlyArray<Json | undefined> = [
    called["thought_signature"],
    inside(item, "extra_content", "google", "thought_signature"),
    inside(item, "extra_content", "vertex", "thought_signature"),
    item["thought_signature"]
  ]
  const value = spellings.find((one) => one !== undefined && one !== null && one !== "")
  if (typeof value !== "string") return undefined
  const base64 = normaliseBase64(value)
  return base64 === undefined || /\s/.test(value) ? base64 : value
}

const readLegacy = (value: unknown, index: number): Read<ReadonlyArray<ReadCall>> => {
  if (value === undefined || value === null) return Result.succeed([])
  const path = `messages[${index}].function_call`
  if (!isJsonObject(value)) return invalid(path, "invalid_type", "function_call must be an object.")
  return Result.map(readFunction(value, path), (called) => [
    { id: `call-${index}`, idMissingAt: path, ...called, signature: undefined }
  ])
}
