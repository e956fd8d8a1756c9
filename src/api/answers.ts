// Answers of the contract as components: named schemas with the headers they come with.
// It must not know paths.
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as ChatReply from "../wire/openai/ChatReply.ts"
import * as Embeddings from "../wire/openai/Embeddings.ts"
import * as Images from "../wire/openai/Images.ts"
import { TokenCount as FullTokenCount } from "../wire/openai/TokenCount.ts"
import { arrivalFields, servedFields } from "./headerFields.ts"
import { anyObject, open } from "./shapes.ts"

export const ChatCompletion = ChatReply.ChatCompletion.annotate({ identifier: "ChatCompletion" })
export const ChatChunk = ChatReply.ChatChunk.annotate({ identifier: "ChatChunk" })
export const EmbeddingList = Embeddings.EmbeddingList.annotate({ identifier: "EmbeddingList" })
export const ImageList = Images.ImageList.annotate({ identifier: "ImageList" })
export const TokenCount = FullTokenCount.annotate({ identifier: "TokenCount" })

/** The request that would have been sent; secrets in its headers are masked. */
export const DryRun = Schema.Struct({
  object: Schema.Literal("dry_run"),
  provider: Schema.String,
  target_index: Schema.Number,
  method: Schema.String,
  url: Schema.String.annotate({
    description: "A host that the operator set is shown as upstream.invalid, unless the key has the scope admin."
  }),
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.Unknown,
  ignored_params: Schema.Array(Schema.String),
  adjusted_params: Schema.Array(Schema.String)
}).annotate({ identifier: "DryRun", description: "The answer to x-gateway-dry-run: true." })
export type DryRun = typeof DryRun.Type

export const Model = Schema.Struct({
  id: Schema.String.annotate({ description: "What the field model of a request takes." }),
  object: Schema.Literal("model"),
  created: Schema.Number,
  owned_by: Schema.String
}).annotate({ identifier: "Model" })
export type Model = typeof Model.Type

export const ModelList = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(Model) }).annotate({
  identifier: "ModelList"
})
export type ModelList = typeof ModelList.Type

export const RenderedPrompt = Schema.Struct({
  success: Schema.Literal(true),
  data: open({ model: Schema.optionalKey(Schema.String), messages: Schema.Array(anyObject) })
}).annotate({ identifier: "RenderedPrompt", description: "The chat a completion of the prompt would ask." })
export type RenderedPrompt = typeof RenderedPrompt.Type

export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "shutting_down"]),
  checks: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  version: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Health" })

/** An answer of a provider; of a stream only its unary kin says so, for a status has its headers once. */
const served = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, servedFields)
/** An answer of the gateway's own. */
export const own = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, arrivalFields)

/** Where a dry run may be asked for. */
export const orDryRun = <S extends Schema.Top>(schema: S) => served(Schema.Union([schema, DryRun]))
