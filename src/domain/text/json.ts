// Parses JSON text and bytes within limits of depth, values and keys; integers beyond 2^53 keep their digits.
// It must not know HTTP or any dialect. No other file calls JSON.parse.
import * as Result from "effect/Result"
import { BodyInvalid } from "../GatewayError.ts"
import type { LimitValues } from "../Limits.ts"
import { printable } from "./printable.ts"

/** Any value that JSON text can contain. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object; a missing key and `undefined` mean the same. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** True for an object that is not null, not an array, and not a number kept as its digits. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

/** True for an integer beyond 2^53, which is kept as its digits and is not a `number`. */
export const isLongInteger = (value: unknown): boolean => JSON.isRawJSON(value)

/** True for a number that no numeric field accepts: an integer kept as its digits, or the infinity of `1e400`. */
export const isOutOfRange = (value: unknown): boolean =>
  isLongInteger(value) || (typeof value === "number" && !Number.isFinite(value))

/** The end of the error sentence for such a number. */
export const outOfRange = "is out of range: integers are below 2^53, other numbers finite"

const isLong = (value: unknown): value is Json => JSON.isRawJSON(value)

/** Converts a value that a schema has checked to be JSON; fields without a value are left out. */
const jsonOf = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(jsonOf)
  if (isJsonObject(value)) return jsonObjectOf(value)
  if (isLong(value)) return value
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null
}

/** The same for an object. A loop: `Object.fromEntries` of entries takes six times as long. */
export const jsonObjectOf = (value: object): JsonObject => {
  const copy: { [name: string]: Json } = {}
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    if (name === "__proto__") Object.defineProperty(copy, name, { value: jsonOf(inner), ...ordinary })
    else copy[name] = jsonOf(inner)
  }
  return copy
}

const ordinary = { enumerable: true, configurable: true, writable: true } as const

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

const parse = (text: string, reviver?: Reviver): Result.Result<Json, string> => {
  try {
    const value: Json = JSON.parse(text, reviver)
    return Result.succeed(value)
  } catch (error) {
    return Result.fail(error instanceof Error ? error.message : String(error))
  }
}

/** True for an object with at least one field. */
export const hasKeys = (value: object): boolean => {
  for (const _key in value) return true
  return false
}

/** Parses JSON text whose size is already bounded; the failure is one sentence. */
export const parseJsonText = (text: string): Result.Result<Json, string> => parse(text)

/** Why a body is rejected: codes `empty_body`, `invalid_utf8`, `invalid_json`, `json_too_deep`, ... */
export type BodyFault = BodyInvalid
export type JsonLimits = Pick<LimitValues, "jsonDepth" | "jsonValues" | "jsonKeys">

const fault = (code: string, message: string, param: string | null = null) =>
  Result.fail(new BodyInvalid({ code, param, message }))

/** `fatal`: an invalid byte throws instead of becoming U+FFFD. The decoder drops a byte order mark. */
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The text of bytes; undefined when they are not valid UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Parses a request body as a JSON object. One pass over the bytes checks the limits first, because deep or wide text
 */
export const parseBody = <E = never>(
  bytes: Uint8Array,
  limits: JsonLimits,
  spans?: Array<MemberSpan>,
  admit?: (values: number) => E | undefined
): Result.Result<JsonObject, BodyFault | E> => {
  if (bytes.length === 0) return fault("empty_body", "The request body is empty; send a JSON object.")
  const scanned = scan(bytes, limits, spans)
  if (scanned._tag === "Refused") return fault(scanned.code, scanned.message)
  const refusal = admit?.(scanned.values)
  if (refusal !== undefined) return Result.fail(refusal)
  const text = decodeUtf8(bytes)
  if (text === undefined) return fault("invalid_utf8", "The request body is not valid UTF-8.")
  const parsed = parse(text, scanned.longNumbers ? exactly : undefined)
  if (Result.isFailure(parsed)) {
    return text.trim() === ""
      ? fault("empty_body", "The request body is empty; send a JSON object.")
      : fault("invalid_json", `The request body is not valid JSON${whereOf(parsed.failure)}.`)
  }
  const value = parsed.success
  if (!isJsonObject(value)) return fault("body_not_object", "The request body must be a JSON object.")
  if (Object.keys(value).length !== scanned.topKeys) {
    const twice = printable(duplicateKey(bytes) ?? "")
    return fault("duplicate_key", `The key "${twice}" is in the body twice; send it once.`, twice)
  }
  return Result.succeed(text.includes("\\u") ? objectOfWholeCharacters(value) : value)
}

