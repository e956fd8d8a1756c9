// Schema of a model of a provider: where it is served, and whether it ends.
// It must not know paths, or where facts about models come from.
import * as Schema from "effect/Schema"

const opt = Schema.optionalKey

/** A model of an account, by the facts; the provider is not asked. */
export const ProviderModel = Schema.Struct({
  object: Schema.Literal("provider_model"),
  id: Schema.String,
  locations: opt(
    Schema.Array(Schema.String).annotate({ description: "On Vertex AI, where known; regions for all single regions." })
  ),
  is_served_here: opt(Schema.Boolean.annotate({ description: "Whether the region of the account is among them." })),
  notice: opt(
    Schema.Struct({
      kind: Schema.Literals(["shut_down", "deprecated", "unknown", "not_offered"]),
      message: Schema.String
    }).annotate({ description: "That it ends, has ended or is not offered there." })
  )
}).annotate({ identifier: "AdminProviderModel" })
export interface ProviderModel extends Schema.Schema.Type<typeof ProviderModel> {}
