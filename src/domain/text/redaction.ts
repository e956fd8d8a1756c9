// Removes credentials from foreign text: known values in every spelling, fields that hold secrets, texts with the form of a secret.
// It must not know where values and texts come from, or where a text goes.
import { isJsonObject, type Json } from "./json.ts"

/** Fields whose value is a secret, in JSON and in forms: those of OAuth 2 and of Google's key files. */
const fields = [
  "access_token",
  "api_key",
  "apiKey",
  "assertion",
  "client_secret",
  "id_token",
  "password",
  "private_key",
  "private_key_id",
  "refresh_token",
  "secret"
].join("|")

/** `"field": "value"`, and the same within a JSON string, where each quote has backslashes. */
const jsonField = new RegExp(String.raw`((\\{0,16})"(?:${fields})\2"\s*:\s*\2")(?:(?!\2")(?:\\.|[^\\]))*`, "gs")
const formField = new RegExp(String.raw`((?:^|[?&])(?:${fields}|key)=)[^&\s"#]*`, "g")

/**
 * Google's API keys and access tokens, bearer headers, JSON Web Tokens, keys of the gateway, and private keys. The
 * base64 of a thought signature has no dots, so it is none of them. Each pattern reads a text once: bodies are large.
 */
const forms: ReadonlyArray<RegExp> = [
  /AIza[\w-]{20,}/g,
  /ya29\.[\w.-]+/g,
  /\b1\/\/[\w-]{20,}/g,
  /\bGOCSPX-[\w-]+/g,
  /(?<=\b(?:bearer|basic)\s{1,4})[\w.~+/=-]{8,}/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\bmgk_[\w-]{8,}/g,
  /\bsk-[\w-]{20,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs
]

/** The ways in which a value is written into a text: as it is, in JSON, in a URL, in base64 and in hex. */
const spellings = (value: string): ReadonlyArray<string> => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  ...encodedSpellings(value)
]

/** The text without credentials. `secrets` are values that the caller knows. */
export const scrub = (text: string, secrets: ReadonlyArray<string> = []): string => {
  let shown = text
  for (const spelling of new Set(secrets.filter(({ length }) => length >= leastLetters).flatMap(spellings)))
    shown = shown.replaceAll(spelling, redacted)
  shown = shown.replace(jsonField, `$1${redacted}`).replace(formField, `$1${redacted}`)
  return forms.reduce((text, form) => text.replace(form, redacted), shown)
}

// Redacts known secret values, such as the credential of a call, from foreign text in every spelling and encoding.

/** A secret value, and the text that replaces it. */
export interface HiddenValue {
  readonly value: string
  readonly put: string
}

export const redacted = "[redacted]"

/** Shorter values are ordinary words and numbers, which would disappear from every text. */
const leastLetters = 6

/**
 * A text with encodings removed: its bytes as one character each, and where each byte begins and ends in the original
 * text. A pattern built from the value would be shorter, but a value of backslashes makes it exponential.
 */
interface Reading {
  readonly bytes: string
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/** What an escape at a place encodes, and the length of the escape; undefined for a plain byte. */
type Decode = (bytes: string, at: number) => { readonly byte: string; readonly length: number } | undefined

interface Decoder {
  /** A text without it has no such escape. */
  readonly mark: RegExp
  readonly decode: Decode
}

/** The value of each hexadecimal digit by its code; -1 for any other. */
const digitValues = Int8Array.from({ length: 256 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase())
)

/** The number of these hexadecimal digits; undefined where one of them is none. */
const hexAt = (bytes: string, from: number, digits: number): number | undefined => {
  let code = 0
  for (let at = from; at < from + digits; at++) {
    const digit = digitValues[bytes.charCodeAt(at)] ?? -1
    if (digit < 0) return undefined
    code = code * 16 + digit
  }
  return code
}

const controls: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }

/** `\x41` is no JSON, but the form of bytes in Python's messages. */
const fromJson: Decode = (bytes, at) => {
  if (bytes[at] !== "\\") return undefined
  const letter = bytes[at + 1] ?? ""
  const digits = letter === "u" ? 4 : letter === "x" ? 2 : 0
  if (digits > 0) {
    const code = hexAt(bytes, at + 2, digits)
    const byte = code === undefined ? "" : String.fromCharCode(code)
    return code === undefined ? undefined : { byte: digits === 2 ? byte : bytesOf(byte), length: 2 + digits }
  }
  const byte = controls[letter] ?? (letter === "\\" || letter === '"' || letter === "/" ? letter : undefined)
  return byte === undefined ? undefined : { byte, length: 2 }
}

