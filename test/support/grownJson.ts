// Finds every list in a JSON document, and makes the same document with a list that is longer.
// Must not depend on a dialect.
import { isJsonObject, type Json } from "../../src/domain/text/json.ts"

export type JsonPath = ReadonlyArray<string | number>

/** Fields that number the items of a list, and fields that identify an item. */
const numbers: ReadonlySet<string> = new Set(["index"])
const names: ReadonlySet<string> = new Set(["id", "call_id", "tool_call_id", "tool_use_id"])

/** A copy whose ids and numbers are its own. */
const varied = (value: Json, turn: number): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => varied(item, turn))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner = null]) => [
      key,
      names.has(key) && typeof inner === "string"
        ? `${inner}_${turn}`
        : numbers.has(key) && typeof inner === "number"
          ? inner + turn
          : varied(inner, turn)
    ])
  )
}

/** So many items, those of the list over and over; with `isVaried` each turn has ids and numbers of its own. */
export const repeat = (items: ReadonlyArray<Json>, size: number, isVaried: boolean): ReadonlyArray<Json> =>
  Array.from({ length: size }, (_, at) => {
    const item = items[at % items.length] ?? null
    return isVaried ? varied(item, Math.floor(at / items.length)) : item
  })

/** The shape of a value: names and types, without texts and numbers. */
export const shapeOf = (value: Json): string => {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].join()}]`
  if (!isJsonObject(value)) return typeof value
  return `{${Object.entries(value)
    .map(([key, inner = null]) => (key === "type" || key === "role" ? `${key}:${String(inner)}` : key + shapeOf(inner)))
    .join()}}`
}

/** The paths of all lists with an item. */
export const listsIn = (value: Json, path: JsonPath = []): ReadonlyArray<JsonPath> => {
  if (Array.isArray(value)) {
    const inner = value.flatMap((item: Json, at) => listsIn(item, [...path, at]))
    return value.length === 0 ? inner : [path, ...inner]
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, inner = null]) => listsIn(inner, [...path, key]))
}

export const at = (value: Json, path: JsonPath): Json =>
  path.reduce((inner: Json, step): Json => {
    if (Array.isArray(inner)) return inner[Number(step)] ?? null
    return isJsonObject(inner) ? (inner[step] ?? null) : null
  }, value)

/** The document with another value at the path. */
export const replacedAt = (value: Json, path: JsonPath, put: Json): Json => {
  const [step, ...rest] = path
  if (step === undefined) return put
  if (Array.isArray(value)) return value.with(Number(step), replacedAt(value[Number(step)] ?? null, rest, put))
  return isJsonObject(value) ? { ...value, [step]: replacedAt(value[step] ?? null, rest, put) } : value
}
