// A native body with its members in camel case and without nulls; Google reads snake case as well, and the crossing rules know one spelling.
// It must not change what a client or a model made: arguments, answers of functions, schemas, labels.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { camelName } from "./memberNames.ts"

/** Members whose values have names of their own. */
export const opaqueNames: ReadonlySet<string> = new Set([
  "args",
  "response",
  "parameters",
  "parametersJsonSchema",
  "responseSchema",
  "responseJsonSchema",
  "_responseJsonSchema",
  "labels",
  "partMetadata",
  "metadata"
])

/** `response` of a function's declaration is a schema, of a function's answer the answer itself: both stay as they are. */
const crossValue = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((inner: Json) => crossValue(inner))
  return isJsonObject(value) ? camelMembers(value) : value
}

/** Of two spellings of one member the camel case counts. A null is a member that is absent. */
export const camelMembers = (body: JsonObject): JsonObject => {
  const members: Record<string, Json | undefined> = {}
  for (const [name, value] of Object.entries(body)) {
    const written = camelName(name)
    if (value === undefined || value === null || (written !== name && body[written] !== undefined)) continue
    members[written] = opaqueNames.has(written) ? value : crossValue(value)
  }
  return members
}

/** Google reads an object where a list is due as its only element. */
export const listOf = (value: Json | undefined): Json | undefined => (isJsonObject(value) ? [value] : value)