const fromPercent: Decode = (bytes, at) => {
  const code = bytes[at] === "%" ? hexAt(bytes, at + 1, 2) : undefined
  return code === undefined ? undefined : { byte: String.fromCharCode(code), length: 3 }
}

/** Form encoding writes a space as a plus sign. */
const fromForm: Decode = (bytes, at) => (bytes[at] === "+" ? { byte: " ", length: 1 } : fromPercent(bytes, at))

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }
/** The names that escape functions write, and any number, decimal or hexadecimal. */
const entity = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y

const fromHtml: Decode = (bytes, at) => {
  if (bytes[at] !== "&") return undefined
  entity.lastIndex = at
  const [whole, name, decimal, hex] = entity.exec(bytes) ?? []
  if (whole === undefined) return undefined
  const code = decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal)
  const byte = name === undefined ? bytesOf(String.fromCodePoint(Math.min(code, 0x10ffff))) : (entities[name] ?? "")
  return { byte, length: whole.length }
}

const decoders: ReadonlyArray<Decoder> = [
  { mark: /\\/, decode: fromJson },
  { mark: /%/, decode: fromPercent },
  { mark: /\+/, decode: fromForm },
  { mark: /&/, decode: fromHtml }
]

/** Letters with spaces between them, and base64 in lines. */
const fromSpaced: Decoder = {
  mark: /\s/,
  decode: (bytes, at) => (/\s/.test(bytes.charAt(at)) ? { byte: "", length: 1 } : undefined)
}

const bytesOf = (text: string): string => Buffer.from(text).toString("latin1")
const textOf = (bytes: string): string => Buffer.from(bytes, "latin1").toString()

const plainReading = (text: string): Reading => {
  const bytes = bytesOf(text)
  const starts = Uint32Array.from({ length: bytes.length }, (_, at) => at)
  return { bytes, starts, ends: starts.map((at) => at + 1) }
}

/** The text with one encoding removed; undefined when it contains no such escape. No escape is shorter than its bytes. */
const decoded = ({ bytes, ends, starts }: Reading, { decode, mark }: Decoder): Reading | undefined => {
  if (!mark.test(bytes)) return undefined
  const out: Array<string> = []
  const outStarts = new Uint32Array(bytes.length)
  const outEnds = new Uint32Array(bytes.length)
  let [length, plainFrom] = [0, 0]
  for (let at = 0; at < bytes.length;) {
    const escape = decode(bytes, at)
    const byte = escape?.byte.length ?? 1
    const next = at + (escape?.length ?? 1)
    outStarts.fill(starts[at] ?? 0, length, length + byte)
    outEnds.fill(ends[next - 1] ?? 0, length, length + byte)
    length += byte
    if (escape !== undefined) {
      out.push(bytes.slice(plainFrom, at), escape.byte)
      plainFrom = next
    }
    at = next
  }
  if (plainFrom === 0) return undefined
  out.push(bytes.slice(plainFrom))
  return { bytes: out.join(""), starts: outStarts.subarray(0, length), ends: outEnds.subarray(0, length) }
}

/** JSON within JSON and URLs within URLs are encoded repeatedly. */
const mostEncodings = 3

/**
 * The text with every combination of up to `mostEncodings` encodings removed, and once without its spaces. Combinations
 * that give the same bytes are read once.
 */
const readings = (plain: Reading): ReadonlyArray<Reading> => {
  const all = [plain]
  const seen = new Set([plain.bytes])
  let latest = all
  for (let depth = 0; depth < mostEncodings; depth++) {
    latest = latest
      .flatMap((reading) => decoders.map((decoder) => decoded(reading, decoder)))
      .filter((reading) => reading !== undefined)
      .filter(({ bytes }) => !seen.has(bytes) && seen.add(bytes))
    all.push(...latest)
  }
  const dense = decoded(plain, fromSpaced)
  return dense === undefined ? all : [...all, dense]
}

/** The length of the widest escape of one letter: `&amp;amp;#x2f;`. */
const widestLetter = 14
/** The same for values so long that the widest form would take half of the text: `\\\\u002f`. */
const widestOfLong = 7

/** Bytes that base64 encodes independently of what is around them: shorter ones occur in other texts. */
const leastBase64 = 6

/** A part of a value's base64, and how many letters next to it hold the rest of the value. */
interface Base64Part {
  readonly text: string
  readonly before: number
  readonly after: number
}

/** The letters that hold bits of one or two bytes. */
const lettersOf = (bytes: number): number => (bytes === 0 ? 0 : bytes + 1)

