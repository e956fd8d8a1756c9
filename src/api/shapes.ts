// Schema building blocks for the bodies of the contract: objects with further fields.
// It must not know any endpoint.
import * as Schema from "effect/Schema"

export const openFields = [Schema.Record(Schema.String, Schema.Unknown)] as const

/** An object that may have further fields, which the gateway ignores or forwards. */
export const openStruct = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), openFields)

export const openObject = Schema.Record(Schema.String, Schema.Unknown)
