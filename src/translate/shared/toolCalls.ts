// Arguments of tool calls: JSON text on the client's side, an object upstream.
// It must not know ids, names or any provider.
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject, parseExactJsonText } from "../../domain/json.ts"

/** Arguments of a call as an object; absent and empty text are `{}`. Integers of any size keep their digits. */
export const parseArguments = (text: string): Result.Result<JsonObject, string> => {
  if (text.trim() === "") return Result.succeed({})
  const value = parseExactJsonText(text)
  if (Result.isFailure(value)) return Result.fail("arguments is not JSON text.")
  return isJsonObject(value.success) ? Result.succeed(value.success) : Result.fail("arguments must be the JSON text of an object.")
}

/** What a tool answered, as an object: a JSON object as it is, everything else as text under `output`. */
export const parseResult = (text: string): JsonObject => {
  const first = text.trimStart()[0]
  if (first !== "{") return { output: text }
  const value = parseExactJsonText(text)
  return Result.isSuccess(value) && isJsonObject(value.success) ? value.success : { output: text }
}
