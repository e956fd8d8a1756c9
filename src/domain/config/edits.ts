// Applies a config to a request body: default_params, override_params and drop_params.
// It must not know the body's dialect; the schema of the dialect checks the result.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../text/json.ts"

/** A step of a path: a member, an item, or every item. */
type Step = string | number | typeof every
const every = Symbol("every item")

export type DropPath = readonly [Step, ...ReadonlyArray<Step>]

export interface Edits {
  readonly defaults: JsonObject
  readonly overrides: JsonObject
  readonly drops: ReadonlyArray<DropPath>
}

const pathGrammar = /^[^.[\]]+(?:\.[^.[\]]+|\[(?:\d{1,6}|\*)\])*$/

/** Parses `logprobs`, `response_format.json_schema`, `messages[2]` or `tools[*].function.strict`. */
export const parseDropPath = (path: string): Result.Result<DropPath, string> => {
  const pieces = pathGrammar.test(path) ? (path.match(/[^.[\]]+|\[[\d*]+\]/g) ?? []) : []
  const [first, ...rest] = pieces.map((piece): Step =>
    piece === "[*]" ? every : piece.startsWith("[") ? Number(piece.slice(1, -1)) : piece
  )
  return first !== undefined
    ? Result.succeed([first, ...rest])
    : Result.fail("is no path such as logprobs, response_format.json_schema, messages[2] or tools[*].function.strict")
}

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null

const ownOf = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

/** Merges two objects; the second takes precedence. `fromEntries` keeps a member named `__proto__` as plain data. */
const joined = (first: JsonObject, second: ReadonlyArray<readonly [string, Json | undefined]>): JsonObject =>
  Object.fromEntries([...Object.entries(first), ...second])

/** Deep merge: objects merge member by member; any other value of `over` replaces the one in `under`. */
export const mergeDeep = (under: JsonObject, over: JsonObject): JsonObject =>
  joined(
    under,
    Object.entries(over).map(([key, value]) => {
      const below = ownOf(under, key)
      return [key, isJsonObject(below) && isJsonObject(value) ? mergeDeep(below, value) : value]
    })
  )

/** Deep merge in which the body takes precedence; null counts as absent. */
const beneath = (body: JsonObject, defaults: JsonObject): JsonObject =>
  joined(
    body,
    Object.entries(defaults).flatMap(([key, value]) => {
      const given = ownOf(body, key)
      if (isAbsent(given)) return [[key, value]]
      return isJsonObject(given) && isJsonObject(value) ? [[key, beneath(given, value)]] : []
    })
  )

/** A tree of drop paths, so that one walk over the body applies all of them. */
class Drops {
  isEnd = false
  private every: Drops | undefined
  private readonly inner = new Map<string | number, Drops>()

  /** The drops below a step, created when absent. */
  after(step: Step): Drops {
    const next = (step === every ? this.every : this.inner.get(step)) ?? new Drops()
    if (step === every) this.every = next
    else this.inner.set(step, next)
    return next
  }

  /** The drops that apply to a member or an item. */
  at(step: string | number): ReadonlyArray<Drops> {
    const exact = this.inner.get(step)
    const some = exact === undefined ? [] : [exact]
    return typeof step === "number" && this.every !== undefined ? [this.every, ...some] : some
  }
}

/**
 * Applies all drops in one walk. Returns the same value when nothing is dropped, undefined when the value itself is
 * dropped.
 */
const without = (value: Json | undefined, drops: ReadonlyArray<Drops>): Json | undefined => {
  if (drops.length === 0) return value
  if (drops.some(({ isEnd }) => isEnd)) return undefined
  const innerOf = (step: string | number) =>
    drops.length === 1 ? (drops[0]?.at(step) ?? []) : drops.flatMap((one) => one.at(step))
  let isChanged = false
  if (Array.isArray(value)) {
    const items = value.flatMap((item: Json, index) => {
      const left = without(item, innerOf(index))
      isChanged ||= left !== item
      return left === undefined ? [] : [left]
    })
    return isChanged ? items : value
  }
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([key, member]): ReadonlyArray<readonly [string, Json | undefined]> => {
    const left = without(member, innerOf(key))
    isChanged ||= left !== member
    return left === undefined && left !== member ? [] : [[key, left]]
  })
  return isChanged ? Object.fromEntries(members) : value
}

/**
 * Applies defaults, then overrides, then drops. Indices in drop paths count before any drop. The given body is not
 * changed.
 */
export const applyEdits = (body: JsonObject, { defaults, overrides, drops }: Edits): JsonObject => {
  const whole = mergeDeep(beneath(body, defaults), overrides)
  if (drops.length === 0) return whole
  const all = new Drops()
  for (const path of drops) path.reduce((before: Drops, step: Step) => before.after(step), all).isEnd = true
  const left = without(whole, [all])
  return isJsonObject(left) ? left : {}
}
