// Completions and chunks of a chat: their envelopes, the message of joined deltas, and the deltas and pieces of a message.
// Must not depend on an upstream dialect, or on what becomes of a piece.
import type * as Types from "effect/Types"
import type {
  ChatChunk,
  ChatCompletion,
  Choice,
  ChunkChoice,
  ContentBlock,
  ContentBlockDelta,
  ContentPart,
  Delta,
  ReplyMessage,
  ToolCall,
  ToolCallDelta,
  Usage
} from "../../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../../Translator.ts"

/** Builds a completion in full form. `model` is the model the upstream reports. */
export const buildCompletion = (
  context: TranslateContext,
  model: string,
  choices: ReadonlyArray<Choice>,
  usage: Usage
): ChatCompletion => ({
  id: context.id,
  object: "chat.completion",
  created: context.createdSeconds,
  model,
  choices,
  usage,
  provider: context.target.kind
})

/** Builds a chunk with one choice; id, created and model are equal on every chunk of a stream. */
export const buildChunk = (context: TranslateContext, model: string, choice: ChunkChoice): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [choice],
  provider: context.target.kind
})

/** Builds the last chunk of every successful stream: usage without choices. */
export const buildUsageChunk = (context: TranslateContext, model: string, usage: Usage): ChatChunk => ({
  id: context.id,
  object: "chat.completion.chunk",
  created: context.createdSeconds,
  model,
  choices: [],
  usage,
  provider: context.target.kind
})

// Builds the message of a unary choice by joining stream deltas.

/** Joins deltas as a client does. `content` is null only next to tool calls. `ordered` adds the order of all items. */
export const joinDeltas = (
  deltas: ReadonlyArray<Delta>,
  refusal: string | undefined,
  ordered = false
): ReplyMessage => {
  let content = ""
  let reasoning = ""
  const calls: Array<ToolCall> = []
  const blocks: Array<ContentBlockDelta> = []
  const parts: Array<ContentPart> = []
  const message: Types.Mutable<ReplyMessage> = { role: "assistant", content: null, refusal: refusal ?? null }
  for (const delta of deltas) {
    if (delta.content) {
      content += delta.content
      const last = parts.at(-1)
      if (last?.type === "text") parts[parts.length - 1] = { type: "text", text: last.text + delta.content }
      else parts.push({ type: "text", text: delta.content })
    }
    reasoning += delta.reasoning_content ?? ""
    for (const call of delta.tool_calls ?? []) calls[call.index] = withPiece(calls[call.index], call)
    if (delta.function_call !== undefined && message.function_call === undefined)
      message.function_call = delta.function_call
    for (const block of delta.content_blocks ?? []) blocks.push(block)
    for (const part of delta.content_parts ?? []) parts.push(part)
  }
  message.content = content !== "" ? content : calls.length > 0 || message.function_call !== undefined ? null : ""
  if (calls.length > 0) message.tool_calls = calls
  if (reasoning !== "") message.reasoning_content = reasoning
  if (blocks.length > 0) message.content_blocks = joinedBlocks(blocks)
  if (parts.some((part) => part.type === "image")) message.content_parts = parts
  if (ordered) message.item_order = orderOf(deltas)
  return message
}

/** Blocks, calls and pictures by their first pieces: positions in `content_blocks`, `tool_calls`, and among pictures. */
const orderOf = (deltas: ReadonlyArray<Delta>): NonNullable<ReplyMessage["item_order"]> => {
  const order: Array<readonly ["block" | "call" | "part", number]> = []
  const blocks = new Set<number>()
  const calls = new Set<number>()
  let images = 0
  for (const { content_blocks, content_parts, tool_calls } of deltas) {
    for (const { index } of content_blocks ?? []) {
      if (!blocks.has(index)) order.push(["block", blocks.size])
      blocks.add(index)
    }
    for (const { index } of tool_calls ?? []) {
      if (!calls.has(index)) order.push(["call", calls.size])
      calls.add(index)
    }
    for (const part of content_parts ?? []) if (part.type === "image") order.push(["part", images++])
  }
  return order
}

/** The first delta of a call has its name; later deltas append to its arguments. */
const withPiece = (before: ToolCall | undefined, call: ToolCallDelta): ToolCall => {
  const { name = "", arguments: text = "", ...signed } = call.function
  if (before !== undefined) {
    return { ...before, function: { ...before.function, arguments: before.function.arguments + text } }
  }
  return {
    id: call.id ?? "",
    type: "function",
    function: { name, arguments: text, ...signed },
    ...(call.extra_content === undefined ? {} : { extra_content: call.extra_content })
  }
}

/** Sorts blocks by index. Upstream numbering may have gaps; `filter` skips the holes. */
const joinedBlocks = (deltas: ReadonlyArray<ContentBlockDelta>): ReadonlyArray<ContentBlock> => {
  const blocks: Array<ContentBlock> = []
  for (const { index, delta } of deltas) {
    const block = blocks[index]
    const signed = delta.signature === undefined ? {} : { signature: delta.signature }
    if (delta.provider_part !== undefined) blocks[index] = { type: "provider_part", ...delta.provider_part }
    else if (delta.data !== undefined) blocks[index] = { type: "redacted_thinking", data: delta.data }
    else if (block?.type === "thinking")
      blocks[index] = { ...block, thinking: block.thinking + (delta.thinking ?? ""), ...signed }
    else if (block?.type === "text") blocks[index] = { ...block, text: block.text + (delta.text ?? ""), ...signed }
    else if (delta.thinking !== undefined) blocks[index] = { type: "thinking", thinking: delta.thinking, ...signed }
    else blocks[index] = { type: "text", text: delta.text ?? "", ...signed }
  }
  return blocks.filter(() => true)
}

