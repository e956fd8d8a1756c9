// Parses the YAML or JSON text of a configuration file, with the line of each key.
// Must not know what the keys mean.
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import { type Json, parseJsonText } from "../../domain/text/json.ts"
import { locatePath, type Position } from "./locate.ts"
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

/** What a value is when its aliases are written out: `own` counts each part once, `all` each time that it is used. */
interface Measure {
  readonly own: number
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
      const own = texts.has(one) ? 1 : size
      texts.add(one)
      return Result.succeed({ own, all: size, depth: 0 })
    }
    if (typeof one !== "object" || one === null) return Result.succeed({ own: 1, all: 1, depth: 0 })
    const before = measured.get(one)
    if (depth + (before?.depth ?? 0) > jsonDepth) return fail(tooDeep)
    if (before !== undefined) return Result.succeed({ ...before, own: 1 })
    let [own, all, below] = [1, 1, 0]
    for (const [key, inner] of Object.entries(one)) {
      if (key === mergeKey && !asList(inner).every(isMapping)) return fail("Merge key values must be mappings")
      const part = measure(inner, depth + 1)
      if (Result.isFailure(part)) return part
      own += part.success.own
      all += part.success.all
      below = Math.max(below, part.success.depth + 1)
    }
    measured.set(one, { own, all, depth: below })
    return Result.succeed({ own, all, depth: below })
  }
  return Result.match(measure(value, 0), {
    onFailure: (message) => message,
    onSuccess: ({ all, own }) => (all - own > jsonValues ? tooLarge : undefined)
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
