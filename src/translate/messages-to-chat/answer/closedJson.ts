// The object in a JSON text that was cut: open strings, lists and objects are closed.
// It must not know where the text comes from. Rule: D402.
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject, parseExactJsonText } from "../../../domain/text/json.ts"

const parsed = (text: string): JsonObject | undefined => {
  const read = parseExactJsonText(text)
  return Result.isSuccess(read) && isJsonObject(read.success) ? read.success : undefined
}

interface Scanned {
  /** What closes the open brackets, the innermost first. */
  readonly brackets: string
  readonly inString: boolean
  /** The end of the last whole member or element; no bracket follows it. */
  readonly whole: number
}

const scanned = (text: string): Scanned => {
  const open: Array<string> = []
  let inString = false
  let whole = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (inString) {
      if (letter === "\\") at++
      else if (letter === '"') inString = false
    } else if (letter === '"') inString = true
    else if (letter === ",") whole = at
    else if (letter === "{" || letter === "[") {
      open.push(letter === "{" ? "}" : "]")
      whole = at + 1
    } else if (letter === "}" || letter === "]") {
      open.pop()
      whole = at + 1
    }
  }
  return { brackets: open.toReversed().join(""), inString, whole }
}

/** The object as far as it came; a last member that cannot be closed is left out. */
export const closedJson = (text: string): JsonObject => {
  const { brackets, inString, whole } = scanned(text)
  return parsed(text + (inString ? '"' : "") + brackets) ?? parsed(text.slice(0, whole) + brackets) ?? {}
}
