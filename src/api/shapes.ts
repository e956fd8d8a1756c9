// Building blocks of the bodies of the contract.
// It must not know any endpoint.
import * as Schema from "effect/Schema"

export const rest = [Schema.Record(Schema.String, Schema.Unknown)] as const

/** An object that may have further fields, which the gateway passes over or on. */
export const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), rest)

export const anyObject = Schema.Record(Schema.String, Schema.Unknown)

/** A field of a request: absent and null are the same. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
