// JSON text inside a string of a body: counted within the limits of a body before it is parsed.
// It must not know HTTP or any dialect.
import * as Result from "effect/Result"
import { type Json, type JsonLimits, ofWholeCharacters, parseExactJsonText } from "./json.ts"

const quote = 0x22
const backslash = 0x5c

/** The index of the quote that ends the string opened at `start`, or the length when there is none. */
const closingQuote = (text: string, start: number): number => {
  const first = text.indexOf('"', start + 1)
  if (first < 0) return text.length
  if (text.charCodeAt(first - 1) !== backslash) return first
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at++
  }
  return text.length
}

/** The values of a JSON text, as `scan` counts those of a body; undefined for a text beyond a limit. */
export const countValues = (text: string, { jsonDepth, jsonKeys, jsonValues }: JsonLimits): number | undefined => {
  const keys: Array<number> = [0]
  let depth = 0
  let values = 1
  let isOpened = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = closingQuote(text, at)
        isOpened = false
        break
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > jsonDepth) return undefined
        keys[depth] = 0
        isOpened = true
        break
      case 0x7d: // }
      case 0x5d: // ]
        if (!isOpened) values++
        depth = depth === 0 ? 0 : depth - 1
        isOpened = false
        break
      case 0x2c: // ,
        if (++values > jsonValues) return undefined
        break
      case 0x3a: {
        // :
        const count = (keys[depth] ?? 0) + 1
        if (count > jsonKeys) return undefined
        keys[depth] = count
        break
      }
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        break
      default:
        isOpened = false
    }
  }
  return values > jsonValues ? undefined : values
}

/** The values of parsed JSON: an object or array and all that is in it. */
export const valuesIn = (json: unknown): number => {
  if (typeof json !== "object" || json === null) return 1
  let values = 1
  for (const inner of Array.isArray(json) ? json : Object.values(json)) values += valuesIn(inner)
  return values
}

/** Parses JSON text inside a string of a body; its depth and width are not yet checked. */
export const parseInnerJsonText = (text: string, limits: JsonLimits): Result.Result<Json, string> =>
  text.length > limits.jsonDepth && countValues(text, limits) === undefined
    ? Result.fail("The JSON text is nested too deep, or holds too many values.")
    : withWholeCharacters(text)

const withWholeCharacters = (text: string): Result.Result<Json, string> =>
  text.includes("\\u")
    ? Result.map(parseExactJsonText(text), (value) => ofWholeCharacters(value) ?? null)
    : parseExactJsonText(text)
