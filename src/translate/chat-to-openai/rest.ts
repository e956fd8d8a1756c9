// Collects the unread fields of an upstream object.
// Must not depend on the kind of object.
import type { JsonObject } from "../../domain/text/json.ts"

/** The fields of an object that are read elsewhere. `__proto__` is always excluded. */
export const fieldNames = (...names: ReadonlyArray<string>): ReadonlySet<string> => new Set([...names, "__proto__"])

/** All unread fields, undefined when there are none; null fields are dropped. */
export const unreadFields = (given: JsonObject, read: ReadonlySet<string>): JsonObject | undefined => {
  let rest: { [name: string]: JsonObject[string] } | undefined
  for (const name in given) {
    const value = given[name]
    if (value === null || value === undefined || read.has(name)) continue
    rest ??= {}
    rest[name] = value
  }
  return rest
}
