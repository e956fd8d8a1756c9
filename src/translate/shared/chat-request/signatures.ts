// Thought signatures: the calls in a history, the signatures of an answer, the one to send back, and answers without them (M-303).
// Must not depend on the place where signatures are stored.
import { isJsonObject } from "../../../domain/text/json.ts"
import type { ChatRequest } from "../../../wire/openai/Chat.ts"
import type { Delta, ReplyMessage } from "../../../wire/openai/ChatReply.ts"
import type { TranslateContext } from "../../Translator.ts"

/** Ids of all tool calls of the history. Runs before validation, so it accepts any shape. */
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

/** A call we returned and the signature that came with it. */
export interface SignedCall {
  readonly callId: string
  readonly signature: string
}

/** The bytes of an answer in another dialect, and the signed calls in them. */
export class SignedBytes extends Uint8Array {
  signed: ReadonlyArray<SignedCall> = []

  static withCalls(bytes: Uint8Array, signed: ReadonlyArray<SignedCall>): SignedBytes {
    const signedBytes = new SignedBytes(bytes)
    signedBytes.signed = signed
    return signedBytes
  }
}

/** The signed calls of an answer or of one delta, in full form. */
export const signaturesOf = (message: ReplyMessage | Delta): ReadonlyArray<SignedCall> => {
  if (message.tool_calls === undefined) return []
  const signed: Array<{ callId: string; signature: string }> = []
  for (const call of message.tool_calls) {
    const signature = call.function.thought_signature
    if (call.id !== undefined && signature !== undefined) signed.push({ callId: call.id, signature })
  }
  return signed
}

/** The maker of the signatures of a turn, as far as one of its calls or memory names it. */
export const issuerOf = (
  calls: ReadonlyArray<{ readonly id: string; readonly issuer?: string | undefined }>,
  { signature }: TranslateContext
): string | undefined => {
  for (const call of calls) {
    const issuer = call.issuer ?? signature(call.id)?.issuer
    if (issuer !== undefined) return issuer
  }
  return undefined
}

/**
 * Selects the signature to send with a call of the history. The client's signature is used first, unless the memory
 * attributes it to another backend; then the memory's signature of this backend. `isUsable` filters by model family.
 */
export const knownSignature = (
  call: { readonly id: string; readonly signature: string | undefined; readonly issuer?: string | undefined },
  { target, signature }: TranslateContext,
  isUsable: (signature: string) => boolean
): string | undefined => {
  const known = signature(call.id)
  if (call.issuer === undefined && known !== undefined && known.issuer !== target.issuer) return undefined
  // A maker that the client names decides. Memory serves where the named maker is another one.
  if (call.issuer !== undefined && call.issuer !== target.issuer)
    return known?.issuer === target.issuer ? known.signature : undefined
  return call.signature !== undefined && isUsable(call.signature) ? call.signature : known?.signature
}

/** Prefix of a Claude call's signature: base64 of `[{"type":`. It contains the thinking blocks before the call. */
const packed = "W3sidHlwZSI6"

/** True for packed Claude thinking; Claude calls carry it in the field where Gemini calls carry a signature. */
export const isPackedThinking = (signature: string): boolean => signature.startsWith(packed)

// Takes the signatures off an answer: they fit no history of the client when a turn was added to the request (M-303).

const signatureFields: ReadonlySet<string> = new Set(["signature", "thought_signature", "extra_content"])

const isRedacted = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "type" in value && value.type === "redacted_thinking"

const unsigned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => !isRedacted(item)).map(unsigned)
  if (typeof value !== "object" || value === null) return value
  const others = Object.entries(value).filter(([name]) => !signatureFields.has(name))
  return Object.fromEntries(others.map(([name, inner]) => [name, unsigned(inner)]))
}

/** An answer, or a chunk of one, in its full form. The fields that are left out are optional. */
export const withoutSignatures = <A>(answer: A): A => unsigned(answer) as A
