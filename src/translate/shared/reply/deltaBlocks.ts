// The content blocks of a delta as pieces: thinking, signed texts, sealed thinking and the provider's own parts.
// It must not know what becomes of a piece.
import type { Delta } from "../../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta } from "../../../wire/openai/Extensions.ts"

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
