// What stands in an object beside the fields we read.
// It must not know which object.
import type { JsonObject } from "../../domain/text/json.ts"

/** The fields of that kind of object that are read elsewhere. An own `__proto__` is nobody's field. */
export const fields = (...names: ReadonlyArray<string>): ReadonlySet<string> => new Set([...names, "__proto__"])

/** All other fields as they came, undefined when there are none; null says nothing and is left out. */
export const restOf = (given: JsonObject, read: ReadonlySet<string>): JsonObject | undefined => {
  let rest: { [name: string]: JsonObject[string] } | undefined
  for (const name in given) {
    const value = given[name]
    if (value === null || value === undefined || read.has(name)) continue
    rest ??= {}
    rest[name] = value
  }
  return rest
}
