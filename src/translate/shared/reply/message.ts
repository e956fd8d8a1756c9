// Builds the message of a unary choice by joining stream deltas.
// Must not depend on an upstream or finish reasons.
import type * as Types from "effect/Types"
import type { Delta, ReplyMessage, ToolCall, ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta, ContentPart } from "../../../wire/openai/Extensions.ts"

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
  if (blocks.length > 0) message.content_blocks = blocksOf(blocks)
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
const blocksOf = (deltas: ReadonlyArray<ContentBlockDelta>): ReadonlyArray<ContentBlock> => {
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
