// JSON as a type and as a schema, for fields of foreign bodies that the gateway passes through unread.
// It must not know the gateway's own vocabulary.
import * as Schema from "effect/Schema"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Any value, accepted without a check: a vector of thousands of numbers costs no time. */
export const JsonValue: Schema.Codec<Json> = Schema.Unknown as Schema.Codec<unknown> as Schema.Codec<Json>

/** An optional field; null counts as absent. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
