// The text of a gateway key: how it is made, and how much of it is shown.
// It must not know where a key is kept.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import { keyMark } from "../domain/settings/keyMark.ts"

/** Letters and digits alone, so that a double click takes all of a key. */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const keyBytes = 32
/** As many digits as 32 bytes need. */
const keyDigits = 43

const inBase62 = (bytes: Uint8Array): string => {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
  let text = ""
  while (text.length < keyDigits) {
    text = base62[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}

/** A new gateway key: 256 random bits. */
export const makeKey = (): string => `${keyMark}${inBase62(randomBytes(keyBytes))}`

/** The beginning of a shorter text would say too much of it. */
const longText = 32
const shownLength = 8

/** The first characters of a long text, to tell keys apart by; of a short one nothing. */
export const keyPrefix = (key: Redacted.Redacted<string>): string | undefined => {
  const text = Redacted.value(key)
  return text.length < longText ? undefined : text.slice(0, shownLength)
}
