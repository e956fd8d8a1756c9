// JSON as a type and as a schema, for fields of foreign bodies that we pass on unread.
// It must not know our own words.
import * as Schema from "effect/Schema"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Any value, taken without a look inside: a vector of thousands of numbers costs nothing. */
export const JsonValue: Schema.Codec<Json> = Schema.Unknown as Schema.Codec<unknown> as Schema.Codec<Json>

/** A field of an upstream's reply, present or not; null counts as absent. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
