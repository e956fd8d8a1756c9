// What a config does to the body of a request: defaults beneath it, overrides over it, members taken out.
// It must not know which body it is; its schema judges the outcome.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "./json.ts"

/** A step into a body: a member, an item, or every item. */
type Step = string | number | typeof every
const every = Symbol("every item")

export type DropPath = readonly [Step, ...ReadonlyArray<Step>]

export interface Edits {
  readonly defaults: JsonObject
  readonly overrides: JsonObject
  readonly drops: ReadonlyArray<DropPath>
}

const pathGrammar = /^[^.[\]]+(?:\.[^.[\]]+|\[(?:\d{1,6}|\*)\])*$/

/** `logprobs`, `response_format.json_schema`, `messages[2]`, `tools[*].function.strict`. */
export const parseDropPath = (path: string): Result.Result<DropPath, string> => {
  const pieces = pathGrammar.test(path) ? path.match(/[^.[\]]+|\[[\d*]+\]/g) ?? [] : []
  const [first, ...rest] = pieces.map((piece): Step =>
    piece === "[*]" ? every : piece.startsWith("[") ? Number(piece.slice(1, -1)) : piece)
  return first !== undefined
    ? Result.succeed([first, ...rest])
    : Result.fail("is no path such as logprobs, response_format.json_schema, messages[2] or tools[*].function.strict")
}

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null

const ownOf = (object: JsonObject, key: string): Json | undefined => Object.hasOwn(object, key) ? object[key] : undefined

/** Members of the first, or of the second where both have one. Made of entries, a member named `__proto__` is one like others. */
const joined = (first: JsonObject, second: ReadonlyArray<readonly [string, Json | undefined]>): JsonObject =>
  Object.fromEntries([...Object.entries(first), ...second])

/** Deep: objects are joined member by member, everything else of `over` stands in the place of what was there. */
export const merge = (under: JsonObject, over: JsonObject): JsonObject =>
  joined(under, Object.entries(over).map(([key, value]) => {
    const below = ownOf(under, key)
    return [key, isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value]
  }))

/** Deep as well, but what the body has stays; null counts as absent. */
const beneath = (body: JsonObject, defaults: JsonObject): JsonObject =>
  joined(body, Object.entries(defaults).flatMap(([key, value]) => {
    const given = ownOf(body, key)
    if (isAbsent(given)) return [[key, value]]
    return isJsonObject(given) && isJsonObject(value) ? [[key, beneath(given, value)]] : []
  }))

const without = (value: Json | undefined, [step, ...rest]: DropPath): Json | undefined => {
  const [next, ...further] = rest
  const inner = (item: Json | undefined): Json | undefined => next === undefined ? undefined : without(item, [next, ...further])
  if (typeof step === "string") {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return value
    const { [step]: taken, ...others } = value
    const left = inner(taken)
    return left === undefined ? others : { ...value, [step]: left }
  }
  if (!Array.isArray(value)) return value
  return value.flatMap((item: Json, index) => {
    if (step !== every && step !== index) return [item]
    const left = inner(item)
    return left === undefined ? [] : [left]
  })
}

/** The body after defaults, then overrides, then drops; the given one stays as it is. */
export const edited = (body: JsonObject, { defaults, overrides, drops }: Edits): JsonObject => {
  let whole: Json | undefined = merge(beneath(body, defaults), overrides)
  for (const path of drops) whole = without(whole, path)
  return isJsonObject(whole) ? whole : {}
}
