// Reads and drops members of a JSON object.
// Must not depend on a dialect.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"

/** The object under a name; an empty one where the member is absent or no object. */
export const objectAt = (body: JsonObject, name: string): JsonObject => {
  const value = body[name]
  return isJsonObject(value) ? value : {}
}

/** The array under a name; undefined where the member is absent or no array. */
export const arrayAt = (body: JsonObject, name: string): ReadonlyArray<Json> | undefined => {
  const value: Json = body[name] ?? null
  return Array.isArray(value) ? value : undefined
}

export const withoutMembers = (object: JsonObject, ...names: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
