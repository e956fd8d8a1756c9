// Long lists of numbers in the JSON of a reply as their text, so that vectors are neither parsed nor printed again.
// Must not depend on a dialect, or on what the numbers mean.
import * as Result from "effect/Result"
import {
  closingQuote,
  decodeUtf8,
  type Json,
  parseJsonReplacing,
  parseJsonText,
  skipBlank
} from "../../../domain/text/json.ts"

/** Vectors are 32-bit floats: a larger number would become infinity in base64. */
export const largestFloat = 3.4028234663852886e38

/** A list of numbers as JSON prints it. */
export class NumberList {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  numbers(): ReadonlyArray<number> {
    const numbers: unknown = Result.getOrElse(parseJsonText(this.text), () => [])
    return numbers as ReadonlyArray<number>
  }
}

const quote = 0x22
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine
const isNumberEnd = (byte: number): boolean =>
  byte === comma || byte === closeBracket || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Zero beyond the end. */
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0

const skipDigits = (bytes: Uint8Array, from: number): number => {
  let at = from
  for (let byte = byteAt(bytes, at); byte >= zero && byte <= nine; byte = byteAt(bytes, at)) at++
  return at
}

/** A decimal of at most this many digits is the shortest one of its double, so it is printed as it was written. */
const mostDigits = 15
/** More zeros after the point are printed with an exponent. */
const mostZeros = 5

/** The end of a number that `JSON.stringify` would print as it is written; `from` for any other text. */
const plainEnd = (bytes: Uint8Array, from: number): number => {
  const start = byteAt(bytes, from) === minus ? from + 1 : from
  const isFraction = byteAt(bytes, start) === zero
  const whole = isFraction ? start + 1 : skipDigits(bytes, start)
  if (byteAt(bytes, whole) !== point) {
    const isPlain = isFraction ? start === from : whole > start && whole - start <= mostDigits
    return isPlain && isNumberEnd(byteAt(bytes, whole)) ? whole : from
  }
  let first = whole + 1
  if (isFraction) while (byteAt(bytes, first) === zero) first++
  const end = skipDigits(bytes, first)
  const digits = end - first + (isFraction ? 0 : whole - start)
  const isPlain =
    whole > start && end > first && digits <= mostDigits && first - whole - 1 <= mostZeros && bytes[end - 1] !== zero
  return isPlain && isNumberEnd(byteAt(bytes, end)) ? end : from
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** A number as `JSON.stringify` prints it; undefined for one that no vector has, and for other text. */
const printed = (text: string): string | undefined => {
  const parts = jsonNumber.exec(text)
  if (parts === null) return undefined
  const number = Number(text)
  // The digits of a long integer are kept where it is parsed.
  const isLong = parts[1] === undefined && parts[2] === undefined && !Number.isSafeInteger(number)
  return isLong || Math.abs(number) > largestFloat ? undefined : String(number)
}

/** The end of a list without blanks that `JSON.stringify` would print as it is written; `open` for any other text. */
const plainListEnd = (bytes: Uint8Array, open: number): number => {
  let at = open
  for (;;) {
    const end = plainEnd(bytes, at + 1)
    if (end === at + 1) return open
    const byte = bytes[end]
    if (byte === closeBracket) return end + 1
    if (byte !== comma) return open
    at = end
  }
}

/** Where a list ends, and its text. */
interface ReadList {
  readonly end: number
  readonly text: string
}

/** The text of a list as `JSON.stringify` prints it; undefined where something else than numbers is in it. */
const printedList = (bytes: Uint8Array, open: number, source: string): ReadList | undefined => {
  let text = "["
  for (let at = open; ;) {
    const from = skipBlank(bytes, at + 1)
    let end = plainEnd(bytes, from)
    if (end > from) text += source.slice(from, end)
    else {
      while (end < bytes.length && !isNumberEnd(byteAt(bytes, end))) end++
      const number = printed(source.slice(from, end))
      if (number === undefined) return undefined
      text += number
    }
    at = skipBlank(bytes, end)
    const byte = byteAt(bytes, at)
    if (byte === closeBracket) return { end: at + 1, text: `${text}]` }
    if (byte !== comma) return undefined
    text += ","
  }
}

/** Shorter lists are parsed. */
const leastBytes = 256
/** A number in the place of a list, in a text that the reply itself does not have. */
const mark = "#list of numbers "

/**
 * The JSON of a reply with a `NumberList` in the place of each long list of numbers; undefined where it has to be parsed
 * as a whole.
 */
export const parsePassingNumbers = (bytes: Uint8Array): Json | undefined => {
  const source = decodeUtf8(bytes)
  // Places in the text are those in the bytes where all is ASCII.
  if (source?.length !== bytes.length) return undefined
  const lists: Array<NumberList> = []
  let rest = ""
  let done = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) at = closingQuote(bytes, at)
    if (bytes[at] !== openBracket) continue
    const first = byteAt(bytes, skipBlank(bytes, at + 1))
    if (first !== minus && !isDigit(first)) continue
    const plain = plainListEnd(bytes, at)
    const list = plain > at ? { end: plain, text: source.slice(at, plain) } : printedList(bytes, at, source)
    if (list === undefined) return undefined
    if (list.text.length >= leastBytes) {
      rest += `${source.slice(done, at)}"${mark}${lists.length}"`
      lists.push(new NumberList(list.text))
      done = list.end
    }
    at = list.end - 1
  }
  if (source.includes(mark)) return undefined
  const listOf = (text: string) => (text.startsWith(mark) ? lists[Number(text.slice(mark.length))] : undefined)
  return Result.getOrElse(parseJsonReplacing(rest + source.slice(done), listOf), () => undefined)
}
