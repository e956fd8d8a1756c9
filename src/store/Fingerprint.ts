// Fingerprints of secrets: a short digest that identifies a secret without revealing it.
// Must not know what the secret is used for.
import { hash } from "node:crypto"
import * as Redacted from "effect/Redacted"

/** The last characters of a shorter text would reveal too much of it. */
const longText = 24

/** The first 8 hexadecimal digits of the SHA-256, and of a long text its last four characters. */
export const secretFingerprint = (secret: Redacted.Redacted<string>): string => {
  const text = Redacted.value(secret)
  const digits = hash("sha256", text).slice(0, 8)
  return text.length < longText || text.includes("\n") ? digits : `${digits}...${text.slice(-4)}`
}