/**
 * The parts of a value's base64 that stay the same whatever was encoded before and after it: for each of the three places
 * that a byte can have in a group. Both alphabets.
 */
const base64Parts = (bytes: Buffer): ReadonlyArray<Base64Part> =>
  [0, 1, 2].flatMap((from) => {
    const part = bytes.subarray(from, from + Math.floor((bytes.length - from) / 3) * 3)
    if (part.length < leastBase64) return []
    const [before, after] = [lettersOf(from), lettersOf(bytes.length - from - part.length)]
    const texts = new Set([part.toString("base64"), part.toString("base64url")])
    return Array.from(texts, (text) => ({ text, before, after }))
  })

/**
 * The spellings in which errors repeat a value: line ends kept, as spaces, or removed.
 */
const spellingsOf = (value: string): ReadonlyArray<string> => {
  const spelled = [value, value.replace(/\s+/g, " "), value.replace(/\n/g, ""), value.replace(/\s/g, "")]
  return [...new Set(spelled.map(bytesOf))].filter((one) => one.length >= leastLetters)
}

interface Hidden {
  readonly spellings: ReadonlyArray<string>
  readonly base64: ReadonlyArray<Base64Part>
  /** In small letters; found in any. */
  readonly hex: string
  readonly put: string
}

const hiddenOf = ({ put, value: given }: HiddenValue): Hidden => {
  const value = given.toWellFormed()
  const bytes = Buffer.from(value)
  return { put, spellings: spellingsOf(value), base64: base64Parts(bytes), hex: bytes.toString("hex") }
}

/** Base64 and hex of a value, alone and within an encoded text, for a search without readings. */
const encodedSpellings = (value: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(value)
  const hex = bytes.toString("hex")
  const whole = [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")]
  return [...new Set([...whole, ...base64Parts(bytes).map(({ text }) => text), hex, hex.toUpperCase()])]
}

/** A range of a text in bytes, and the text that replaces it. */
interface Found {
  readonly from: number
  readonly to: number
  readonly put: string
}

const base64Letter = /[\w+/-]/

/** The range of a found part with the letters next to it that hold the rest of its value, and the padding. */
const base64Range = (bytes: string, at: number, { after, before, text }: Base64Part): readonly [number, number] => {
  let [from, to] = [at, at + text.length]
  while (at - from < before && base64Letter.test(bytes.charAt(from - 1))) from--
  const most = to + after
  while (to < most && base64Letter.test(bytes.charAt(to))) to++
  while (bytes[to] === "=") to++
  return [from, to]
}

const placesOf = (text: string, part: string): ReadonlyArray<number> => {
  const places: Array<number> = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

const findIn = ({ bytes, ends, starts }: Reading, hidden: ReadonlyArray<Hidden>): ReadonlyArray<Found> => {
  const small = bytes.toLowerCase()
  const secretAt = (from: number, to: number, put: string): Found => ({
    from: starts[from] ?? 0,
    to: ends[to - 1] ?? 0,
    put
  })
  return hidden.flatMap(({ base64, hex, put, spellings }) => [
    ...spellings.flatMap((part) => placesOf(bytes, part).map((at) => secretAt(at, at + part.length, put))),
    ...placesOf(small, hex).map((at) => secretAt(at, at + hex.length, put)),
    ...base64.flatMap((part) => placesOf(bytes, part.text).map((at) => secretAt(...base64Range(bytes, at, part), put)))
  ])
}

/** The text with the ranges replaced; overlapping ranges are merged. */
const without = (bytes: string, secrets: ReadonlyArray<Found>): string => {
  let shown = ""
  let end = 0
  for (const { from, put, to } of secrets.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    if (from >= end) shown += bytes.slice(end, from) + put
    end = Math.max(end, to)
  }
  return shown + bytes.slice(end)
}

/** No error answer shows a longer text or a deeper value. */
const longest = 20_480
const deepest = 32

const widestOf = ({ length }: string): number =>
  length * (length * widestLetter > longest / 2 ? widestOfLong : widestLetter)

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
    const secrets = hidden.length === 0 ? [] : readings(plain).flatMap((reading) => findIn(reading, hidden))
    const shown = secrets.length === 0 ? cut : textOf(without(plain.bytes, secrets))
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
    this.widest = hidden.reduce((most, { value }) => Math.max(most, widestOf(value)), 0)
    return hidden.map(hiddenOf)
  }
}

/** A redaction without secrets. */
export const noRedaction = new Redaction(() => [])
