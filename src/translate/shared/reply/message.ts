// The message of a unary choice out of the deltas a stream would have given.
// It must not know any upstream, or finish reasons.
import type * as Types from "effect/Types"
import type { Delta, Message, ToolCall, ToolCallDelta } from "../../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta, ContentPart } from "../../../wire/openai/Extensions.ts"

/** Joins deltas as a client does. `content` is null only beside tool calls. */
export const messageOf = (deltas: ReadonlyArray<Delta>, refusal: string | undefined): Message => {
  let content = ""
  let reasoning = ""
  const calls: Array<ToolCall> = []
  const blocks: Array<ContentBlockDelta> = []
  const parts: Array<ContentPart> = []
  const message: Types.Mutable<Message> = { role: "assistant", content: null, refusal: refusal ?? null }
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
    blocks.push(...(delta.content_blocks ?? []))
    parts.push(...(delta.content_parts ?? []))
  }
  message.content = content !== "" ? content : calls.length > 0 || message.function_call !== undefined ? null : ""
  if (calls.length > 0) message.tool_calls = calls
  if (reasoning !== "") message.reasoning_content = reasoning
  if (blocks.length > 0) message.content_blocks = blocksOf(blocks)
  if (parts.some((part) => part.type === "image")) message.content_parts = parts
  return message
}

/** The first delta of a call names it; later ones add to its arguments. */
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

/** In the order of their numbers. Where the upstream numbers its blocks some are missing, and `filter` passes over holes. */
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
