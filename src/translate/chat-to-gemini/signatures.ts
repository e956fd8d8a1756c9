// Which thought signature goes upstream with each call of a Gemini turn.
// It must not know where signatures are remembered.
import { isPackedThinking, knownSignature } from "../shared/chat-request/signatures.ts"
import type { TranslateContext } from "../Translator.ts"

/** Stands in for a signature nobody knows. Source: Gemini API, thought signatures, "migrating from other models". */
export const sentinel = "skip_thought_signature_validator"

/** Generations before 2.5 know no signatures. */
export const takesSignatures = ({ facts }: TranslateContext["target"]): boolean =>
  facts.generation === "g2.5" || facts.generation === "g3"

/** A sentinel the client wrote itself stands for no signature, and Claude's own form never leaves that family. */
const isUsable = (signature: string): boolean => signature !== sentinel && !isPackedThinking(signature)

/**
 * Signatures to send with the calls of one model turn, in order: those that are known, and for the first call of models
 * that demand one, the sentinel. Later calls of a turn are often unsigned and stay so.
 */
export const signaturesToSend = (
  calls: ReadonlyArray<{ readonly id: string; readonly signature: string | undefined }>,
  context: TranslateContext
): ReadonlyArray<string | undefined> => {
  const { target } = context
  if (!takesSignatures(target)) return calls.map(() => undefined)
  return calls.map(
    (call, index) =>
      knownSignature(call, context, isUsable) ?? (index === 0 && target.facts.sentinel ? sentinel : undefined)
  )
}
