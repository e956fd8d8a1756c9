// Converts tool call arguments and tool results between JSON text (client) and objects (upstream).
// Must not depend on ids, names or a provider.
import * as Result from "effect/Result"
import { parseInnerJsonText } from "../../../domain/text/innerJson.ts"
import { isJsonObject, type JsonObject } from "../../../domain/text/json.ts"
import { defaultLimits } from "../../../domain/Limits.ts"

/** Parses the arguments of a call; empty text becomes `{}`. Integers of any size keep their digits. */
export const parseArguments = (text: string): Result.Result<JsonObject, string> => {
  if (text.trim() === "") return Result.succeed({})
  const value = parseInnerJsonText(text, defaultLimits)
  if (Result.isFailure(value)) return Result.fail("arguments is not JSON text within the bounds of a request.")
  return isJsonObject(value.success)
    ? Result.succeed(value.success)
    : Result.fail("arguments must be the JSON text of an object.")
}

const isObjectText = (text: string): boolean => text.trimStart().startsWith("{")

/** Parses a tool result: a JSON object stays as it is, any other text goes under `output`. */
export const parseResult = (text: string): JsonObject => {
  if (!isObjectText(text)) return { output: text }
  const value = parseInnerJsonText(text, defaultLimits)
  return Result.isSuccess(value) && isJsonObject(value.success) ? value.success : { output: text }
}
