// A body of the Responses API in its own words, where a client mixed those of a chat into it.
// It must not know what becomes of a field. Rules: W4, W20, W46.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { withToolConfig } from "../../chatBody.ts"

const isThere = (value: Json | undefined): value is Json => value !== undefined && value !== null

/** A body that has this API's own words is the same object. A field of a chat next to this API's own stays, and is named as ignored. */
export const ownBody = (given: JsonObject): JsonObject => {
  const body = withToolConfig(given)
  const found = [inputOf(body), lengthOf(body), effortOf(body), textOf(body)].filter((one) => one !== undefined)
  if (found.length === 0) return body
  const taken = new Set(found.flatMap(({ from }) => from))
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !taken.has(name)))
  return { ...rest, ...Object.fromEntries(found.map(({ name, value }) => [name, value])) }
}

interface Found {
  readonly from: ReadonlyArray<string>
  readonly name: string
  readonly value: Json
}

const inputOf = ({ input, messages }: JsonObject): Found | undefined => {
  const isOwn = isThere(input)
  const given = isOwn ? input : messages
  const list = isJsonObject(given) ? [given] : given
  if (!Array.isArray(list) || (isOwn && list === input && !list.some(isForeign))) return undefined
  return { from: isOwn ? [] : ["messages"], name: "input", value: list.flatMap(ownItems) }
}

const isForeign = (item: Json): boolean =>
  typeof item === "string" || (isJsonObject(item) && (item["role"] === "tool" || Array.isArray(item["tool_calls"])))

/** A message of a chat holds what items hold each by itself. */
const ownItems = (item: Json): ReadonlyArray<Json> => {
  if (typeof item === "string") return [{ role: "user", content: item }]
  if (!isJsonObject(item) || !isForeign(item)) return [item]
  const { content, tool_call_id: id, tool_calls: calls, ...message } = item
  if (message["role"] === "tool") return [{ type: "function_call_output", call_id: id, output: content ?? "" }]
  return [
    ...(isThere(content) && content !== "" ? [{ ...message, content }] : []),
    ...(Array.isArray(calls) ? calls.flatMap(ownCall) : [])
  ]
}

const ownCall = (call: Json): ReadonlyArray<Json> => {
  const called = isJsonObject(call) ? call["function"] : undefined
  if (!isJsonObject(call) || !isJsonObject(called)) return []
  return [{ type: "function_call", call_id: call["id"], name: called["name"], arguments: called["arguments"] ?? "" }]
}

const lengths = ["max_completion_tokens", "max_tokens"] as const

const lengthOf = (body: JsonObject): Found | undefined => {
  const name = lengths.find((one) => isThere(body[one]))
  if (name === undefined || isThere(body["max_output_tokens"])) return undefined
  return { from: [name], name: "max_output_tokens", value: body[name] ?? null }
}

const effortOf = ({ reasoning, reasoning_effort: effort }: JsonObject): Found | undefined => {
  const own = isThere(reasoning) ? reasoning : {}
  if (!isThere(effort) || !isJsonObject(own) || isThere(own["effort"])) return undefined
  return { from: ["reasoning_effort"], name: "reasoning", value: { ...own, effort } }
}

const textOf = ({ response_format: format, text, verbosity }: JsonObject): Found | undefined => {
  const own = isThere(text) ? text : {}
  if (!isJsonObject(own)) return undefined
  const nested = isThere(own["format"]) ? undefined : format
  const asked = isThere(nested) ? nested : own["format"]
  const flat = flatFormat(asked)
  const words = isThere(own["verbosity"]) ? undefined : verbosity
  if (!isThere(nested) && flat === asked && !isThere(words)) return undefined
  return {
    from: [...(isThere(nested) ? ["response_format"] : []), ...(isThere(words) ? ["verbosity"] : [])],
    name: "text",
    value: { ...own, ...(isThere(flat) ? { format: flat } : {}), ...(isThere(words) ? { verbosity: words } : {}) }
  }
}

/** A chat has the schema's fields in an object of their own. */
const flatFormat = (format: Json | undefined): Json | undefined => {
  if (!isJsonObject(format) || !isJsonObject(format["json_schema"])) return format
  const { json_schema: schema, ...rest } = format
  return { ...rest, ...schema }
}
