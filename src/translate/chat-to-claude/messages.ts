// Translates turns of a chat to Claude messages and a separate system text.
// Must not depend on declared tools, sampling or URLs.
import { continueText } from "../shared/chat-request/continueText.ts"
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { BlockOut, MessageOut } from "../../wire/anthropic/Messages.ts"
import {
  type TurnCall,
  noResult,
  type ToolResult,
  type Turn,
  withoutSystem
} from "../shared/chat-request/readMessages.ts"
import { joinTexts } from "../shared/chat-request/readParts.ts"
import { isPackedThinking, issuerOf, knownSignature } from "../shared/chat-request/signatures.ts"
import { parseResult } from "../shared/chat-request/toolCalls.ts"
import type { ToolNames } from "../shared/chat-request/toolNames.ts"
import type { TranslateContext } from "../Translator.ts"
import { unpackThinking } from "./packedThinking.ts"
import { partsToClaude } from "./requestBlocks.ts"

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