/** The position of V8's message, without the excerpt of the content that V8 quotes. */
const whereOf = (message: string): string => {
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? "" : `: it breaks at character ${position}`
}

export type Scan =
  | { readonly _tag: "Scanned"; readonly topKeys: number; readonly values: number; readonly longNumbers: boolean }
  | { readonly _tag: "Refused"; readonly code: string; readonly message: string }

/** The number of digits of 2^53. */
const longDigits = 16
const quote = 0x22
const backslash = 0x5c

/** The index of the quote that ends the string opened at `start`, or the length when there is none. */
export const closingQuote = (bytes: Uint8Array, start: number): number => {
  const first = bytes.indexOf(quote, start + 1)
  if (first < 0) return bytes.length
  if (bytes[first - 1] !== backslash) return first
  // Searching again for each escaped quote takes ten times as long as a look at each byte.
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) return at
    if (byte === backslash) at++
  }
  return bytes.length
}

/** The byte offsets of a member: its key from the opening quote, its value, and the first byte after the value. */
export interface MemberSpan {
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
  if (bytes[from] === quote) return closingQuote(bytes, from) + 1
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = closingQuote(bytes, at)
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (byte === 0x2c || isBlank(byte))) return at
  }
  return bytes.length
}

/** Finds the members at the top while a scan passes them. What does not belong to any stays between their places. */
class TopSpans {
  private readonly spans: Array<MemberSpan>
  /** The last string at the top. */
  private text = { from: -1, to: -1 }
  private member: { from: number; value: number; to: number } | undefined

  constructor(spans: Array<MemberSpan>) {
    this.spans = spans
  }

  string(from: number, to: number): void {
    if (this.member === undefined) this.text = { from, to }
    else if (this.member.value === from) this.member.to = to
  }

  /** A brace or bracket below the top closes at `at`. */
  closed(at: number): void {
    if (this.member?.to === -1) this.member.to = at + 1
  }

  colon(bytes: Uint8Array, at: number): void {
    const { from, to } = this.text
    if (this.member !== undefined || skipBlank(bytes, to) !== at) return
    const value = skipBlank(bytes, at + 1)
    const first = bytes[value]
    const isPassed = first === quote || first === 0x7b || first === 0x5b
    this.member = { from, value, to: isPassed ? -1 : valueEnd(bytes, value) }
  }

  /** A comma, or the end of the object. */
  end(): void {
    if (this.member !== undefined) this.spans.push(this.member)
    this.member = undefined
    this.text = { from: -1, to: -1 }
  }
}

/**
 * Counts depth, values and keys in one pass, and adds the members at the top to `spans`. It does not check the grammar;
 * JSON.parse does.
 */
export const scan = (bytes: Uint8Array, limits: JsonLimits, spans?: Array<MemberSpan>): Scan => {
  const top = spans === undefined ? undefined : new TopSpans(spans)
  const keys: Array<number> = [0]
  let depth = 0
  let values = 1
  let opened = false
  let topKeys = 0
  let digits = 0
  let lastDigit = -1
  let longNumbers = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    switch (byte) {
      case quote: {
        const open = at
        at = closingQuote(bytes, at)
        if (depth === 1) top?.string(open, at + 1)
        opened = false
        break
      }
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > limits.jsonDepth) return tooDeep(limits.jsonDepth)
        keys[depth] = 0
        opened = true
        break
      case 0x7d: // }
      case 0x5d: // ]
        if (!opened) values++
        if (depth === 2) top?.closed(at)
        if (depth === 1) {
          topKeys = keys[1] ?? 0
          top?.end()
        }
        depth = depth === 0 ? 0 : depth - 1
        opened = false
        break
      case 0x2c: // ,
        if (++values > limits.jsonValues) return tooLarge(limits)
        if (depth === 1) top?.end()
        break
      case 0x3a: {
        // :
        if (depth === 1) top?.colon(bytes, at)
        const count = (keys[depth] ?? 0) + 1
        if (count > limits.jsonKeys) return tooLarge(limits)
        keys[depth] = count
        break
      }
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        break
      default:
        opened = false
        if (byte < 0x30 || byte > 0x39) break
        digits = lastDigit === at - 1 ? digits + 1 : 1
        lastDigit = at
        longNumbers ||= digits === longDigits
    }
  }
  return values > limits.jsonValues ? tooLarge(limits) : { _tag: "Scanned", topKeys, values, longNumbers }
}

