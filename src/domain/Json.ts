// JSON as a TypeScript type.
// It must not know what any JSON value means.

/** Any value that JSON text can hold. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object; a missing key and `undefined` are the same thing. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** True for an object that is neither null nor an array. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
