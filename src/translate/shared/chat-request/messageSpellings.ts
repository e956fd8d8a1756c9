// Reads messages as Anthropic and OpenRouter spell them, and gives them chat's own form: calls, results, pictures.
// Must not depend on a provider, and refuses nothing: the reader of chat's messages does that.
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { customArguments } from "./customTools.ts"

/** A message of chat, and where it was among those of the client. */
export interface PlacedMessage {
  readonly message: unknown
  readonly index: number
}

/** Undefined where all messages have chat's own form, as nearly all have. */
export const chatMessages = (given: ReadonlyArray<unknown>): ReadonlyArray<PlacedMessage> | undefined => {
  if (!given.some(isForeign)) return undefined
  return given.flatMap((message, index) =>
    (isJsonObject(message) && isForeign(message) ? spelled(message) : [message]).map((one) => ({ message: one, index }))
  )
}

const isForeign = (message: unknown): boolean => {
  if (!isJsonObject(message)) return false
  const { content, images, role, tool_calls: calls } = message
  if (role === "assistant")
    return (
      (Array.isArray(content) && content.some(isForeignBlock)) ||
      (Array.isArray(images) && images.length > 0) ||
      (typeof content === "string" && content.includes(linkStart)) ||
      (Array.isArray(calls) && calls.some(isCustomCall))
    )
  return role === "user" && Array.isArray(content) && content.some(isResult)
}

const spelled = (message: JsonObject): ReadonlyArray<JsonObject> =>
  message["role"] === "assistant" ? [assistantMessage(message)] : userMessages(message)

const typeOf = (block: unknown): Json | undefined => (isJsonObject(block) ? block["type"] : undefined)
const isResult = (block: unknown): boolean => typeOf(block) === "tool_result"

/** Blocks of tools that Anthropic runs itself: they return to Claude only. */
const serverBlock = /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|[a-z_]+_tool_result)$/
const isServerBlock = (block: unknown): block is JsonObject => serverBlock.test(String(typeOf(block)))

const isForeignBlock = (block: unknown): boolean => {
  const type = typeOf(block)
  if (type === "text")
    return isJsonObject(block) && typeof block["text"] === "string" && block["text"].includes(linkStart)
  return type === "tool_use" || isServerBlock(block)
}

/** Results stand before the other blocks of their turn, each as a message of its own. */
const userMessages = (message: JsonObject): ReadonlyArray<JsonObject> => {
  const blocks = listOf(message["content"])
  const rest = blocks.filter((block) => !isResult(block))
  return [
    ...blocks.flatMap((block) => (isJsonObject(block) && isResult(block) ? [toolMessage(block)] : [])),
    ...(rest.length === 0 ? [] : [{ ...message, content: rest }])
  ]
}

const listOf = (value: Json | undefined): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const toolMessage = (block: JsonObject): JsonObject => {
  const { cache_control: mark, content = "", is_error: failed, tool_use_id: id } = block
  const text = failed === true ? textOf(content) : undefined
  return {
    role: "tool",
    tool_call_id: id,
    // An error is known by its member on every family.
    content: text === undefined ? content : JSON.stringify({ error: text }),
    ...(mark === undefined ? {} : { cache_control: mark })
  }
}

/** Undefined for a content that is not of texts alone. */
const textOf = (content: Json): string | undefined => {
  if (typeof content === "string") return content
  const texts = listOf(content).map((block) => (isJsonObject(block) ? block["text"] : block))
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined
}

const assistantMessage = (message: JsonObject): JsonObject => {
  const { content, content_parts: parts, images, tool_calls: calls, ...rest } = message
  const blocks = listOf(content)
  const used = blocks.flatMap((block) => (isJsonObject(block) && block["type"] === "tool_use" ? [callOf(block)] : []))
  const allCalls = [...listOf(calls).map(functionCall), ...used]
  const kept = blocks
    .filter((block) => typeOf(block) !== "tool_use")
    .flatMap((block) => (isServerBlock(block) ? [providerPart(block)] : piecesOf(block)))
  const texts = typeof content === "string" ? textPieces(content) : kept
  const pictures = listOf(images).map(picture)
  const hasPictures = pictures.length > 0 || texts.some((part) => typeOf(part) === "image_url")
  return {
    ...rest,
    content: typeof content === "string" && !hasPictures ? content : withoutPictures(texts),
    ...(parts === undefined ? {} : { content_parts: parts }),
    // The text alone is the content, for families that take no pictures of an assistant.
    ...(hasPictures && listOf(parts).length === 0 ? { content_parts: [...texts, ...pictures] } : {}),
    ...(allCalls.length === 0 ? {} : { tool_calls: allCalls })
  }
}

const withoutPictures = (parts: ReadonlyArray<Json>): Json => {
  const left = parts.filter((part) => typeOf(part) !== "image_url")
  const [only] = left
  if (left.length === 0) return null
  return left.length === 1 && isJsonObject(only) && Object.keys(only).length === 2 && typeof only["text"] === "string"
    ? only["text"]
    : left
}

const callOf = ({ id, input, name, signature, thought_signature }: JsonObject): JsonObject => {
  const signed = thought_signature ?? signature
  return {
    id,
    type: "function",
    function: {
      name,
      arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
      ...(signed === undefined ? {} : { thought_signature: signed })
    }
  }
}

const isCustomCall = (call: Json): boolean => isJsonObject(call) && isJsonObject(call["custom"])

/** A call of a custom tool is one of its stand-in. */
const functionCall = (call: Json): Json => {
  if (!isJsonObject(call) || !isJsonObject(call["custom"])) return call
  const { custom, ...rest } = call
  const { input, name } = custom
  return {
    ...rest,
    type: "function",
    function: { name, arguments: customArguments(typeof input === "string" ? input : "") }
  }
}

const providerPart = (part: JsonObject): JsonObject => ({ type: "provider_part", provider: "anthropic", part })

const linkStart = "](data:image/"
/** `![alt](data:image/png;base64,...)`: a picture as Markdown. */
const link = /!\[[^\]\n]{0,256}\]\((data:image\/[a-z0-9.+-]{1,32};base64,[A-Za-z0-9+/=_-]+)\)/g

const piecesOf = (block: Json): ReadonlyArray<Json> =>
  isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string" && isForeignBlock(block)
    ? textPieces(block["text"])
    : [block]

/** A text without its pictures, and the pictures at their places. */
const textPieces = (text: string): ReadonlyArray<Json> => {
  const pieces: Array<Json> = []
  let from = 0
  for (const found of text.matchAll(link)) {
    if (found.index > from) pieces.push({ type: "text", text: text.slice(from, found.index) })
    pieces.push(picture(found[1] ?? ""))
    from = found.index + found[0].length
  }
  if (from < text.length) pieces.push({ type: "text", text: text.slice(from) })
  return pieces
}

/** A picture of OpenRouter's `images`: a part of chat, or its address alone. */
const picture = (given: Json): JsonObject => {
  if (isJsonObject(given) && (given["image_url"] ?? undefined) !== undefined) return { ...given, type: "image_url" }
  return isJsonObject(given) && given["type"] !== undefined
    ? given
    : { type: "image_url", image_url: isJsonObject(given) ? given : { url: given } }
}