// The message of a whole chat as the deltas that would have made it, in the order of the upstream.

export const deltasOf = (message: ReplyMessage): ReadonlyArray<Delta> => {
  const pieces = piecesOf(message)
  return message.refusal === null || message.refusal === "" ? pieces : [...pieces, { refusal: message.refusal }]
}

/** In the upstream's order where it is known, else thinking, text, pictures, calls. */
const piecesOf = (message: ReplyMessage): ReadonlyArray<Delta> => {
  const blocks = messageBlocks(message)
  const images = (message.content_parts ?? []).filter((part) => part.type === "image")
  const calls = message.tool_calls ?? []
  const block = (index: number): ReadonlyArray<Delta> => {
    const one = blocks[index]
    return one === undefined ? [] : [blockDelta(one, index)]
  }
  const call = (index: number): ReadonlyArray<Delta> => {
    const one = calls[index]
    return one === undefined ? [] : [{ tool_calls: [{ index, ...one }] }]
  }
  const image = (index: number): ReadonlyArray<Delta> => {
    const one = images[index]
    return one === undefined ? [] : [{ content_parts: [one] }]
  }
  const order = message.item_order
  if (order === undefined)
    return [
      ...blocks.flatMap((_one, index) => block(index)),
      ...images.flatMap((_one, index) => image(index)),
      ...calls.flatMap((_one, index) => call(index))
    ]
  return order.flatMap(([kind, index]) =>
    kind === "block" ? block(index) : kind === "call" ? call(index) : image(index)
  )
}

/** The blocks, unless their texts differ from the content; thinking without blocks is one. */
const messageBlocks = ({
  content,
  content_blocks: blocks,
  reasoning_content: thinking
}: ReplyMessage): ReadonlyArray<ContentBlock> => {
  const given = blocks ?? []
  const said = given.map((one) => (one.type === "text" ? one.text : "")).join("")
  if (given.length > 0 && said === (content ?? "")) return given
  const thoughts: ReadonlyArray<ContentBlock> =
    given.length > 0
      ? given.filter((one) => one.type !== "text")
      : thinking === undefined || thinking === ""
        ? []
        : [{ type: "thinking", thinking }]
  return content === null || content === "" ? thoughts : [...thoughts, { type: "text", text: content }]
}

const blockDelta = (block: ContentBlock, index: number): Delta => {
  const delta = pieceOf(block)
  const content_blocks = [{ index, delta }]
  if (block.type === "thinking" && block.thinking !== "") return { reasoning_content: block.thinking, content_blocks }
  return block.type === "text" && block.text !== "" ? { content: block.text, content_blocks } : { content_blocks }
}

const pieceOf = (block: ContentBlock): ContentBlockDelta["delta"] => {
  switch (block.type) {
    case "provider_part":
      return { provider_part: { provider: block.provider, part: block.part } }
    case "redacted_thinking":
      return { data: block.data }
    case "thinking":
      return { thinking: block.thinking, ...signedBy(block.signature) }
    case "text":
      return { text: block.text, ...signedBy(block.signature) }
  }
}

const signedBy = (signature: string | undefined): { readonly signature?: string } =>
  signature === undefined ? {} : { signature }

// The content blocks of a delta as pieces: thinking, signed texts, sealed thinking and the provider's own parts.

type ProviderPart = Pick<Extract<ContentBlock, { readonly type: "provider_part" }>, "provider" | "part">

export type BlockPiece =
  | { readonly _tag: "Thought"; readonly block: number; readonly text: string; readonly signature: string | undefined }
  /** The text itself may come in the same delta, as its content. */
  | { readonly _tag: "SignedText"; readonly text: string; readonly signature: string }
  | { readonly _tag: "Redacted"; readonly block: number; readonly data: string }
  | { readonly _tag: "Part"; readonly part: ProviderPart }

/** The block of the chat that a bare signature belongs to. */
export interface OpenBlock {
  readonly index: number
  readonly kind: "thinking" | "text"
}

/** Thinking of a provider that has no blocks is one block. */
const noBlock = -1

const kindOf = (
  open: OpenBlock | undefined,
  index: number,
  { signature, text, thinking }: ContentBlockDelta["delta"]
): OpenBlock["kind"] | undefined => {
  if (thinking !== undefined) return "thinking"
  if (text !== undefined) return "text"
  return signature !== undefined && open?.index === index ? open.kind : undefined
}

/** The pieces of one delta in order, and the block that is open after it. */
export const blockPieces = (
  { content_blocks: blocks, reasoning_content: thought }: Delta,
  before: OpenBlock | undefined
): { readonly pieces: ReadonlyArray<BlockPiece>; readonly open: OpenBlock | undefined } => {
  const pieces: Array<BlockPiece> = []
  let open = before
  let hasThought = false
  for (const { delta, index } of blocks ?? []) {
    const { data, provider_part: part, signature, text = "", thinking = "" } = delta
    const kind = kindOf(open, index, delta)
    if (kind !== undefined) open = { index, kind }
    if (kind === "thinking") {
      hasThought ||= thinking !== ""
      pieces.push({ _tag: "Thought", block: index, text: thinking, signature })
    } else if (kind === "text" && signature !== undefined) pieces.push({ _tag: "SignedText", text, signature })
    else if (data !== undefined) pieces.push({ _tag: "Redacted", block: index, data })
    else if (part !== undefined) pieces.push({ _tag: "Part", part })
  }
  if (!hasThought && thought !== undefined && thought !== "")
    pieces.push({ _tag: "Thought", block: noBlock, text: thought, signature: undefined })
  return { pieces, open }
}
