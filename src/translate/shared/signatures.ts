// Thought signatures of tool calls: which calls a history holds, which signatures an answer carries, which one is sent.
// It must not know where signatures are remembered.
import { isJsonObject } from "../../domain/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Delta, Message } from "../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../Translator.ts"

/** Stands in for a signature nobody knows. Source: Gemini API, thought signatures, "migrating from other models". */
export const sentinel = "skip_thought_signature_validator"

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
export const signaturesOf = (message: Message | Delta): ReadonlyArray<{ readonly callId: string; readonly signature: string }> => {
  if (message.tool_calls === undefined) return []
  const signed: Array<{ callId: string; signature: string }> = []
  for (const call of message.tool_calls) {
    const signature = call.function.thought_signature
    if (call.id !== undefined && signature !== undefined) signed.push({ callId: call.id, signature })
  }
  return signed
}

/** Who made the signatures of a turn, as far as memory knows one of its calls. */
export const issuerOf = (calls: ReadonlyArray<{ readonly id: string }>, { signature }: TranslateContext): string | undefined => {
  for (const call of calls) {
    const known = signature(call.id)
    if (known !== undefined) return known.issuer
  }
  return undefined
}

/** Generations before 2.5 know no signatures. */
export const takesSignatures = ({ facts }: TranslateContext["target"]): boolean =>
  facts.generation === "g2.5" || facts.generation === "g3"

/**
 * Signatures to send with the calls of one model turn, in order. The client's own goes first unless memory knows that
 * another backend made it; then what memory holds of this backend; then, for the first call of models that demand one,
 * the sentinel. Later calls of a turn are often unsigned and stay so.
 */
export const signaturesToSend = (
  calls: ReadonlyArray<{ readonly id: string; readonly signature: string | undefined }>,
  { target, signature }: TranslateContext
): ReadonlyArray<string | undefined> => {
  if (!takesSignatures(target)) return calls.map(() => undefined)
  const chosen = calls.map((call) => {
    const known = signature(call.id)
    if (known !== undefined && known.issuer !== target.issuer) return undefined
    // A sentinel the client wrote itself stands for no signature.
    return call.signature === undefined || call.signature === sentinel ? known?.signature : call.signature
  })
  return chosen.map((one, index) => one ?? (index === 0 && target.facts.sentinel ? sentinel : undefined))
}
