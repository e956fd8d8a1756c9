// Translates chat messages for an OpenAI-compatible upstream: the client's messages without the gateway's extensions.
// Must not depend on parameters; leaves validation to the upstream.
import * as Result from "effect/Result"
import { readEach } from "../../domain/text/readEach.ts"
import type { BodyInvalid } from "../../domain/GatewayError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { ChatMessage, ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/fault.ts"
import { chatPart } from "../shared/chat-request/partSpellings.ts"
import { isPlainMedia, readInline } from "../shared/media/media.ts"

type Read<A> = Result.Result<A, BodyInvalid>
type Fields = Readonly<Record<string, unknown>>

/**
 * Refuses media that only Gemini can read, and URLs that are not public. The reasoning of earlier turns goes to models
 * that want it back (W29).
 */
export const messagesToOpenAi = (
  messages: ChatRequest["messages"],
  keepsReasoning: boolean
): Read<ReadonlyArray<Fields>> =>
  readEach(messages, (message, index) => {
    if (isPlain(message)) return Result.succeed(message)
    const reasoning = keepsReasoning && message.role === "assistant" ? reasoningOf(message) : ""
    return Result.map(messageToOpenAi(message, `messages[${index}]`), (fields) =>
      reasoning === "" ? fields : { ...fields, reasoning_content: reasoning }
    )
  })

/** Under the names of open models and their servers, else in the thinking parts of the content. */
const reasoningOf = ({ content, reasoning, reasoning_content, thinking }: ChatMessage): string => {
  for (const text of [reasoning_content, reasoning, thinking]) if (typeof text === "string" && text !== "") return text
  if (!Array.isArray(content)) return ""
  return content
    .map((part: unknown) =>
      isJsonObject(part) && part["type"] === "thinking" && typeof part["thinking"] === "string" ? part["thinking"] : ""
    )
    .join("")
}

/** Fields of messages and calls that only the gateway uses. */
const extensions = new Set([
  "content_blocks",
  "content_parts",
  "reasoning_content",
  "reasoning",
  "thinking",
  "thought_signature",
  "issuer",
  "extra_content"
])

/** True for a message that needs no change and no inspection. */
const isPlain = (message: ChatMessage): boolean => {
  for (const name in message) {
    const value = message[name]
    if (
      extensions.has(name) ||
      value === undefined ||
      (typeof value === "object" && !(value === null && name === "content"))
    )
      return false
  }
  return message.role !== "developer"
}

const messageToOpenAi = (message: ChatMessage, path: string): Read<Fields> =>
  Result.map(contentOf(message, `${path}.content`), (content) => {
    const fields = Object.entries(message).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
      if (name === "content" || value === undefined || value === null || extensions.has(name)) return []
      if (name === "role") return [[name, value === "developer" ? "system" : value]]
      return [[name, name === "tool_calls" && Array.isArray(value) ? value.map(callToOpenAi) : value]]
    })
    return Object.fromEntries(content === undefined ? fields : [...fields, ["content", content]])
  })

const contentOf = (message: ChatMessage, path: string): Read<unknown> => {
  const { content, tool_calls } = message
  if (Array.isArray(content) && content.length > 0) return partsToOpenAi(content, path)
  const isSilent = (content ?? "") === "" || Array.isArray(content)
  return Result.succeed(isSilent && !Array.isArray(tool_calls) ? textOfExtensions(message) || content : content)
}

/** The text of a message that came back in the gateway's extension fields only. */
const textOfExtensions = ({ content_parts, content_blocks }: ChatMessage): string => {
  for (const list of [content_parts, content_blocks]) {
    if (!Array.isArray(list)) continue
    const text = list
      .map((one: unknown) =>
        isJsonObject(one) && one["type"] === "text" && typeof one["text"] === "string" ? one["text"] : ""
      )
      .join("")
    if (text !== "") return text
  }
  return ""
}

/** Parts that represent output of other model families. */
const foreign = new Set<Json | undefined>(["thinking", "redacted_thinking", "image", "provider_part"])

/** Parts of chat's own that Gemini and Claude read as files, and many servers of open models under these names. */
const ofServers = new Set<Json | undefined>(["video_url", "audio_url"])

/** Returns empty text when the list held foreign parts only. */
const partsToOpenAi = (parts: ReadonlyArray<unknown>, path: string): Read<ReadonlyArray<unknown> | string> => {
  const out: Array<unknown> = []
  for (const [index, given] of parts.entries()) {
    if (!isJsonObject(given)) {
      out.push(given)
      continue
    }
    const part = ofServers.has(given["type"]) ? given : chatPart(given)
    if (foreign.has(part["type"])) continue
    const read = mediaToOpenAi(part, `${path}[${index}]`)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    out.push(read.success)
  }
  return Result.succeed(out.length === 0 ? "" : out)
}

const mediaHints = new Set(["mime_type", "format", "video_metadata"])

/** Reads `image_url` and similar parts of other servers: `{type:"video_url", video_url:{url}}`. */
const mediaToOpenAi = (part: JsonObject, path: string): Read<JsonObject> => {
  const type = part["type"]
  if (typeof type !== "string" || !type.endsWith("_url")) return Result.succeed(part)
  const given = part[type]
  const url = isJsonObject(given) ? given["url"] : given
  if (typeof url !== "string") return Result.succeed(part)
  if (!isPlainMedia(url)) return invalid(`${path}.${type}.url`, "invalid_media_url", mediaHint)
  const rest = isJsonObject(given) ? Object.entries(given).filter(([name]) => !mediaHints.has(name)) : []
  return Result.succeed({ ...part, [type]: { ...Object.fromEntries(rest), url: repairedUri(url) } })
}

/** A picture with white space or of a wrong type is mended; what cannot be read is left to the upstream. */
const repairedUri = (url: string): string => {
  if (!/^data:/i.test(url)) return url
  const read = readInline({ path: "", url, isData: false, declaredType: undefined, filename: undefined })
  return Result.isSuccess(read) && read.success.mimeType.startsWith("image/")
    ? `data:${read.success.mimeType};base64,${read.success.data}`
    : url
}

const mediaHint =
  "This model takes media as data URIs and public https addresses; gs:// URIs, Files API URLs and YouTube links work with Gemini models only."

/** Signatures of other families' calls are not sent. */
const callToOpenAi = (call: unknown): unknown => {
  if (!isJsonObject(call)) return call
  const called = call["function"]
  return isJsonObject(called) ? { ...ownFields(call), function: withArgumentsText(called) } : ownFields(call)
}

/** Arguments are a text in this dialect; those of a call that was cut stay as they are. */
const withArgumentsText = (called: JsonObject): JsonObject => {
  const own = ownFields(called)
  const { arguments: given } = own
  return typeof given === "string" ? own : { ...own, arguments: JSON.stringify(given ?? {}) }
}

const ownFields = (given: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !extensions.has(name)))
