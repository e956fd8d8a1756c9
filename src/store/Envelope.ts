// Encryption at rest: bytes sealed with AES-256-GCM and bound to their context, so that they open in no other one.
// Must not know where keys or sealed bytes are stored.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto"

/** The associated data of sealed bytes: what they belong to. */
export interface SealContext {
  readonly kind: string
  readonly id: string
  readonly version: number
}

/** First byte of sealed bytes; a later format gets another number. */
const form = 1
export const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const headBytes = 1 + ivBytes + tagBytes

export const randomKey = (): Buffer => randomBytes(keyBytes)

/** A key of 32 bytes; undefined for another length. Printing the result shows no secret. */
export const keyOf = (bytes: Uint8Array): KeyObject | undefined =>
  bytes.length === keyBytes ? createSecretKey(bytes) : undefined

/** A public name for a key; the key cannot be computed from it. */
export const keyFingerprint = (key: KeyObject): string =>
  createHmac("sha256", key).update("model-gateway key id").digest("hex").slice(0, 16)

/** Each part is prefixed with its length, so that two contexts never have the same bytes. */
export const associated = ({ id, kind, version }: SealContext): Buffer =>
  Buffer.concat(
    [kind, id, String(version)].flatMap((part) => {
      const bytes = Buffer.from(part, "utf8")
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    })
  )

/**
 * Format byte, 96 bits, tag, ciphertext. The bits are random unless given; given ones must be a function of context and
 * content.
 */
export const sealBytes = (
  key: KeyObject,
  context: SealContext,
  plain: Uint8Array,
  iv: Uint8Array = randomBytes(ivBytes)
): Uint8Array => {
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(associated(context))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Uint8Array.from(Buffer.concat([Buffer.of(form), iv, cipher.getAuthTag(), text]))
}

/** The plain bytes; undefined when a bit of `sealed`, the context or the key differs. */
export const openBytes = (key: KeyObject, context: SealContext, sealed: Uint8Array): Buffer | undefined => {
  if (sealed[0] !== form || sealed.length < headBytes) return undefined
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + ivBytes), { authTagLength: tagBytes })
    .setAAD(associated(context))
    .setAuthTag(sealed.subarray(1 + ivBytes, headBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()])
  } catch {
    return undefined
  }
}

/** The context of the captured content of a request. */
export const contentContext = (id: string): SealContext => ({ kind: "content", id, version: 1 })

/** The context of a stored response. */
export const responseContext = (id: string): SealContext => ({ kind: "response", id, version: 1 })
