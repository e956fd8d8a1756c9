// What tells one secret from another without saying it.
// It must not know what the secret opens.
import { hash } from "node:crypto"
import * as Redacted from "effect/Redacted"

/** The end of a shorter text would say too much of it. */
const longText = 24

/** The first 8 hexadecimal digits of the SHA-256, and of a long text its last four characters. */
export const fingerprint = (secret: Redacted.Redacted<string>): string => {
  const text = Redacted.value(secret)
  const digits = hash("sha256", text).slice(0, 8)
  return text.length < longText || text.includes("\n") ? digits : `${digits}...${text.slice(-4)}`
}
