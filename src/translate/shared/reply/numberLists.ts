// Long lists of numbers in the JSON of a reply as their text, so that vectors are neither parsed nor printed again.
// Must not depend on a dialect, or on what the numbers mean.
import * as Result from "effect/Result"
import { skipBlank } from "../../../domain/text/editTopLevel.ts"
import { closingQuote, decodeUtf8, type Json, parseJsonReplacing, parseJsonText } from "../../../domain/text/json.ts"

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

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= 0x39
const isNumberEnd = (byte: number | undefined): boolean =>
  byte === comma || byte === closeBracket || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const skip = (bytes: Uint8Array, from: number): number => {
  let at = from
  while (isDigit(bytes[at])) at++
  return at
}

/** A decimal of at most this many digits is the shortest one of its double, so it is printed as it was written. */
const mostDigits = 15
/** More zeros after the point are printed with an exponent. */
const mostZeros = 5

/** The end of a number that `JSON.stringify` would print as it is written; `from` for any other text. */
const plainEnd = (bytes: Uint8Array, from: number): number => {
  const start = bytes[from] === minus ? from + 1 : from
  const isFraction = bytes[start] === zero
  const whole = isFraction ? start + 1 : skip(bytes, start)
  if (bytes[whole] !== point) {
    const isPlain = isFraction ? start === from : whole > start && whole - start <= mostDigits
    return isPlain && isNumberEnd(bytes[whole]) ? whole : from
  }
  let first = whole + 1
  if (isFraction) while (bytes[first] === zero) first++
  const end = skip(bytes, first)
  const digits = end - first + (isFraction ? 0 : whole - start)
  const isPlain =
    whole > start && end > first && digits <= mostDigits && first - whole - 1 <= mostZeros && bytes[end - 1] !== zero
  return isPlain && isNumberEnd(bytes[end]) ? end : from
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

/** Where a list ends, and the size of its copy. */
interface Copied {
  readonly end: number
  readonly size: number
}

/** Copies the list that opens at `open` as JSON prints it; undefined where something else than numbers is in it. */
const copyList = (bytes: Uint8Array, open: number, out: Uint8Array): Copied | undefined => {
  let size = 0
  out[size++] = openBracket
  for (let from = skipBlank(bytes, open + 1); size < out.length; from = skipBlank(bytes, from + 1)) {
    let end = plainEnd(bytes, from)
    for (let at = from; at < end; at++) out[size++] = bytes[at] ?? 0
    if (end === from) {
      while (end < bytes.length && !isNumberEnd(bytes[end])) end++
      const text = printed(decodeUtf8(bytes.subarray(from, end)) ?? "")
      if (text === undefined) return undefined
      for (let at = 0; at < text.length; at++) out[size++] = text.charCodeAt(at)
    }
    from = skipBlank(bytes, end)
    const next = bytes[from] ?? 0
    out[size++] = next
    // A copy beyond the bounds is cut, and so not taken.
    if (next === closeBracket) return size <= out.length ? { end: from + 1, size } : undefined
    if (next !== comma) return undefined
  }
  return undefined
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
  const lists: Array<NumberList> = []
  // Blanks go and few numbers grow, so that a copy is seldom longer than the reply.
  const out = new Uint8Array(bytes.length + (bytes.length >> 3) + leastBytes)
  let rest = ""
  let done = 0
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) at = closingQuote(bytes, at)
    if (bytes[at] !== openBracket) continue
    const first = bytes[skipBlank(bytes, at + 1)]
    if (first !== minus && !isDigit(first)) continue
    const copied = copyList(bytes, at, out)
    if (copied === undefined) return undefined
    if (copied.size >= leastBytes) {
      const before = decodeUtf8(bytes.subarray(done, at))
      const list = decodeUtf8(out.subarray(0, copied.size))
      if (before === undefined || list === undefined || before.includes(mark)) return undefined
      rest += `${before}"${mark}${lists.length}"`
      lists.push(new NumberList(list))
      done = copied.end
    }
    at = copied.end - 1
  }
  const after = decodeUtf8(bytes.subarray(done))
  if (after === undefined || after.includes(mark)) return undefined
  const listOf = (text: string) => (text.startsWith(mark) ? lists[Number(text.slice(mark.length))] : undefined)
  return Result.getOrElse(parseJsonReplacing(rest + after, listOf), () => undefined)
}
