// Text to JSON and back, within bounds.
// It must not know HTTP or any dialect.
import * as Result from "effect/Result"
import type { Json } from "./Json.ts"

/** Parses JSON text of a size somebody else has bounded; the failure is one sentence. */
export const parseJsonText = (text: string): Result.Result<Json, string> => {
  try {
    const value: Json = JSON.parse(text)
    return Result.succeed(value)
  } catch (error) {
    return Result.fail(error instanceof Error ? error.message : String(error))
  }
}
