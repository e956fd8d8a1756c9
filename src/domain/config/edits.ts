// What a config does to the body of a request: defaults beneath it, overrides over it, members taken out.
// It must not know which body it is; its schema judges the outcome.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../text/json.ts"

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

/** Members of the first, or of the second where both have one. Made of entries, a member named `__proto__` is one like others. */
const joined = (first: JsonObject, second: ReadonlyArray<readonly [string, Json | undefined]>): JsonObject =>
  Object.fromEntries([...Object.entries(first), ...second])

/** Deep: objects are joined member by member, everything else of `over` stands in the place of what was there. */
export const merge = (under: JsonObject, over: JsonObject): JsonObject =>
  joined(
    under,
    Object.entries(over).map(([key, value]) => {
      const below = ownOf(under, key)
      return [key, isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value]
    })
  )

/** Deep as well, but what the body has stays; null counts as absent. */
const beneath = (body: JsonObject, defaults: JsonObject): JsonObject =>
  joined(
    body,
    Object.entries(defaults).flatMap(([key, value]) => {
      const given = ownOf(body, key)
      if (isAbsent(given)) return [[key, value]]
      return isJsonObject(given) && isJsonObject(value) ? [[key, beneath(given, value)]] : []
    })
  )

/** Paths that begin alike, as one: what is taken out at a place, and what further in. */
class Drops {
  isEnd = false
  private every: Drops | undefined
  private readonly inner = new Map<string | number, Drops>()

  /** The drops one step further in, made where there are none. */
  after(step: Step): Drops {
    const next = (step === every ? this.every : this.inner.get(step)) ?? new Drops()
    if (step === every) this.every = next
    else this.inner.set(step, next)
    return next
  }

  /** What the paths do to a member or an item. */
  at(step: string | number): ReadonlyArray<Drops> {
    const exact = this.inner.get(step)
    const some = exact === undefined ? [] : [exact]
    return typeof step === "number" && this.every !== undefined ? [this.every, ...some] : some
  }
}

/** One walk for all paths, whatever their number: the same value when none of them leads anywhere, undefined when it is taken out. */
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

/** The body after defaults, then overrides, then drops, whose places are those before any drop; the given one stays as it is. */
export const edited = (body: JsonObject, { defaults, overrides, drops }: Edits): JsonObject => {
  const whole = merge(beneath(body, defaults), overrides)
  if (drops.length === 0) return whole
  const all = new Drops()
  for (const path of drops) path.reduce((before: Drops, step: Step) => before.after(step), all).isEnd = true
  const left = without(whole, [all])
  return isJsonObject(left) ? left : {}
}
