// Translates the turns of a chat and their parts to Claude messages, thinking blocks and a separate system text.
// It must not depend on declared tools, sampling, URLs, or the place where signatures are stored.
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import type { Reader } from "../../domain/Reader.ts"
import { parseInnerJsonText } from "../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { BlockOut, MessageOut } from "../../wire/anthropic.ts"
import {
  noResult,
  type ToolResult,
  type Turn,
  type TurnCall,
  withoutSystem
} from "../shared/chat-request/readMessages.ts"
import { type CacheControl, joinTexts, type MediaPart, type TurnPart } from "../shared/chat-request/readParts.ts"
import { continueText } from "../shared/chat-request/repairHistory.ts"
import { isPackedThinking, issuerOf, knownSignature } from "../shared/chat-request/signatures.ts"
import { parseResult, type ToolNames } from "../shared/chat-request/toolCalls.ts"
import { base64OfText, textOfBase64 } from "../shared/media/base64.ts"
import { readFetched } from "../shared/media/fetchedMedia.ts"
import { isInline, mediaFault, notUtf8, readInline } from "../shared/media/media.ts"
import { plainText } from "../shared/media/mime.ts"
import type { TranslateContext } from "../Translator.ts"

export interface ClaudeMessages {
  readonly messages: ReadonlyArray<MessageOut>
  readonly system: ReadonlyArray<BlockOut>
  /** True when the continued turn (answered calls, or a prefill) does not start with its thinking. */
  readonly thinkingLost: boolean
  /** True when a user turn asks the model to continue its last message, since the model takes no prefill (M-300). */
  readonly continued: boolean
  /** True when the messages hold nothing but white space. */
  readonly isBlank: boolean
}

/**
 * Thinking blocks of the history to send. `all`: the request thinks. `withCalls`: only before calls. `none`: the model
 * has no thinking.
 */
type HistoryThinking = "all" | "withCalls" | "none"

interface Around {
  readonly reader: Reader
  readonly context: TranslateContext
  readonly names: ToolNames
  readonly thinking: HistoryThinking
  readonly ids: CallIds
}

/** What of the history the model accepts. */
export interface Accepted {
  readonly thinking: HistoryThinking
  readonly prefill: boolean
}

interface Message {
  readonly role: "user" | "assistant"
  readonly content: Array<BlockOut>
}

/** Call ids used so far, each with the highest suffix that made a repeated id unique. */
type CallIds = Map<string, number>

/** Translates the turns; `names` maps function names to the upstream's. */
export const messagesToClaude = (
  reader: Reader,
  turns: ReadonlyArray<Turn>,
  context: TranslateContext,
  names: ToolNames,
  { thinking, prefill }: Accepted
): ClaudeMessages => {
  const { system, talk } = withoutSystem(turns)
  const around: Around = { reader, context, names, thinking, ids: new Map() }
  const messages: Array<Message> = []
  let thinkingLost = false
  for (const turn of talk) {
    if (turn._tag !== "Assistant") {
      append(messages, "user", partsToClaude(reader, turn.parts, false, context))
      continue
    }
    const first = addAssistant(messages, turn, around)
    thinkingLost = (turn.calls.length > 0 || turn.isLast) && first !== undefined && !isThinking(first)
  }
  const systemParts = system.flatMap((turn) => turn.parts)
  const systemBlocks = partsToClaude(reader, systemParts, false, context)
  const isBlank = messages.length === 0
  // Claude needs a word of the user.
  if (messages[0]?.role !== "user") messages.unshift({ role: "user", content: [{ type: "text", text: "Continue." }] })
  const continued = !prefill && messages.at(-1)?.role === "assistant"
  if (continued) append(messages, "user", [{ type: "text", text: continueText }])
  return {
    messages: withoutTrailingBlank(messages),
    system: systemBlocks,
    thinkingLost: thinkingLost && !continued,
    continued,
    isBlank
  }
}

const isThinking = (block: BlockOut | undefined): boolean =>
  block?.["type"] === "thinking" || block?.["type"] === "redacted_thinking"

/** Merges neighbours of the same role into one message. Mutates only messages created here, never the client's. */
const append = (messages: Array<Message>, role: Message["role"], content: ReadonlyArray<BlockOut>): void => {
  if (content.length === 0) return
  const last = messages.at(-1)
  if (last?.role === role) for (const block of content) last.content.push(block)
  else messages.push({ role, content: [...content] })
}

