// Packs the thinking before a tool call into one opaque text on that call, and unpacks it.
// Must not depend on the text's storage: the client or the signature memory.
import * as Result from "effect/Result"
import { parseInnerJsonText } from "../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { BlockOut } from "../../wire/anthropic/Messages.ts"
import { base64OfText, textOfBase64 } from "../shared/media/base64.ts"
import { isPackedThinking } from "../shared/chat-request/signatures.ts"

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
