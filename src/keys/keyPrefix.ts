// How the text of a gateway key begins, to tell keys apart by.
// It must not know where the key is kept.
import * as Redacted from "effect/Redacted"

/** The beginning of a shorter text would say too much of it. */
const longText = 32
const shownLength = 8

/** The first characters of a long text; of a short one nothing. */
export const keyPrefix = (key: Redacted.Redacted<string>): string | undefined => {
  const text = Redacted.value(key)
  return text.length < longText ? undefined : text.slice(0, shownLength)
}
