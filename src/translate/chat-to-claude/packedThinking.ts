// The thinking that led to a tool call as one opaque text on that call, and back.
// It must not know where the text is kept meanwhile: by the client, or by memory.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject, parseInnerJsonText } from "../../domain/text/json.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { BlockOut } from "../../wire/anthropic/Messages.ts"
import { base64OfText, textOfBase64 } from "../shared/media/base64.ts"
import { isPackedThinking } from "../shared/chat-request/signatures.ts"

/**
 * Claude signs thinking, not calls, and wants the signed blocks back before the calls of a turn. A client that keeps
 * only standard fields loses them, so the first call after some thinking carries them where calls of Gemini carry
 * their signature. Source: Anthropic, extended thinking, "Preserving thinking blocks".
 */
export const packThinking = (blocks: ReadonlyArray<BlockOut>): string | undefined =>
  blocks.length === 0 ? undefined : base64OfText(JSON.stringify(blocks))

/** The blocks a call carries; none when the text is not of our making. */
export const unpackThinking = (packed: string | undefined): ReadonlyArray<BlockOut> => {
  if (packed === undefined || !isPackedThinking(packed)) return []
  const text = textOfBase64(packed)
  const value = text === undefined ? undefined : parseInnerJsonText(text, defaultLimits)
  if (value === undefined || Result.isFailure(value) || !Array.isArray(value.success)) return []
  const blocks = value.success.map(blockOf)
  return blocks.every((block) => block !== undefined) ? blocks : []
}

/** Nothing but a signed thought or a redacted one comes out, however the text was made. */
const blockOf = (block: Json): BlockOut | undefined => {
  const { type, thinking, signature, data }: JsonObject = isJsonObject(block) ? block : {}
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string")
    return { type, thinking, signature }
  return type === "redacted_thinking" && typeof data === "string" ? { type, data } : undefined
}