/** Adds the blocks of the turn, then all results and images in one user message. Returns the first block. */
const addAssistant = (
  messages: Array<Message>,
  turn: Turn & { readonly _tag: "Assistant" },
  around: Around
): BlockOut | undefined => {
  const { calls } = turn
  const { context, thinking, reader } = around
  const issuer = issuerOf(calls, context)
  const isOwn =
    (thinking === "all" || (thinking === "withCalls" && calls.length > 0)) &&
    (issuer === undefined || issuer === context.target.issuer)
  const parts = partsToClaude(reader, turn.parts, isOwn, context)
  const said = thinkingFirst(parts.filter((block) => !isMedia(block)))
  const carried = isOwn && !said.some(isThinking)
  const blocks: Array<BlockOut> = []
  if (calls.length === 0) for (const block of said) blocks.push(block)
  const results: Array<BlockOut> = []
  for (const [index, call] of calls.entries()) {
    const id = uniqueId(call.id, around.ids)
    const thoughts = carried ? unpackThinking(knownSignature(call, context, isPackedThinking)) : []
    // The first call carries the thinking from the start of the turn; later calls carry the thinking since the last
    // call.
    for (const thought of thoughts) blocks.push(thought)
    if (index === 0) for (const block of said) blocks.push(block)
    blocks.push({ type: "tool_use", id, name: around.names.mangle(call.name), input: call.args })
    results.push(resultBlock(reader, id, call, context))
  }
  append(messages, "assistant", blocks)
  append(messages, "user", results)
  append(messages, "user", parts.filter(isMedia))
  return blocks[0]
}

/** Claude refuses "'image' blocks within assistant turns", so those of an earlier answer go into the next user turn. */
const isMedia = ({ type }: BlockOut): boolean => type === "image" || type === "document"

/** Keeps the order of an answer that starts with thinking; otherwise moves thinking to the front. */
const thinkingFirst = (blocks: ReadonlyArray<BlockOut>): ReadonlyArray<BlockOut> =>
  isThinking(blocks[0]) || !blocks.some(isThinking)
    ? blocks
    : [...blocks.filter(isThinking), ...blocks.filter((block) => !isThinking(block))]

const legalId = /^[A-Za-z0-9_-]+$/

/** Keeps the client's id unless the upstream rejects it or an earlier call used it. */
const uniqueId = (id: string, ids: CallIds): string => {
  const legal = legalId.test(id) ? id : id.replace(/[^A-Za-z0-9_-]/gu, "_")
  let unique = legal
  let count = ids.get(legal) ?? 1
  while (ids.has(unique)) unique = `${legal}_${++count}`
  ids.set(legal, count)
  if (unique !== legal) ids.set(unique, 1)
  return unique
}

const resultBlock = (
  reader: Reader,
  id: string,
  { result = noResult }: TurnCall,
  context: TranslateContext
): BlockOut => ({
  type: "tool_result",
  tool_use_id: id,
  content: resultContent(reader, result, context),
  ...(reportsError(joinTexts(result.parts)) ? { is_error: true } : {}),
  ...(result.cacheControl === undefined ? {} : { cache_control: result.cacheControl })
})

/** A single plain text is sent as a string; several parts, or marked parts, as blocks. */
const resultContent = (
  reader: Reader,
  { parts }: ToolResult,
  context: TranslateContext
): string | ReadonlyArray<BlockOut> => {
  const [only] = parts
  if (parts.length === 1 && only?._tag === "Text" && only.cacheControl === undefined) return only.text
  const blocks = partsToClaude(reader, parts, false, context)
  return blocks.length === 0 ? "" : blocks
}

/** True for a JSON object with an error; the search avoids parsing all other results. */
const reportsError = (text: string): boolean =>
  text.includes('"error"') && (parseResult(text)["error"] ?? null) !== null

/** Claude rejects white space at the end of a prefilled answer. */
const withoutTrailingBlank = (messages: ReadonlyArray<Message>): ReadonlyArray<MessageOut> => {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  const text = block?.["text"]
  if (last === undefined || block === undefined || last.role === "user" || typeof text !== "string") return messages
  const cut = text.trimEnd()
  return cut === text
    ? messages
    : [...messages.slice(0, -1), { role: last.role, content: [...last.content.slice(0, -1), { ...block, text: cut }] }]
}

// The parts of a turn

/** Provider name of `provider_part` blocks from Claude. */
export const claudeProvider = "anthropic"

/**
 * Translates all parts with an upstream equivalent. `isOwn`: thinking and server-side parts of Claude may be included.
 */
