// Reads the tool calls of an assistant message: ids, names, arguments, thought signatures.
// Must not depend on tool results or a provider.
import * as Result from "effect/Result"
import { defaultLimits } from "../../../domain/Limits.ts"
import { readEach } from "../../../domain/text/readEach.ts"
import type { RequestFault } from "../../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import type { ChatMessage } from "../../../wire/openai/Chat.ts"
import { normaliseBase64 } from "../media/base64.ts"
import { invalid } from "../fault.ts"
import { parseArguments } from "./toolCalls.ts"

export interface ReadCall {
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

type Read<A> = Result.Result<A, RequestFault>

/** Bound on the calls of one turn; models make fewer. */
const maxCalls = defaultLimits.tools

/** Reads `tool_calls`, or the legacy `function_call`. */
export const readCalls = (message: ChatMessage, index: number): Read<ReadonlyArray<ReadCall>> => {
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