const tooDeep = (depth: number): Scan => ({
  _tag: "Refused",
  code: "json_too_deep",
  message: `The request body is nested deeper than ${depth} levels.`
})
const tooLarge = (limits: JsonLimits): Scan => ({
  _tag: "Refused",
  code: "json_too_large",
  message: `The request body holds more than ${limits.jsonValues} values, or an object of more than ${limits.jsonKeys} keys; send large data as text.`
})

/** The first repeated top-level key; `bytes` must be a JSON object. */
const duplicateKey = (bytes: Uint8Array): string | undefined => {
  const seen = new Set<string>()
  let depth = 0
  let key = ""
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      const end = closingQuote(bytes, at)
      if (depth === 1) key = utf8.decode(bytes.subarray(at, end + 1))
      at = end
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte === 0x3a && depth === 1) {
      const name = String(Result.getOrElse(parseJsonText(key), () => key))
      if (seen.has(name)) return name
      seen.add(name)
    }
  }
  return undefined
}

/**
 * A half of a surrogate pair is no character, and providers refuse a NUL: U+FFFD takes the place of both. Only escapes
 * (`\ud800`) bring them into JSON text.
 */
const wholeCharacters = (text: string): string => {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.includes("\0") ? whole.replaceAll("\0", "\ufffd") : whole
}

/** The value with characters alone in its texts and keys. */
export const ofWholeCharacters = (value: Json | undefined): Json | undefined => {
  if (typeof value === "string") return wholeCharacters(value)
  if (Array.isArray(value)) return value.map((inner: Json) => ofWholeCharacters(inner) ?? null)
  return isJsonObject(value) ? objectOfWholeCharacters(value) : value
}

const objectOfWholeCharacters = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [wholeCharacters(key), ofWholeCharacters(inner)]))

/** `messages[0].content`: a path as error answers spell it, cut and printable. */
export const pathText = (path: ReadonlyArray<PropertyKey>): string => {
  let text = ""
  for (const step of path) {
    text += typeof step === "number" ? `[${step}]` : `${text === "" ? "" : "."}${printable(String(step))}`
  }
  return text.slice(0, 256)
}

declare global {
  interface JSON {
    /** A value that stringifies to the given JSON text (ES2026, in Node since 21). */
    rawJSON(text: string): { readonly rawJSON: string }
    isRawJSON(value: unknown): boolean
  }
}

/**
 * Sixteen digits of an integer. Digits after a decimal point are excluded, because vectors of floats would always take
 * the slow path.
 */
const longRun = /(?:^|[^\d.])\d{16}/
const integer = /^-?\d+$/

/** Like `parseJsonText`, but integers beyond 2^53 keep their digits when the value is stringified again. */
export const parseExactJsonText = (text: string): Result.Result<Json, string> =>
  parse(text, longRun.test(text) ? exactly : undefined)

/** The same with an object in the place of each string for which there is one. */
export const parseJsonReplacing = (
  text: string,
  replaced: (value: string) => object | undefined
): Result.Result<Json, string> =>
  parse(text, (key, value, context) =>
    typeof value === "string" ? (replaced(value) ?? value) : exactly(key, value, context)
  )

const exactly: Reviver = (_key, value, context) => {
  const source = context?.source
  return typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && integer.test(source)
    ? JSON.rawJSON(source)
    : value
}