const partsToClaude = (
  reader: Reader,
  parts: ReadonlyArray<TurnPart>,
  isOwn: boolean,
  context: TranslateContext
): ReadonlyArray<BlockOut> =>
  reader.each(parts, (part) => {
    if (part._tag === "Media") return mediaToClaude(reader, part, context)
    return partToClaude(part, isOwn && (part.issuer === undefined || part.issuer === context.target.issuer))
  })

/** Claude rejects texts of white space alone, so they are dropped. */
const partToClaude = (part: Exclude<TurnPart, MediaPart>, isOwn: boolean): BlockOut | undefined => {
  switch (part._tag) {
    case "Text":
      return isBlank(part.text) ? undefined : { type: "text", text: part.text, ...marked(part.cacheControl) }
    // Claude rejects thinking without a signature, so thoughts from other sources are dropped.
    case "Thinking":
      return isOwn && part.signature !== undefined
        ? { type: "thinking", thinking: part.thinking, signature: part.signature }
        : undefined
    case "Redacted":
      return isOwn ? { type: "redacted_thinking", data: part.data } : undefined
    case "Own":
      return isOwn && part.provider === claudeProvider ? part.part : undefined
  }
}

const isBlank = (text: string): boolean => !/\S/.test(text)

const marked = (cacheControl: CacheControl): { readonly cache_control?: CacheControl } =>
  cacheControl === undefined ? {} : { cache_control: cacheControl }

/** Source: Anthropic, vision, supported formats. */
const images = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])
const longestTitle = 500

/** Vertex AI rejects media URLs for Claude; media are sent as bytes. */
const mediaToClaude = (
  reader: Reader,
  { source, cacheControl }: MediaPart,
  { media }: TranslateContext
): BlockOut | undefined => {
  const read = isInline(source) ? readInline(source) : readFetched(source, media(source.url), "Claude")
  const inline = reader.take<{ readonly mimeType: string; readonly data: string }>(read)
  if (inline === undefined) return undefined
  const { mimeType, data } = inline
  const mark = marked(cacheControl)
  if (images.has(mimeType)) return { type: "image", source: { type: "base64", media_type: mimeType, data }, ...mark }
  const title = source.filename === undefined ? {} : { title: source.filename.slice(0, longestTitle) }
  if (mimeType === "application/pdf")
    return { type: "document", source: { type: "base64", media_type: mimeType, data }, ...title, ...mark }
  if (mimeType !== plainText) {
    return reader.take(
      mediaFault(
        source,
        "unsupported_media_type",
        "Claude does not read this media type. Readable are jpeg, png, gif and webp images, pdf and text documents."
      )
    )
  }
  const text = textOfBase64(data)
  return text === undefined
    ? reader.take(notUtf8(source))
    : { type: "document", source: { type: "text", media_type: plainText, data: text }, ...title, ...mark }
}

// Thinking that a call carries

/**
 * Claude signs thinking, not calls, and requires the signed blocks before the calls of a turn. A client that keeps
 * only standard fields loses these blocks. Therefore the first call after some thinking carries them, in the field
 * where Gemini calls carry their signature. Source: Anthropic, extended thinking, "Preserving thinking blocks".
 */
export const packThinking = (blocks: ReadonlyArray<BlockOut>): string | undefined =>
  blocks.length === 0 ? undefined : base64OfText(JSON.stringify(blocks))

/** Characters for each value of a block; signed thinking has hundreds. */
const bytesOfValue = 8

/** The blocks a call carries; empty for a text in another format. */
export const unpackThinking = (packed: string | undefined): ReadonlyArray<BlockOut> => {
  if (packed === undefined || !isPackedThinking(packed)) return []
  const text = textOfBase64(packed)
  // Blocks are long texts. Any other text of a client is not parsed, because small values take many times its bytes.
  const jsonValues = text === undefined ? 0 : Math.ceil(text.length / bytesOfValue)
  const value = text === undefined ? undefined : parseInnerJsonText(text, { ...defaultLimits, jsonValues })
  if (value === undefined || Result.isFailure(value) || !Array.isArray(value.success)) return []
  const blocks = value.success.map(blockOf)
  return blocks.every((block) => block !== undefined) ? blocks : []
}

/** Accepts signed thinking and redacted thinking only: the text comes from the client. */
const blockOf = (block: Json): BlockOut | undefined => {
  const { type, thinking, signature, data }: JsonObject = isJsonObject(block) ? block : {}
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string")
    return { type, thinking, signature }
  return type === "redacted_thinking" && typeof data === "string" ? { type, data } : undefined
}
