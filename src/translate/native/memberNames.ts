// Members of a native body, which Google reads under two names: camel case throughout, and members that occur twice.
// It must not know particular members, or change what a client or a model made. Source: https://protobuf.dev/programming-guides/json
import * as Result from "effect/Result"
import {
  closingQuote,
  decodeUtf8,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJsonText,
  pathText,
  skipBlank,
  valueEnd
} from "../../domain/text/json.ts"

export const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An underscore at the beginning belongs to the name, as in `_responseJsonSchema`. */
export const camelName = (name: string): string =>
  name.includes("_") ? name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name

/** The member under either name; a body with both is refused before (N309). */
export const memberOf = (holder: JsonObject, name: string): Json | undefined => holder[name] ?? holder[snakeName(name)]

// A body with its members in camel case and without nulls: the crossing rules know one spelling.

/** Members whose values have names of their own. */
export const opaqueNames: ReadonlySet<string> = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "_responseJsonSchema",
  "labels",
  "partMetadata",
  "metadata"
])

/** `response` of a function's declaration is a schema, of a function's answer the answer itself: both stay as they are. */
const crossValue = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((inner: Json) => crossValue(inner))
  return isJsonObject(value) ? camelMembers(value) : value
}

/** Of two spellings of one member the camel case counts. A null is a member that is absent. */
export const camelMembers = (body: JsonObject): JsonObject => {
  const members: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(body)) {
    const written = camelName(name)
    if (value === undefined || value === null || (written !== name && body[written] !== undefined)) continue
    members[written] = opaqueNames.has(written) ? value : crossValue(value)
  }
  return members
}

/** Google reads an object where a list is due as its only element. */
export const listOf = (value: Json | undefined): Json | undefined => (isJsonObject(value) ? [value] : value)

// Finds a member that an object of a native body has twice: under one name, or under both of its names.

/** A repeated member: where it is, and its two names in the order of the body. */
export interface RepeatedMember {
  readonly path: string
  readonly names: readonly [first: string, second: string]
}

const quote = 0x22
const backslash = 0x5c
const underscore = 0x5f
const colon = 0x3a
const comma = 0x2c

const opens = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const closes = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

/** The key whose opening quote is at `from`. */
const keyAt = (bytes: Uint8Array, from: number): string => {
  const text = decodeUtf8(bytes.subarray(from, closingQuote(bytes, from) + 1)) ?? ""
  return String(Result.getOrElse(parseJsonText(text), () => text))
}

/** A number that both names of a field share, and few other names; undefined for a key with escapes. */
const fieldMark = (bytes: Uint8Array, from: number, to: number): number | undefined => {
  let mark = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    if (byte === backslash) return undefined
    // Bit 0x20 is the difference between a letter and its capital.
    if (byte !== underscore) mark = (Math.imul(mark, 31) + (byte | 0x20)) | 0
  }
  return mark
}

const encoder = new TextEncoder()
const markOf = (name: string): number => {
  const bytes = encoder.encode(name)
  return fieldMark(bytes, 0, bytes.length) ?? 0
}

/** Members whose values have names of their own, such as arguments of a call. They are passed over. */
export interface OpaqueMembers {
  readonly names: ReadonlySet<string>
  readonly marks: ReadonlySet<number>
}

export const opaqueMembers = (names: Iterable<string>): OpaqueMembers => {
  const all = new Set(names)
  return { names: all, marks: new Set([...all].map(markOf)) }
}

/** Keys of a larger object are looked up instead of compared. */
const mostCompared = 16

/** The keys of the objects and arrays that are open, of the innermost one last. */
class OpenKeys {
  private readonly bytes: Uint8Array
  private readonly marks: Array<number> = []
  private readonly places: Array<number> = []
  /** Where the keys of each begin. */
  private readonly starts: Array<number> = []
  private readonly byField: Array<Map<string, number> | undefined> = []

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  opened(): void {
    this.starts.push(this.marks.length)
    this.byField.push(undefined)
  }

  closed(): void {
    const start = this.starts.pop() ?? 0
    this.byField.pop()
    this.marks.length = start
    this.places.length = start
  }

  /** The place of the earlier key of the same field. */
  meets(mark: number, place: number): number | undefined {
    const { byField, marks, places, starts } = this
    const depth = starts.length - 1
    const start = starts[depth] ?? 0
    const known = byField[depth]
    if (known !== undefined) {
      const field = this.fieldAt(place)
      const before = known.get(field)
      known.set(field, place)
      return before
    }
    for (let at = start; at < marks.length; at++) {
      const before = places[at]
      if (marks[at] === mark && before !== undefined && this.fieldAt(before) === this.fieldAt(place)) return before
    }
    marks.push(mark)
    places.push(place)
    if (marks.length - start > mostCompared)
      byField[depth] = new Map(places.slice(start).map((one) => [this.fieldAt(one), one]))
    return undefined
  }

  private fieldAt(place: number): string {
    return camelName(keyAt(this.bytes, place))
  }
}

export const repeatedMember = (bytes: Uint8Array, opaque: OpaqueMembers): RepeatedMember | undefined => {
  const keys = new OpenKeys(bytes)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (opens(byte)) keys.opened()
    else if (closes(byte)) keys.closed()
    else if (byte === quote) {
      const from = at
      at = closingQuote(bytes, from)
      const next = skipBlank(bytes, at + 1)
      if (bytes[next] !== colon) continue
      const mark = fieldMark(bytes, from + 1, at) ?? markOf(keyAt(bytes, from))
      const before = keys.meets(mark, from)
      if (before !== undefined)
        return { path: pathText(pathTo(bytes, from)), names: [keyAt(bytes, before), keyAt(bytes, from)] }
      const isOpaque = opaque.marks.has(mark) && opaque.names.has(camelName(keyAt(bytes, from)))
      at = isOpaque ? valueEnd(bytes, skipBlank(bytes, next + 1)) - 1 : next
    }
  }
  return undefined
}

/** The keys and indexes that lead to the key at `place`, which is the last one. */
const pathTo = (bytes: Uint8Array, place: number): ReadonlyArray<string | number> => {
  const path: Array<string | number> = []
  for (let at = 0; at < place; at++) {
    const byte = bytes[at]
    const last = path.at(-1)
    if (opens(byte)) path.push(byte === 0x5b ? 0 : "")
    else if (closes(byte)) path.pop()
    else if (byte === comma && typeof last === "number") path[path.length - 1] = last + 1
    else if (byte === quote) {
      const close = closingQuote(bytes, at)
      if (typeof last === "string" && bytes[skipBlank(bytes, close + 1)] === colon)
        path[path.length - 1] = keyAt(bytes, at)
      at = close
    }
  }
  return [...path.slice(0, -1), camelName(keyAt(bytes, place))]
}
