// Parses the YAML or JSON text of a configuration file, and finds the line and column of each key.
// Must not know what the keys mean. For text it cannot follow it returns the nearest position above.
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import { type Json, parseJsonText } from "../../domain/text/json.ts"
import type { FaultPath } from "../../domain/faults.ts"

export interface SettingsText {
  readonly value: Json
  readonly isBlank: boolean
  readonly locate: (path: FaultPath) => Position | undefined
}

/** A text that is not valid YAML or JSON. The line is present when the parser reports one. */
export interface Unreadable {
  readonly message: string
  readonly line: number | undefined
}

const mergeKey = "\uE003\uE004"

/**
 * `{ key: ${NAME} }` is not valid YAML, so references are masked at equal length while the text is parsed. So are merge
 * keys: the parser copies what they merge, which takes gigabytes for a small text.
 */
const masked = (text: string): string =>
  text.replace(/\$\{([^}\n]*)\}/g, "\uE000\uE001$1\uE002").replace(/(?<!["'])<<(?!["'])/g, mergeKey)
const unmasked = (text: string): string =>
  text.replace(/\uE000\uE001([^\uE002]*)\uE002/g, "${$1}").replaceAll(mergeKey, "<<")

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const asList = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [value])

/** What a value is when its aliases are written out: `distinct` counts each part once, `all` each time that it is used. */
interface Measure {
  readonly distinct: number
  readonly all: number
  readonly depth: number
}

const { jsonDepth, jsonValues } = defaultLimits

/** A long text weighs as several values. */
const lettersOfValue = 64

const tooDeep = `lists and mappings are nested deeper than ${jsonDepth} levels; nest them less`
const tooLarge = `its aliases stand for more than ${jsonValues} values; use fewer aliases (*name, <<), or write out the values that are needed`

/**
 * Why a parsed value cannot be read. It is measured in linear time, although an alias of aliases can stand for billions
 * of values.
 */
const faultOf = (value: unknown): string | undefined => {
  const measured = new Map<object, Measure>()
  const texts = new Set<string>()
  const fail = (message: string): Result.Result<never, string> => Result.fail(message)
  const measure = (one: unknown, depth: number): Result.Result<Measure, string> => {
    if (typeof one === "string" && one.length >= lettersOfValue) {
      const size = 1 + Math.floor(one.length / lettersOfValue)
      const distinct = texts.has(one) ? 1 : size
      texts.add(one)
      return Result.succeed({ distinct, all: size, depth: 0 })
    }
    if (typeof one !== "object" || one === null) return Result.succeed({ distinct: 1, all: 1, depth: 0 })
    const before = measured.get(one)
    if (depth + (before?.depth ?? 0) > jsonDepth) return fail(tooDeep)
    if (before !== undefined) return Result.succeed({ ...before, distinct: 1 })
    let [distinct, all, below] = [1, 1, 0]
    for (const [key, inner] of Object.entries(one)) {
      if (key === mergeKey && !asList(inner).every(isMapping)) return fail("Merge key values must be mappings")
      const part = measure(inner, depth + 1)
      if (Result.isFailure(part)) return part
      distinct += part.success.distinct
      all += part.success.all
      below = Math.max(below, part.success.depth + 1)
    }
    measured.set(one, { distinct, all, depth: below })
    return Result.succeed({ distinct, all, depth: below })
  }
  return Result.match(measure(value, 0), {
    onFailure: (message) => message,
    onSuccess: ({ all, distinct }) => (all - distinct > jsonValues ? tooLarge : undefined)
  })
}

/** The members of a mapping. Explicit keys take precedence over merged ones, and earlier sources over later ones. */
const membersOf = (mapping: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> => {
  const members = new Map<string, unknown>()
  for (const [key, value] of Object.entries(mapping)) {
    if (key !== mergeKey) members.set(key, value)
    else
      for (const source of asList(value).filter(isMapping))
        for (const [name, merged] of membersOf(source)) if (!members.has(name)) members.set(name, merged)
  }
  return members
}

const toJson = (value: unknown): Json => {
  if (typeof value === "string") return unmasked(value)
  if (value === null || typeof value === "boolean" || typeof value === "number") return value
  if (Array.isArray(value)) return value.map(toJson)
  if (!isMapping(value)) return null
  return Object.fromEntries(Array.from(membersOf(value), ([key, member]) => [unmasked(key), toJson(member)]))
}

const sized = (value: unknown): Result.Result<Json, Unreadable> => {
  const message = faultOf(value)
  return message === undefined ? Result.succeed(toJson(value)) : Result.fail({ message, line: undefined })
}

const yamlOf = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: () => Yaml.parse(text),
    // The parser calls itself for each level, until the stack ends.
    catch: (error) => (error instanceof RangeError ? tooDeep : error instanceof Error ? error.message : "not YAML")
  })

/** The line of a fault that the parser reports without one: the shortest prefix of the text with the same fault. */
const lineOf = (text: string, fault: string): number => {
  const lines = text.split("\n")
  let [sound, wrong] = [0, lines.length]
  while (wrong - sound > 1) {
    const middle = (sound + wrong) >> 1
    const read = yamlOf(lines.slice(0, middle).join("\n"))
    if (Result.isFailure(read) && read.failure === fault) wrong = middle
    else sound = middle
  }
  return wrong
}

const unreadableYaml = (text: string, fault: string): Unreadable => {
  const located = /^(.*) at line (\d+)$/.exec(fault)
  return {
    message: unmasked(located?.[1] ?? fault.replace(/ at flow offset \d+$/, " in a flow collection")),
    line: located?.[2] === undefined ? lineOf(text, fault) : Number(located[2])
  }
}

const parseYaml = (text: string): Result.Result<Json, Unreadable> =>
  Result.flatMap(
    Result.mapError(yamlOf(text), (fault) => unreadableYaml(text, fault)),
    sized
  )

const parseJson = (text: string): Result.Result<Json, Unreadable> =>
  // The parser's message quotes the text around the fault, which may be a secret.
  Result.flatMap(
    Result.mapError(parseJsonText(text), (message) => {
      const line = /\(line (\d+) /.exec(message)?.[1]
      return { message: "not JSON", line: line === undefined ? undefined : Number(line) }
    }),
    sized
  )

/** Parses YAML, or JSON when the name ends in `.json`. */
export const parseSettingsText = (name: string, text: string): Result.Result<SettingsText, Unreadable> => {
  const written = masked(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"))
  return Result.map(name.endsWith(".json") ? parseJson(written) : parseYaml(written), (value) => ({
    value,
    isBlank: written.trim() === "",
    locate: (path) => locatePath(written, path)
  }))
}

// Finds the line and column of a key in YAML or JSON text, for parsers that report none.

/** Both count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

const positionOf = (text: string, offset: number): Position => {
  const before = text.slice(0, offset).split("\n")
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const indentOf = (row: string): number => row.length - row.trimStart().length
const isIgnored = (row: string): boolean => /^\s*(#.*|---\s*)?$/.test(row)
const isItem = (row: string): boolean => /^\s*-(\s|$)/.test(row)
const unquote = (key: string): string => (/^(["']).*\1$/.test(key) ? key.slice(1, -1) : key)

/** Offset after the quoted or plain flow token that starts at `from`. */
const tokenEnd = (text: string, from: number): number => {
  const quote = text[from]
  if (quote !== '"' && quote !== "'") {
    const length = text.slice(from).search(/[,:{}[\]\n]/)
    return length < 0 ? text.length : from + length
  }
  let end = from + 1
  while (end < text.length && text[end] !== quote) end += text[end] === "\\" && quote === '"' ? 2 : 1
  return end + 1
}

/** Offset of the comma or bracket that ends the flow value at `from`. */
const valueEnd = (text: string, from: number): number => {
  let depth = 0
  let at = from
  while (at < text.length) {
    const char = text[at] ?? ""
    if (depth === 0 && ",}]".includes(char)) return at
    if ("{[".includes(char)) depth++
    if ("}]".includes(char)) depth--
    at = char === '"' || char === "'" ? tokenEnd(text, at) : at + 1
  }
  return at
}

const skipBlank = (text: string, from: number): number =>
  from + (/^(\s|,|#[^\n]*\n)*/.exec(text.slice(from))?.[0].length ?? 0)

/** Follows the path inside the flow collection at `from`. Returns the offset of the last part found. */
const locateFlow = (text: string, from: number, path: FaultPath): number | undefined => {
  const [part, ...rest] = path
  let at = skipBlank(text, from + 1)
  for (let index = 0; at < text.length && !"}]".includes(text[at] ?? ""); index++) {
    let name: string | number = index
    let value = at
    if (text[from] === "{") {
      const end = tokenEnd(text, at)
      name = unquote(text.slice(at, end).trim())
      value = skipBlank(text, text.indexOf(":", end) + 1)
    }
    if (name === part) {
      const below = rest.length > 0 && "{[".includes(text[value] ?? "") ? locateFlow(text, value, rest) : undefined
      return below ?? at
    }
    at = skipBlank(text, valueEnd(text, value))
  }
  return undefined
}

const keyOf = (row: string): string => unquote(/^\s*("[^"]*"|'[^']*'|[^:]*?)\s*:(\s|$)/.exec(row)?.[1] ?? "")

/** The row with its dash or key replaced by spaces, so that the rest reads as a block of its own. */
const blankPart = (row: string, part: string | number): string => {
  const length = typeof part === "number" ? indentOf(row) + 1 : row.indexOf(":", row.indexOf(part) + part.length) + 1
  return " ".repeat(length) + row.slice(length)
}

/** Line and column of the deepest part of the path that exists in the text. */
export const locatePath = (text: string, path: FaultPath): Position | undefined => {
  const rows = text.split("\n")
  let [from, to] = [0, rows.length]
  let position: Position | undefined
  for (const [depth, part] of path.entries()) {
    while (from < to && isIgnored(rows[from] ?? "")) from++
    const first = rows[from] ?? ""
    const indent = indentOf(first)
    if (from < to && "{[".includes(first[indent] ?? " ")) {
      const offset = locateFlow(
        text,
        text.split("\n", from).join("\n").length + Math.min(from, 1) + indent,
        path.slice(depth)
      )
      return offset === undefined ? position : positionOf(text, offset)
    }
    const ends = (row: string) =>
      !isIgnored(row) &&
      (indentOf(row) < indent || (indentOf(row) === indent && isItem(row) === (typeof part === "number")))
    let seen = -1
    const line = rows.findIndex(
      (row, index) =>
        index >= from &&
        index < to &&
        indentOf(row) === indent &&
        !isIgnored(row) &&
        (typeof part === "number" ? isItem(row) && ++seen === part : !isItem(row) && keyOf(row) === part)
    )
    if (line < 0) return position
    position = { line: line + 1, column: indent + 1 }
    const next = rows.findIndex((row, index) => index > line && index < to && ends(row))
    rows[line] = blankPart(rows[line] ?? "", part)
    ;[from, to] = [line, next < 0 ? to : next]
  }
  return position
}
