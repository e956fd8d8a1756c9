// Takes the signatures off an answer: they fit no history of the client when a turn was added to the request (M-303).
// Must not depend on who signs, or on why the turn was added.

const signatureFields: ReadonlySet<string> = new Set(["signature", "thought_signature", "extra_content"])

const isRedacted = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "type" in value && value.type === "redacted_thinking"

const unsigned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => !isRedacted(item)).map(unsigned)
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !signatureFields.has(name))
  return Object.fromEntries(kept.map(([name, inner]) => [name, unsigned(inner)]))
}

/** An answer, or a chunk of one, in its full form. The fields that are left out are optional. */
export const withoutSignatures = <A>(answer: A): A => unsigned(answer) as A
