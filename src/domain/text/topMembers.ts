// Finds and edits the members at the top of a JSON object in its bytes; all other bytes stay unread and unchanged.
// It must not know which members those are. Grammar inside of values is the upstream's to judge.
import * as Result from "effect/Result"
import { BodyInvalid } from "../GatewayError.ts"
import {
  closingQuote,
  decodeUtf8,
  type Json,
  type JsonLimits,
  type MemberSpan,
  parseExactJsonText,
  parseJsonText,
  scan,
  skipBlank,
  valueEnd
} from "./json.ts"
import { printable } from "./printable.ts"

/** The members of an object by key. */
export type Members = ReadonlyMap<string, Member>

const fault = (code: string, message: string, param: string | null = null) =>
  Result.fail(new BodyInvalid({ code, param, message }))

const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a
const quote = 0x22

/** A byte order mark is tolerated at the beginning. */
const begin = (bytes: Uint8Array): number =>
  skipBlank(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** Whether these members are all there is between the braces, each with its colon and comma. */
const isWhole = (bytes: Uint8Array, open: number, members: ReadonlyArray<MemberSpan>): boolean => {
  let at = skipBlank(bytes, open + 1)
  for (const [index, { from, to, value }] of members.entries()) {
    if (index > 0) {
      if (bytes[at] !== comma) return false
      at = skipBlank(bytes, at + 1)
    }
    // The key ends with a quote, and nothing but the colon stands between it and the value.
    let between = value - 1
    while (bytes[between] !== colon && between > from) between--
    if (at !== from || bytes[between] !== colon || to <= value || value >= bytes.length) return false
    at = skipBlank(bytes, to)
  }
  return bytes[at] === closeBrace && skipBlank(bytes, at + 1) === bytes.length
}

/**
 * The members of a request body, or the first thing wrong with it: bounds, the grammar at the top, and a key that stands
 * there twice. The caller checks that the bytes are UTF-8: decoding them here took half of the time of a large body. `parseBody` is for bodies that are read as a whole.
 */
export const topMembers = (bytes: Uint8Array, limits: JsonLimits): Result.Result<Members, BodyInvalid> => {
  const open = begin(bytes)
  if (open >= bytes.length) return fault("empty_body", "The request body is empty; send a JSON object.")
  const spans: Array<MemberSpan> = []
  const scanned = scan(bytes, limits, spans)
  if (scanned._tag === "Refused") return fault(scanned.code, scanned.message)
  if (bytes[open] !== openBrace) return fault("body_not_object", "The request body must be a JSON object.")
  if (!isWhole(bytes, open, spans)) return fault("invalid_json", "The request body is not valid JSON.")
  const members = withKeys(bytes, spans)
  const byKey = new Map<string, Member>()
  for (const member of members) {
    if (byKey.has(member.key)) {
      const twice = printable(member.key)
      return fault("duplicate_key", `The key "${twice}" is in the body twice; send it once.`, twice)
    }
    byKey.set(member.key, member)
  }
  return Result.succeed(byKey)
}

/** The members of an object inside a body; empty where the value is none. The last of two with one key counts. */
export const innerMembers = (bytes: Uint8Array, { value }: Pick<Member, "value">): Members =>
  bytes[value] === openBrace ? new Map(membersOf(bytes, value).map((member) => [member.key, member])) : new Map()

/** The JSON of one value; undefined where it is not well-formed. */
export const memberJson = (bytes: Uint8Array, { to, value }: Pick<Member, "to" | "value">): Json | undefined => {
  const text = decodeUtf8(bytes.subarray(value, to))
  return text === undefined ? undefined : Result.getOrElse(parseExactJsonText(text), () => undefined)
}

export type ValueKind = "object" | "array" | "string" | "other"

export const kindOf = (bytes: Uint8Array, { value }: Pick<Member, "value">): ValueKind => {
  const byte = bytes[value]
  return byte === openBrace ? "object" : byte === openBracket ? "array" : byte === quote ? "string" : "other"
}

/** Where the elements of an array stand, at most `most` and one more; empty where the value is no array. */
export const elementsOf = (
  bytes: Uint8Array,
  { to, value }: Pick<Member, "to" | "value">,
  most: number
): ReadonlyArray<Pick<Member, "to" | "value">> => {
  const elements: Array<Pick<Member, "to" | "value">> = []
  if (bytes[value] !== openBracket) return elements
  let at = skipBlank(bytes, value + 1)
  while (at < to && bytes[at] !== closeBracket && elements.length <= most) {
    const end = valueEnd(bytes, at)
    if (end <= at) return elements
    elements.push({ value: at, to: end })
    const next = skipBlank(bytes, end)
    at = bytes[next] === comma ? skipBlank(bytes, next + 1) : next
  }
  return elements
}

/** Text to put in the place of some bytes. */
export interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

const encoder = new TextEncoder()

/** The bytes with these places written over; places are in rising order and do not overlap. None: the same bytes. */
export const spliced = (bytes: Uint8Array, splices: ReadonlyArray<Splice>): Uint8Array => {
  if (splices.length === 0) return bytes
  const texts = splices.map(({ text }) => encoder.encode(text))
  const size = splices.reduce(
    (sum, { from, to }, index) => sum - (to - from) + (texts[index]?.length ?? 0),
    bytes.length
  )
  const whole = new Uint8Array(size)
  let read = 0
  let written = 0
  for (const [index, { from, to }] of splices.entries()) {
    whole.set(bytes.subarray(read, from), written)
    written += from - read
    const text = texts[index]
    if (text !== undefined) {
      whole.set(text, written)
      written += text.length
    }
    read = to
  }
  whole.set(bytes.subarray(read), written)
  return whole
}

// Edits top-level members of a JSON object in its bytes; all other bytes stay unchanged.

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
  let last = -1
  for (const [index, member] of members.entries()) {
    const { from, key, to, value } = member
    const isEdited = Object.hasOwn(edits, key)
    const text = isEdited ? edits[key] : undefined
    if (isEdited && text === undefined) continue
    if (last >= 0) size += source.copy(whole, size, members[last]?.to, members[last + 1]?.from)
    size += source.copy(whole, size, from, text === undefined ? to : value)
    if (text !== undefined) size += whole.write(text, size)
    last = index
  }
  let isEmpty = last < 0
  for (const [key, text] of Object.entries(edits)) {
    if (text === undefined || members.some((member) => member.key === key)) continue
    size += whole.write(`${isEmpty ? "" : ","}${JSON.stringify(key)}:${text}`, size)
    isEmpty = false
  }
  size += source.copy(whole, size, members.at(-1)?.to ?? open + 1)
  return whole.subarray(0, size)
}
