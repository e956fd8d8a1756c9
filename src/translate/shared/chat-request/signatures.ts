// Thought signatures of tool calls: which calls a history holds, which signatures an answer carries, which may be sent.
// It must not know where signatures are remembered.
import { isJsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Delta, Message } from "../../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../../Translator.ts"

/** Ids of all tool calls of the history; runs before validation, so any shape is borne. */
export const historyCalls = (request: ChatRequest): ReadonlyArray<string> => {
  const ids: Array<string> = []
  for (const message of request.messages) {
    if (!Array.isArray(message.tool_calls)) continue
    for (const call of message.tool_calls) {
      if (isJsonObject(call) && typeof call["id"] === "string") ids.push(call["id"])
    }
  }
  return ids
}

/** The signed calls of an answer or of one delta, full form. */
export const signaturesOf = (
  message: Message | Delta
): ReadonlyArray<{ readonly callId: string; readonly signature: string }> => {
  if (message.tool_calls === undefined) return []
  const signed: Array<{ callId: string; signature: string }> = []
  for (const call of message.tool_calls) {
    const signature = call.function.thought_signature
    if (call.id !== undefined && signature !== undefined) signed.push({ callId: call.id, signature })
  }
  return signed
}

/** Who made the signatures of a turn, as far as memory knows one of its calls. */
export const issuerOf = (
  calls: ReadonlyArray<{ readonly id: string }>,
  { signature }: TranslateContext
): string | undefined => {
  for (const call of calls) {
    const known = signature(call.id)
    if (known !== undefined) return known.issuer
  }
  return undefined
}

/**
 * The signature that may go with a call of the history: the client's own unless memory knows that another backend made
 * it, then what memory holds of this backend. `isUsable` tells those this family could have made.
 */
export const knownSignature = (
  call: { readonly id: string; readonly signature: string | undefined },
  { target, signature }: TranslateContext,
  isUsable: (signature: string) => boolean
): string | undefined => {
  const known = signature(call.id)
  if (known !== undefined && known.issuer !== target.issuer) return undefined
  return call.signature !== undefined && isUsable(call.signature) ? call.signature : known?.signature
}

/** How the signature of a Claude call begins: base64 of `[{"type":`. It holds the thinking that led to the call. */
const packed = "W3sidHlwZSI6"

/** True for what stands on calls of Claude instead of a signature of Gemini. */
export const isPackedThinking = (signature: string): boolean => signature.startsWith(packed)
