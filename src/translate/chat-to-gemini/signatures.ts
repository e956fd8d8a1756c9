// Selects the thought signature to send with each call of a Gemini turn.
// Must not depend on the place where signatures are stored.
import { isPackedThinking, knownSignature } from "../shared/chat-request/signatures.ts"
import type { TranslateContext } from "../Translator.ts"

/** Replaces an unknown signature. Source: Gemini API, thought signatures, "migrating from other models". */
export const sentinel = "skip_thought_signature_validator"

/** Generations before 2.5 do not support signatures. */
export const takesSignatures = ({ facts }: TranslateContext["target"]): boolean =>
  facts.generation === "g2.5" || facts.generation === "g3"

/** A sentinel from the client counts as no signature, and packed Claude thinking is sent to Claude only. */
const isUsable = (signature: string): boolean => signature !== sentinel && !isPackedThinking(signature)

/**
 * Signatures for the calls of one model turn, in order: the known ones, and the sentinel for the first call of models
 * that require one. Later calls of a turn are often unsigned and stay unsigned.
 */
export const signaturesToSend = (
  calls: ReadonlyArray<Parameters<typeof knownSignature>[0]>,
  context: TranslateContext
): ReadonlyArray<string | undefined> => {
  const { target } = context
  if (!takesSignatures(target)) return calls.map(() => undefined)
  return calls.map(
    (call, index) =>
      knownSignature(call, context, isUsable) ?? (index === 0 && target.facts.sentinel ? sentinel : undefined)
  )
}
