// Translates the turns of a chat and their parts to Claude messages, thinking blocks and a separate system text.
// It must not depend on declared tools, sampling, URLs, or the place where signatures are stored.
import { continueText } from "../shared/chat-request/repairHistory.ts"
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BlockOut, MessageOut } from "../../wire/anthropic.ts"
import {
  noResult,
  type ToolResult,
  type Turn,
  type TurnCall,
  withoutSystem
} from "../shared/chat-request/readMessages.ts"
import { type CacheControl, joinTexts, type MediaPart, type TurnPart } from "../shared/chat-request/readParts.ts"
import { isPackedThinking, issuerOf, knownSignature } from "../shared/chat-request/signatures.ts"
import { parseResult, type ToolNames } from "../shared/chat-request/toolCalls.ts"
import type { TranslateContext } from "../Translator.ts"
import { base64OfText, textOfBase64 } from "../shared/media/base64.ts"
import { readFetched } from "../shared/media/fetchedMedia.ts"
import { isInline, mediaFault, notUtf8, readInline } from "../shared/media/media.ts"
import { plainText } from "../shared/media/mime.ts"
import { parseInnerJsonText } from "../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"

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
export type KeptThinking = "all" | "withCalls" | "none"

interface Around {
  readonly context: TranslateContext
  readonly names: ToolNames
  readonly kept: KeptThinking
  readonly ids: CallIds
}

/** What of the history the model accepts. */
export interface Accepted {
  readonly kept: KeptThinking
  readonly prefill: boolean
}

interface Message {
  readonly role: "user" | "assistant"
  readonly content: Array<BlockOut>
}

/** Call ids used so far, each with the highest suffix that made a repeated id unique. */
type CallIds = Map<string, number>

type Read<A> = Result.Result<A, RequestFault>

/** Translates the turns; `names` maps function names to the upstream's. */
export const messagesToClaude = (
  turns: ReadonlyArray<Turn>,
  context: TranslateContext,
  names: ToolNames,
  { kept, prefill }: Accepted
): Read<ClaudeMessages> => {
  const { system, talk } = withoutSystem(turns)
  const around: Around = { context, names, kept, ids: new Map() }
  const messages: Array<Message> = []
  let thinkingLost = false
  for (const turn of talk) {
    const first = turn._tag === "Assistant" ? addAssistant(messages, turn, around) : addUser(messages, turn, context)
    if (Result.isFailure(first)) return Result.fail(first.failure)
    if (turn._tag !== "Assistant") continue
    thinkingLost = (turn.calls.length > 0 || turn.isLast) && first.success !== undefined && !isThinking(first.success)
  }
  const texts = partsToClaude(
    system.flatMap((turn) => turn.parts),
    false,
    context
  )
  if (Result.isFailure(texts)) return Result.fail(texts.failure)
  const isBlank = messages.length === 0
  // Claude needs a word of the user.
  if (messages[0]?.role !== "user") messages.unshift({ role: "user", content: [{ type: "text", text: "Continue." }] })
  const continued = !prefill && messages.at(-1)?.role === "assistant"
  if (continued) append(messages, "user", [{ type: "text", text: continueText }])
  return Result.succeed({
    messages: withoutTrailingBlank(messages),
    system: texts.success,
    thinkingLost: thinkingLost && !continued,
    continued,
    isBlank
  })
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

const addUser = (messages: Array<Message>, turn: Turn, context: TranslateContext): Read<undefined> =>
  Result.map(partsToClaude(turn.parts, false, context), (blocks) => {
    append(messages, "user", blocks)
    return undefined
  })

/** Adds the blocks of the turn, then all results and images in one user message. Returns the first block. */
const addAssistant = (
  messages: Array<Message>,
  turn: Turn & { readonly _tag: "Assistant" },
  around: Around
): Read<BlockOut | undefined> => {
  const { calls } = turn
  const { context, kept } = around
  const issuer = issuerOf(calls, context)
  const own =
    (kept === "all" || (kept === "withCalls" && calls.length > 0)) &&
    (issuer === undefined || issuer === context.target.issuer)
  const parts = partsToClaude(turn.parts, own, context)
  if (Result.isFailure(parts)) return Result.fail(parts.failure)
  const said = thinkingFirst(parts.success.filter((block) => !isMedia(block)))
  const carried = own && !said.some(isThinking)
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
    const result = resultBlock(id, call, context)
    if (Result.isFailure(result)) return Result.fail(result.failure)
    results.push(result.success)
  }
  append(messages, "assistant", blocks)
  append(messages, "user", results)
  append(messages, "user", parts.success.filter(isMedia))
  return Result.succeed(blocks[0])
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

const resultBlock = (id: string, { result = noResult }: TurnCall, context: TranslateContext): Read<BlockOut> =>
  Result.map(resultContent(result, context), (content) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    ...(reportsError(joinTexts(result.parts)) ? { is_error: true } : {}),
    ...(result.cacheControl === undefined ? {} : { cache_control: result.cacheControl })
  }))

