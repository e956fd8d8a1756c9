// Message content in spans, in the form of the GenAI semantic conventions, for operators who turn content capture on.
// Must not know the exporter or the setting. Media appear as type, length and digest, never in full.
import { hash } from "node:crypto"
import { isJsonObject, type Json, type JsonObject } from "../domain/text/json.ts"
import type { Attributes } from "./Tracing.ts"

const list = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const blob = (mimeType: Json | undefined, base64: string): JsonObject => {
  const bytes = Buffer.from(base64, "base64")
  return {
    type: "blob",
    mime_type: typeof mimeType === "string" ? mimeType : undefined,
    bytes: bytes.length,
    sha256: hash("sha256", bytes, "hex")
  }
}

const media = (url: Json | undefined): JsonObject => {
  if (typeof url !== "string") return { type: "uri" }
  const comma = url.indexOf(",")
  return url.startsWith("data:")
    ? blob(url.slice("data:".length, Math.max(0, comma)).split(";")[0], url.slice(comma + 1))
    : { type: "uri", uri: url }
}

const source = (given: Json | undefined): JsonObject => {
  if (!isJsonObject(given)) return { type: "uri" }
  return typeof given["data"] === "string" ? blob(given["media_type"], given["data"]) : media(given["url"])
}

/** A part of an OpenAI message or a block of an Anthropic message; other parts keep only their type. */
const partOf = (part: Json): JsonObject => {
  if (typeof part === "string") return { type: "text", content: part }
  if (!isJsonObject(part)) return {}
  switch (part["type"]) {
    case "text":
      return { type: "text", content: part["text"] }
    case "thinking":
      return { type: "reasoning", content: part["thinking"] }
    case "image_url":
      return media(isJsonObject(part["image_url"]) ? part["image_url"]["url"] : part["image_url"])
    case "image":
    case "document":
      return source(part["source"])
    case "tool_use":
      return { type: "tool_call", id: part["id"], name: part["name"], arguments: part["input"] }
    case "tool_result":
      return { type: "tool_call_response", id: part["tool_use_id"], response: responseOf(part["content"]) }
    default:
      return { type: part["type"] }
  }
}

const responseOf = (content: Json | undefined): Json | undefined =>
  Array.isArray(content) ? content.map(partOf) : content

const callOf = (call: Json): JsonObject => {
  const called = isJsonObject(call) && isJsonObject(call["function"]) ? call["function"] : {}
  return {
    type: "tool_call",
    id: isJsonObject(call) ? call["id"] : undefined,
    name: called["name"],
    arguments: called["arguments"]
  }
}

const partsOf = (content: Json | undefined): ReadonlyArray<JsonObject> =>
  content === undefined || content === null ? [] : (Array.isArray(content) ? content : [content]).map(partOf)

const messageOf = (message: JsonObject): JsonObject => {
  const { content, role } = message
  const reasoning = message["reasoning_content"]
  return role === "tool"
    ? { role, parts: [{ type: "tool_call_response", id: message["tool_call_id"], response: responseOf(content) }] }
    : {
        role,
        parts: [
          ...(typeof reasoning === "string" ? [{ type: "reasoning", content: reasoning }] : []),
          ...partsOf(content),
          ...list(message["tool_calls"]).map(callOf)
        ]
      }
}

const isInstruction = ({ role }: JsonObject): boolean => role === "system" || role === "developer"

/** Messages, instructions and tools of a request in either dialect. */
export const inputContent = (request: JsonObject): Attributes => {
  const messages = list(request["messages"]).filter(isJsonObject)
  const instructions = [
    ...partsOf(request["system"]),
    ...messages.filter(isInstruction).flatMap(({ content }) => partsOf(content))
  ]
  const tools = list(request["tools"])
  return {
    ...(instructions.length === 0 ? {} : { "gen_ai.system_instructions": JSON.stringify(instructions) }),
    "gen_ai.input.messages": JSON.stringify(messages.filter((message) => !isInstruction(message)).map(messageOf)),
    ...(tools.length === 0 ? {} : { "gen_ai.tool.definitions": JSON.stringify(tools) })
  }
}

/** The messages of a response, each with its finish reason. */
export const outputContent = (
  messages: ReadonlyArray<{ readonly message: JsonObject; readonly finishReason: string | undefined }>
): Attributes => ({
  "gen_ai.output.messages": JSON.stringify(
    messages.map(({ finishReason, message }) => ({
      ...messageOf({ role: "assistant", ...message }),
      finish_reason: finishReason
    }))
  )
})
