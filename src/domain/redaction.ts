// Takes known values, such as the credential of a call, out of foreign text, in each spelling an error may repeat them in.
// It must not know where the values come from, or where the text goes.
import { isJsonObject, type Json } from "./json.ts"

/** A value that must not be shown, and what is shown in its place. */
export interface HiddenValue {
  readonly value: string
  readonly put: string
}

export const redacted = "[redacted]"

/** Shorter values are ordinary words and numbers: texts would lose them everywhere. */
const leastLetters = 6

/** Letters that no encoding changes. */
const unreserved = /[\w.-]/

const inAnyCase = (digits: string): string => digits.replace(/[a-f]/gi, (digit) => `[${digit.toLowerCase()}${digit.toUpperCase()}]`)

/** JSON within JSON and URLs within URLs are escaped again; the bound keeps a search linear. */
const backslashes = "\\\\{0,7}"
const percent = "%(?:25){0,3}"

/** A letter in itself, percent-encoded, as a form writes it, or escaped as in JSON. */
const spelled = (letter: string): string => {
  if (unreserved.test(letter)) return letter === "." ? "\\." : letter
  const code = (letter.codePointAt(0) ?? 0).toString(16)
  const encoded = encodeURIComponent(letter)
  const hex = inAnyCase(encoded === letter ? `%${code}` : encoded).replaceAll("%", percent)
  const itself = letter === "\n" ? `\\s|${backslashes}n` : letter === " " ? "[ +]" : `${backslashes}\\u{${code}}`
  return `(?:${itself}|${hex}|${backslashes}u${inAnyCase(code.padStart(4, "0"))})`
}

/** As many letters as `\\u002f`. */
const widestLetter = 7

const patternOf = (given: string): RegExp => {
  const value = given.toWellFormed()
  const base64 = Buffer.from(value).toString("base64").replace(/=+$/, "")
  const spellings = [value, base64, base64.replaceAll("+", "-").replaceAll("/", "_")]
  return new RegExp([...new Set(spellings)].map((spelling) => Array.from(spelling, spelled).join("")).join("|"), "gu")
}

/** No error shows more of one text, nor what lies deeper. */
const longest = 20_480
const deepest = 32

/** Made for every call and used by few: values are asked for and patterns made with the first text. */
export class Redaction {
  private readonly values: () => ReadonlyArray<HiddenValue>
  private patterns: ReadonlyArray<readonly [RegExp, string]> | undefined
  /** Letters that the longest spelling of a value has. */
  private widest = 0

  constructor(values: () => ReadonlyArray<HiddenValue>) {
    this.values = values
  }

  /** A text that is cut loses its end as well, where the cut could have left a part of a value. */
  text(text: string): string {
    this.patterns ??= this.made()
    const shown = this.patterns.reduce((left, [pattern, put]) => left.replace(pattern, () => put), text.slice(0, longest))
    return text.length <= longest ? shown : shown.slice(0, Math.max(0, shown.length - this.widest))
  }

  /** The same JSON with its texts redacted; names of fields stay. */
  json(json: Json, depth = 0): Json {
    if (typeof json === "string") return this.text(json)
    if (depth > deepest) return null
    if (Array.isArray(json)) return json.map((one: Json) => this.json(one, depth + 1))
    if (!isJsonObject(json)) return json
    return Object.fromEntries(Object.entries(json).map(([name, inner]) => [name, inner === undefined ? inner : this.json(inner, depth + 1)]))
  }

  headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.text(value)]))
  }

  private made(): ReadonlyArray<readonly [RegExp, string]> {
    const hidden = this.values().filter(({ value }) => value.length >= leastLetters)
    this.widest = hidden.reduce((most, { value }) => Math.max(most, value.length * widestLetter), 0)
    return hidden.map(({ put, value }) => [patternOf(value), put])
  }
}

/** Hides nothing. */
export const noRedaction = new Redaction(() => [])
