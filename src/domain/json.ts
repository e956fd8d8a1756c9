// Text to JSON and back, within bounds.
// It must not know HTTP or any dialect.
import * as Result from "effect/Result"

/** Any value that JSON text can hold. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object; a missing key and `undefined` are the same thing. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** True for an object that is neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Parses JSON text of a size somebody else has bounded; the failure is one sentence. */
export const parseJsonText = (text: string): Result.Result<Json, string> => {
  try {
    const value: Json = JSON.parse(text)
    return Result.succeed(value)
  } catch (error) {
    return Result.fail(error instanceof Error ? error.message : String(error))
  }
}
