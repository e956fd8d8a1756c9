// Converts tool call arguments and tool results between JSON text (client) and objects (upstream).
// Must not depend on ids, names or a provider.
import * as Result from "effect/Result"
import { parseInnerJsonText } from "../../../domain/text/innerJson.ts"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import { defaultLimits } from "../../../domain/Limits.ts"

/** Arguments as an object; `isRepaired` where the text is not that of one. */
export interface ReadArguments {
  readonly args: JsonObject
  readonly isRepaired: boolean
}

/** What is no object is kept as text under this name. */
const rawName = "_raw"

const parsed = (text: string): Json | undefined =>
  Result.getOrElse(parseInnerJsonText(text, defaultLimits), () => undefined)

/**
 * Parses the arguments of a call; empty text becomes `{}`. Integers of any size keep their digits. Calls of a history may
 * be cut, or written by hand: what can be read as an object is, anything else stays as text.
 */
export const parseArguments = (given: Json | undefined): ReadArguments => {
  if (isJsonObject(given)) return { args: given, isRepaired: false }
  const text = typeof given === "string" ? given : given === undefined || given === null ? "" : JSON.stringify(given)
  if (text.trim() === "") return { args: {}, isRepaired: false }
  const value = parsed(text)
  if (isJsonObject(value)) return { args: value, isRepaired: false }
  const inner = typeof value === "string" ? parsed(value) : value === undefined ? parsed(asJson(text)) : undefined
  return { args: isJsonObject(inner) ? inner : { [rawName]: text }, isRepaired: true }
}

const token = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|,(?=\s*[}\]])|\b(?:None|True|False)\b/g
const words: ReadonlyMap<string, string> = new Map([
  [",", ""],
  ["None", "null"],
  ["True", "true"],
  ["False", "false"]
])

/** Python's spelling of an object, and commas at the end, in JSON's. */
const asJson = (text: string): string =>
  text.replace(token, (found) => {
    if (found.startsWith('"')) return found
    if (!found.startsWith("'")) return words.get(found) ?? found
    const inner = found.slice(1, -1).replace(/\\[^]|"/g, (one) => (one === "\\'" ? "'" : one === '"' ? '\\"' : one))
    return `"${inner}"`
  })

const isObjectText = (text: string): boolean => text.trimStart().startsWith("{")

/** Parses a tool result: a JSON object stays as it is, any other text goes under `output`. */
export const parseResult = (text: string): JsonObject => {
  if (!isObjectText(text)) return { output: text }
  const value = parseInnerJsonText(text, defaultLimits)
  return Result.isSuccess(value) && isJsonObject(value.success) ? value.success : { output: text }
}
