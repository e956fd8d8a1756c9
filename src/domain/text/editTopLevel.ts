// Edits top-level members of a JSON object in its bytes; all other bytes stay unchanged.
// It must not know which members are edited.
import * as Result from "effect/Result"
import { closingQuote, decodeUtf8, parseJsonText } from "./json.ts"

/** JSON text that replaces the value of a member or is appended to the object; `undefined` removes the member. */
export type TopLevelEdits = Readonly<Record<string, string | undefined>>

/** The byte offsets of a member: its key from the opening quote, its value, and the first byte after the value. */
export interface Member {
  readonly key: string
  readonly from: number
  readonly value: number
  readonly to: number
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export const skipBlank = (bytes: Uint8Array, from: number): number => {
  let at = from
  while (isBlank(bytes[at])) at++
  return at
}

/** The first byte after the value that begins at `from`. */
export const valueEnd = (bytes: Uint8Array, from: number): number => {
  if (bytes[from] === 0x22) return closingQuote(bytes, from) + 1
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === 0x22) at = closingQuote(bytes, at)
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (byte === 0x2c || isBlank(byte))) return at
  }
  return bytes.length
}

/** Decodes a key, which may contain escapes. */
const keyOf = (bytes: Uint8Array): string => {
  const text = decodeUtf8(bytes) ?? ""
  if (!text.includes("\\") && text.endsWith('"') && text.length > 1) return text.slice(1, -1)
  return String(Result.getOrElse(parseJsonText(text), () => text))
}

/** The members of the object that opens at `open`, as far as they are well-formed. */
export const membersOf = (bytes: Uint8Array, open: number): ReadonlyArray<Member> => {
  const members: Array<Member> = []
  let at = skipBlank(bytes, open + 1)
  while (bytes[at] === 0x22) {
    const quote = closingQuote(bytes, at)
    const value = skipBlank(bytes, skipBlank(bytes, quote + 1) + 1)
    const to = valueEnd(bytes, value)
    members.push({ key: keyOf(bytes.subarray(at, quote + 1)), from: at, value, to })
    at = skipBlank(bytes, skipBlank(bytes, to) + 1)
  }
  return members
}

const encoder = new TextEncoder()

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  let size = 0
  for (const piece of pieces) size += piece.length
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** `bytes` are the JSON text of one object without repeated keys; the result starts at its opening brace. */
export const editTopLevel = (bytes: Uint8Array, edits: TopLevelEdits): Uint8Array => {
  const open = bytes.indexOf(0x7b)
  const members = membersOf(bytes, open)
  const last = members.at(-1)
  const pieces = [bytes.subarray(open, members[0]?.from ?? open + 1)]
  const present = new Set<string>()
  // The bytes between two members are removed with the first of them, except when no member follows.
  let between: Uint8Array | undefined
  for (const [index, { key, from, value, to }] of members.entries()) {
    present.add(key)
    const isEdited = Object.hasOwn(edits, key)
    const text = isEdited ? edits[key] : undefined
    if (isEdited && text === undefined) continue
    if (between !== undefined) pieces.push(between)
    if (text === undefined) pieces.push(bytes.subarray(from, to))
    else pieces.push(bytes.subarray(from, value), encoder.encode(text))
    between = bytes.subarray(to, members[index + 1]?.from ?? to)
  }
  let isEmpty = between === undefined
  for (const [key, text] of Object.entries(edits)) {
    if (text === undefined || present.has(key)) continue
    pieces.push(encoder.encode(`${isEmpty ? "" : ","}${JSON.stringify(key)}:${text}`))
    isEmpty = false
  }
  pieces.push(bytes.subarray(last?.to ?? open + 1))
  return joined(pieces)
}
