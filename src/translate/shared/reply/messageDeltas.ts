// The message of a whole chat as the deltas that would have made it, in the order of the upstream.
// It must not know who reads them.
import type { Delta, ReplyMessage } from "../../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta } from "../../../wire/openai/Extensions.ts"

export const deltasOf = (message: ReplyMessage): ReadonlyArray<Delta> => {
  const pieces = piecesOf(message)
  return message.refusal === null || message.refusal === "" ? pieces : [...pieces, { refusal: message.refusal }]
}

/** In the upstream's order where it is known, else thinking, text, pictures, calls. */
const piecesOf = (message: ReplyMessage): ReadonlyArray<Delta> => {
  const blocks = blocksOf(message)
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
const blocksOf = ({
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