/** A single plain text is sent as a string; several parts, or marked parts, as blocks. */
const resultContent = ({ parts }: ToolResult, context: TranslateContext): Read<string | ReadonlyArray<BlockOut>> => {
  const [only] = parts
  return parts.length === 1 && only?._tag === "Text" && only.cacheControl === undefined
    ? Result.succeed(only.text)
    : Result.map(partsToClaude(parts, false, context), (blocks) => (blocks.length === 0 ? "" : blocks))
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
 * Translates all parts with an upstream equivalent. `own`: thinking and server-side parts of Claude may be included.
 */
const partsToClaude = (
  parts: ReadonlyArray<TurnPart>,
  own: boolean,
  context: TranslateContext
): Result.Result<ReadonlyArray<BlockOut>, RequestFault> => {
  const blocks: Array<BlockOut> = []
  for (const part of parts) {
    if (part._tag === "Media") {
      const media = mediaToClaude(part, context)
      if (Result.isFailure(media)) return Result.fail(media.failure)
      blocks.push(media.success)
      continue
    }
    const isOwn = own && (part.issuer === undefined || part.issuer === context.target.issuer)
    const block = partToClaude(part, isOwn)
    if (block !== undefined) blocks.push(block)
  }
  return Result.succeed(blocks)
}

/** Claude rejects texts of white space alone, so they are dropped. */
const partToClaude = (part: Exclude<TurnPart, MediaPart>, own: boolean): BlockOut | undefined => {
  switch (part._tag) {
    case "Text":
      return isBlank(part.text) ? undefined : { type: "text", text: part.text, ...marked(part.cacheControl) }
    // Claude rejects thinking without a signature, so thoughts from other sources are dropped.
    case "Thinking":
      return own && part.signature !== undefined
        ? { type: "thinking", thinking: part.thinking, signature: part.signature }
        : undefined
    case "Redacted":
      return own ? { type: "redacted_thinking", data: part.data } : undefined
    case "Own":
      return own && part.provider === claudeProvider ? part.part : undefined
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
  { source, cacheControl }: MediaPart,
  { media }: TranslateContext
): Result.Result<BlockOut, RequestFault> => {
  const read = isInline(source) ? readInline(source) : readFetched(source, media(source.url), "Claude")
  return Result.flatMap(read, ({ mimeType, data }): Result.Result<BlockOut, RequestFault> => {
    if (images.has(mimeType)) {
      return Result.succeed({
        type: "image",
        source: { type: "base64", media_type: mimeType, data },
        ...marked(cacheControl)
      })
    }
    const title = source.filename === undefined ? {} : { title: source.filename.slice(0, longestTitle) }
    if (mimeType === "application/pdf") {
      return Result.succeed({
        type: "document",
        source: { type: "base64", media_type: mimeType, data },
        ...title,
        ...marked(cacheControl)
      })
    }
    if (mimeType !== plainText) {
      return mediaFault(
        source,
        "unsupported_media_type",
        "Claude does not read this media type. Readable are jpeg, png, gif and webp images, pdf and text documents."
      )
    }
    const text = textOfBase64(data)
    return text === undefined
      ? notUtf8(source)
      : Result.succeed({
          type: "document",
          source: { type: "text", media_type: plainText, data: text },
          ...title,
          ...marked(cacheControl)
        })
  })
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
