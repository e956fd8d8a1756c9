// Edits top-level members of a JSON object in its bytes; all other bytes stay unchanged.
// It must not know which members are edited.
import * as Result from "effect/Result"
import { closingQuote, decodeUtf8, type MemberSpan, parseJsonText, skipBlank, valueEnd } from "./json.ts"

/** JSON text that replaces the value of a member or is appended to the object; `undefined` removes the member. */
export type TopLevelEdits = Readonly<Record<string, string | undefined>>

/** A member with its key. */
export interface Member extends MemberSpan {
  readonly key: string
}

/** The same bytes with Node's own readers and writers. */
const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The key between two quotes. Only one with escapes or beyond ASCII is decoded. */
const keyOf = (bytes: Buffer, open: number, close: number): string => {
  const plain = bytes.toString("latin1", open + 1, close)
  if (close < bytes.length && !/[\\\u0080-\u00ff]/.test(plain)) return plain
  const text = decodeUtf8(bytes.subarray(open, close + 1)) ?? ""
  if (!text.includes("\\") && text.endsWith('"') && text.length > 1) return text.slice(1, -1)
  return String(Result.getOrElse(parseJsonText(text), () => text))
}

/** The members of the object that opens at `open`, as far as they are well-formed. */
export const membersOf = (bytes: Uint8Array, open: number): ReadonlyArray<Member> => {
  const members: Array<Member> = []
  const buffer = bufferOf(bytes)
  let at = skipBlank(bytes, open + 1)
  while (bytes[at] === 0x22) {
    const quote = closingQuote(bytes, at)
    const value = skipBlank(bytes, skipBlank(bytes, quote + 1) + 1)
    const to = valueEnd(bytes, value)
    members.push({ key: keyOf(buffer, at, quote), from: at, value, to })
    at = skipBlank(bytes, skipBlank(bytes, to) + 1)
  }
  return members
}

/** The most bytes that these edits add: a UTF-16 unit has at most three. */
const mostAdded = (edits: TopLevelEdits): number => {
  let most = 0
  for (const [key, text = ""] of Object.entries(edits)) most += 3 * (2 * key.length + text.length) + '"":,'.length
  return most
}

/** Members whose places are known, with their keys. */
export const withKeys = (bytes: Uint8Array, spans: ReadonlyArray<MemberSpan>): ReadonlyArray<Member> => {
  const buffer = bufferOf(bytes)
  return spans.map(({ from, to, value }) => ({ key: keyOf(buffer, from, closingQuote(bytes, from)), from, value, to }))
}

/**
 * `bytes` are the JSON text of one object without repeated keys; the result starts at its opening brace. `known` are its
 * members, where an earlier pass has found them.
 */
export const editTopLevel = (bytes: Uint8Array, edits: TopLevelEdits, known?: ReadonlyArray<Member>): Uint8Array => {
  const open = bytes.indexOf(0x7b)
  const members = known ?? membersOf(bytes, open)
  const source = bufferOf(bytes)
  // Written in one piece: a view or an encoded text for each part is garbage outside the heap.
  const whole = Buffer.allocUnsafe(bytes.length + mostAdded(edits))
  let size = source.copy(whole, 0, open, members[0]?.from ?? open + 1)
  // The bytes between two members are removed with the first of them, except when no member follows.
  let kept = -1
  for (const [index, member] of members.entries()) {
    const { from, key, to, value } = member
    const isEdited = Object.hasOwn(edits, key)
    const text = isEdited ? edits[key] : undefined
    if (isEdited && text === undefined) continue
    if (kept >= 0) size += source.copy(whole, size, members[kept]?.to, members[kept + 1]?.from)
    size += source.copy(whole, size, from, text === undefined ? to : value)
    if (text !== undefined) size += whole.write(text, size)
    kept = index
  }
  let isEmpty = kept < 0
  for (const [key, text] of Object.entries(edits)) {
    if (text === undefined || members.some((member) => member.key === key)) continue
    size += whole.write(`${isEmpty ? "" : ","}${JSON.stringify(key)}:${text}`, size)
    isEmpty = false
  }
  size += source.copy(whole, size, members.at(-1)?.to ?? open + 1)
  return whole.subarray(0, size)
}
