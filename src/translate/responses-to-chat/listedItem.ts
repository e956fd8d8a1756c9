// An item of a kept input as OpenAI's schema lists it: content as parts, and what clients leave out filled in.
// It must not know where the item is kept. Rule: R111.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { chatPart } from "../shared/chat-request/partSpellings.ts"
import { itemPart } from "./request/items.ts"

/** Roles whose content is an answer. */
const isAssistant = (item: JsonObject): boolean => item["role"] === "assistant"

const outputText = (part: JsonObject): JsonObject => ({ annotations: [], logprobs: [], ...part, type: "output_text" })

const listedPart = (part: Json, ofAnswer: boolean): Json => {
  if (typeof part === "string") return textPart(part, ofAnswer)
  if (!isJsonObject(part)) return part
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
      return ofAnswer ? outputText(part) : { ...part, type: "input_text" }
    case "input_image":
      return listedImage(isJsonObject(part["image_url"]) ? chatPart(part) : part)
    case "input_file":
    case "refusal":
      return part
    default:
      return listedImage(chatPart(part))
  }
}

/** The schema asks for the detail of a picture; other spellings of media are those of a chat. */
const listedImage = (part: JsonObject): Json => {
  const listed = itemPart(part, false)
  return isJsonObject(listed) && listed["type"] === "input_image"
    ? { ...listed, detail: listed["detail"] ?? "auto" }
    : listed
}

const textPart = (text: string, ofAnswer: boolean): JsonObject =>
  ofAnswer ? outputText({ text }) : { type: "input_text", text }

/** A text is one part. */
const listedParts = (content: Json | undefined, ofAnswer: boolean): Json =>
  Array.isArray(content)
    ? content.map((part: Json) => listedPart(part, ofAnswer))
    : [listedPart(content ?? "", ofAnswer)]

/** A result is a text or parts; a client may send any JSON. */
const listedOutput = (output: Json | undefined): Json =>
  typeof output === "string" || output === undefined || output === null
    ? (output ?? "")
    : Array.isArray(output) && output.every(isJsonObject)
      ? listedParts(output, false)
      : JSON.stringify(output)

const argumentsText = (given: Json | undefined): Json =>
  given === undefined || given === null ? "{}" : typeof given === "string" ? given : JSON.stringify(given)

/** A field of a type that the schema knows without null is left out instead. */
const withoutNulls = (item: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name, value]) => value !== null || !names.includes(name)))

const itemFields = (item: JsonObject): JsonObject => {
  switch (item["type"]) {
    case "message":
      return { content: listedParts(item["content"], isAssistant(item)) }
    case "function_call":
      return { call_id: item["call_id"] ?? item["id"] ?? "", arguments: argumentsText(item["arguments"]) }
    case "custom_tool_call":
      return { call_id: item["call_id"] ?? item["id"] ?? "", input: item["input"] ?? "" }
    case "function_call_output":
    case "custom_tool_call_output":
      return { output: listedOutput(item["output"]) }
    case "reasoning":
      return { summary: item["summary"] ?? [] }
    case "code_interpreter_call":
      return { container_id: item["container_id"] ?? "", code: item["code"] ?? null, outputs: item["outputs"] ?? null }
    case "image_generation_call":
      return { result: item["result"] ?? null }
    default:
      return {}
  }
}

/** Items that have no state. */
const stateless: ReadonlySet<unknown> = new Set(["additional_tools", "mcp_approval_request", "mcp_approval_response"])

export const listedItem = (item: JsonObject): JsonObject => {
  const given = withoutNulls(item, ["status", "content", "namespace", "caller"])
  const fields = { ...given, ...itemFields(item) }
  return stateless.has(item["type"]) ? fields : { ...fields, status: given["status"] ?? "completed" }
}
