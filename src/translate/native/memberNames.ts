// The two names of a member in Google's JSON: `maxOutputTokens`, and `max_output_tokens` as the proto spells it.
// It must not know particular members. Source: https://protobuf.dev/programming-guides/json
import type { Json, JsonObject } from "../../domain/text/json.ts"

export const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An underscore at the beginning belongs to the name, as in `_responseJsonSchema`. */
export const camelName = (name: string): string =>
  name.includes("_") ? name.replace(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name

/** The member under either name; a body with both is refused before (N309). */
export const memberOf = (holder: JsonObject, name: string): Json | undefined => holder[name] ?? holder[snakeName(name)]
