// Bytes sealed with AES-256-GCM and bound to their place, so that they open nowhere else.
// It must not know where keys or sealed bytes are kept.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto"

/** What sealed bytes belong to. */
export interface Place {
  readonly kind: string
  readonly id: string
  readonly version: number
}

/** First byte of what is sealed here; another form would have another. */
const form = 1
const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const headBytes = 1 + ivBytes + tagBytes

export const randomKey = (): Buffer => randomBytes(keyBytes)

/** A key of 32 bytes; undefined for another length. What it returns shows nothing when printed. */
export const keyOf = (bytes: Uint8Array): KeyObject | undefined =>
  bytes.length === keyBytes ? createSecretKey(bytes) : undefined

/** A name for a key that tells nothing about it. */
export const fingerprint = (key: KeyObject): string =>
  createHmac("sha256", key).update("model-gateway key id").digest("hex").slice(0, 16)

/** Every part with its length before it: no two places have the same bytes. */
const associated = ({ id, kind, version }: Place): Buffer =>
  Buffer.concat(
    [kind, id, String(version)].flatMap((part) => {
      const bytes = Buffer.from(part, "utf8")
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    })
  )

/** Form, 96 random bits, tag, ciphertext. */
export const sealBytes = (key: KeyObject, place: Place, plain: Uint8Array): Uint8Array => {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(associated(place))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Uint8Array.from(Buffer.concat([Buffer.of(form), iv, cipher.getAuthTag(), text]))
}

/** What was sealed; undefined when a bit, the place or the key is another. */
export const openBytes = (key: KeyObject, place: Place, sealed: Uint8Array): Buffer | undefined => {
  if (sealed[0] !== form || sealed.length < headBytes) return undefined
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + ivBytes), { authTagLength: tagBytes })
    .setAAD(associated(place))
    .setAuthTag(sealed.subarray(1 + ivBytes, headBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
