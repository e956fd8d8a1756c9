// Generates the text of gateway keys, and the prefix that lists show.
// It must not know where a key is stored.
import { randomBytes } from "node:crypto"
import * as Redacted from "effect/Redacted"
import { keyMark } from "../domain/settings/keyMark.ts"

/** Letters and digits only, so that a double click selects the whole key. */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const keyBytes = 32
/** The number of base62 digits of 32 bytes. */
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

/** The prefix of a shorter text would reveal too much of it. */
const longText = 32
const shownLength = 8

/** The first characters of a long text, which identify the key; undefined for a short text. */
export const keyPrefix = (key: Redacted.Redacted<string>): string | undefined => {
  const text = Redacted.value(key)
  return text.length < longText ? undefined : text.slice(0, shownLength)
}
