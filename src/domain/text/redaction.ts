// Redacts known secret values, such as the credential of a call, from foreign text in every spelling and encoding.
// It must not know where the values come from, or where the text goes.
import { isJsonObject, type Json } from "./json.ts"

/** A secret value, and the text that replaces it. */
export interface HiddenValue {
  readonly value: string
  readonly put: string
}

export const redacted = "[redacted]"

/** Shorter values are ordinary words and numbers, which would disappear from every text. */
const leastLetters = 6

/**
 * A text with encodings removed: its bytes as one character each, and the offset of each byte in the original text. A
 * pattern built from the value would be shorter, but a value of backslashes makes it exponential.
 */
interface Reading {
  readonly bytes: string
  /** One more entry than bytes: the last one is the end. */
  readonly starts: ReadonlyArray<number>
}

/** The byte that an escape at this place encodes, and the length of the escape; undefined for a plain byte. */
type Decoder = (bytes: string, at: number) => { readonly byte: string; readonly length: number } | undefined

const hexOf = (digits: string): number | undefined =>
  /^[\da-f]+$/i.test(digits) ? Number.parseInt(digits, 16) : undefined

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }

const fromJson: Decoder = (bytes, at) => {
  if (bytes[at] !== "\\") return undefined
  const letter = bytes[at + 1] ?? ""
  if (letter === "u") {
    const code = bytes.length < at + 6 ? undefined : hexOf(bytes.slice(at + 2, at + 6))
    return code === undefined ? undefined : { byte: bytesOf(String.fromCharCode(code)), length: 6 }
  }
  const byte = controls[letter] ?? (letter === "\\" || letter === '"' || letter === "/" ? letter : undefined)
  return byte === undefined ? undefined : { byte, length: 2 }
}

const fromPercent: Decoder = (bytes, at) => {
  const code = bytes[at] === "%" && bytes.length >= at + 3 ? hexOf(bytes.slice(at + 1, at + 3)) : undefined
  return code === undefined ? undefined : { byte: String.fromCharCode(code), length: 3 }
}

/** Form encoding writes a space as a plus sign. */
const fromForm: Decoder = (bytes, at) => (bytes[at] === "+" ? { byte: " ", length: 1 } : fromPercent(bytes, at))

const bytesOf = (text: string): string => Buffer.from(text).toString("latin1")
const textOf = (bytes: string): string => Buffer.from(bytes, "latin1").toString()

const plainReading = (text: string): Reading => {
  const bytes = bytesOf(text)
  return { bytes, starts: Array.from({ length: bytes.length + 1 }, (_, at) => at) }
}

/** The text with one encoding removed; undefined when it contains no such escape. */
const decoded = ({ bytes, starts }: Reading, decode: Decoder): Reading | undefined => {
  const out: Array<string> = []
  const outStarts: Array<number> = []
  let isChanged = false
  for (let at = 0; at < bytes.length;) {
    const escape = decode(bytes, at)
    const byte = escape?.byte ?? bytes.charAt(at)
    isChanged ||= escape !== undefined
    for (let part = 0; part < byte.length; part++) outStarts.push(starts[at] ?? 0)
    out.push(byte)
    at += escape?.length ?? 1
  }
  return isChanged ? { bytes: out.join(""), starts: [...outStarts, starts.at(-1) ?? 0] } : undefined
}

/** JSON within JSON and URLs within URLs are encoded repeatedly. */
const mostEncodings = 3

/** The text with every combination of up to `mostEncodings` encodings removed. */
const readings = (reading: Reading, left = mostEncodings): ReadonlyArray<Reading> =>
  left === 0
    ? [reading]
    : [
        reading,
        ...[fromJson, fromPercent, fromForm].flatMap((decode) => {
          const inner = decoded(reading, decode)
          return inner === undefined ? [] : readings(inner, left - 1)
        })
      ]

/** The length of `\\u002f`, the widest escape of one letter. */
const widestLetter = 7

/**
 * The spellings in which errors repeat a value: line ends kept, as spaces, or removed; and both alphabets of base64.
 */
const spellingsOf = (given: string): ReadonlyArray<string> => {
  const value = given.toWellFormed()
  const base64 = Buffer.from(value).toString("base64").replace(/=+$/, "")
  const spelled = [
    value,
    value.replace(/\s+/g, " "),
    value.replace(/\n/g, ""),
    base64,
    base64.replaceAll("+", "-").replaceAll("/", "_")
  ]
  return [...new Set(spelled.map(bytesOf))].filter((one) => one.length >= leastLetters)
}

interface Hidden {
  readonly spellings: ReadonlyArray<string>
  readonly put: string
}

/** A range of a text in bytes, and the text that replaces it. */
interface Found {
  readonly from: number
  readonly to: number
  readonly put: string
}

const findIn = ({ bytes, starts }: Reading, hidden: ReadonlyArray<Hidden>): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  for (const { put, spellings } of hidden) {
    for (const spelling of spellings) {
      for (let at = bytes.indexOf(spelling); at >= 0; at = bytes.indexOf(spelling, at + spelling.length)) {
        found.push({ from: starts[at] ?? 0, to: starts[at + spelling.length] ?? bytes.length, put })
      }
    }
  }
  return found
}

/** The text with the ranges replaced; overlapping ranges are merged. */
const without = (bytes: string, found: ReadonlyArray<Found>): string => {
  let shown = ""
  let end = 0
  for (const { from, put, to } of found.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    if (from >= end) shown += bytes.slice(end, from) + put
    end = Math.max(end, to)
  }
  return shown + bytes.slice(end)
}

/** No error answer shows a longer text or a deeper value. */
const longest = 20_480
const deepest = 32

/** Created for every call, used by few. The secret values are therefore computed with the first text. */
export class Redaction {
  private readonly values: () => ReadonlyArray<HiddenValue>
  private hidden: ReadonlyArray<Hidden> | undefined
  /** The length of the longest possible spelling of a value. */
  private widest = 0

  constructor(values: () => ReadonlyArray<HiddenValue>) {
    this.values = values
  }

  /** A text that is cut also loses the last characters, which may be part of a value. */
  text(text: string): string {
    const hidden = (this.hidden ??= this.made())
    const cut = text.slice(0, longest)
    const plain = plainReading(cut)
    const found = hidden.length === 0 ? [] : readings(plain).flatMap((reading) => findIn(reading, hidden))
    const shown = found.length === 0 ? cut : textOf(without(plain.bytes, found))
    return text.length <= longest ? shown : shown.slice(0, Math.max(0, shown.length - this.widest))
  }

  /** The same JSON with its texts redacted; field names stay. */
  json(json: Json, depth = 0): Json {
    if (typeof json === "string") return this.text(json)
    if (depth > deepest) return null
    if (Array.isArray(json)) return json.map((one: Json) => this.json(one, depth + 1))
    if (!isJsonObject(json)) return json
    return Object.fromEntries(
      Object.entries(json).map(([name, inner]) => [name, inner === undefined ? inner : this.json(inner, depth + 1)])
    )
  }

  headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.text(value)]))
  }

  private made(): ReadonlyArray<Hidden> {
    const hidden = this.values().filter(({ value }) => value.length >= leastLetters)
    this.widest = hidden.reduce((most, { value }) => Math.max(most, value.length * widestLetter), 0)
    return hidden.map(({ put, value }) => ({ put, spellings: spellingsOf(value) }))
  }
}

/** A redaction without secrets. */
export const noRedaction = new Redaction(() => [])
