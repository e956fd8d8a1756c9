// Contract schemas of answers as named components, with their headers.
// It must not know paths.
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { ModelFields } from "../domain/models/ModelRecord.ts"
import * as ChatReply from "../wire/openai/ChatReply.ts"
import * as Embeddings from "../wire/openai/Embeddings.ts"
import * as Images from "../wire/openai/Images.ts"
import { TokenCount as FullTokenCount } from "../wire/openai/TokenCount.ts"
import { arrivalFields, servedFields } from "./headerFields.ts"
import { openObject, openStruct } from "./shapes.ts"

export const ChatCompletionAnswer = ChatReply.ChatCompletion.annotate({ identifier: "ChatCompletion" })
export interface ChatCompletionAnswer extends Schema.Schema.Type<typeof ChatCompletionAnswer> {}
export const ChatChunkEvent = ChatReply.ChatChunk.annotate({ identifier: "ChatChunk" })
export interface ChatChunkEvent extends Schema.Schema.Type<typeof ChatChunkEvent> {}
export const EmbeddingListAnswer = Embeddings.EmbeddingList.annotate({ identifier: "EmbeddingList" })
export interface EmbeddingListAnswer extends Schema.Schema.Type<typeof EmbeddingListAnswer> {}
export const ImageListAnswer = Images.ImageList.annotate({ identifier: "ImageList" })
export interface ImageListAnswer extends Schema.Schema.Type<typeof ImageListAnswer> {}
export const TokenCountAnswer = FullTokenCount.annotate({ identifier: "TokenCount" })
export interface TokenCountAnswer extends Schema.Schema.Type<typeof TokenCountAnswer> {}

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
  adjusted_params: Schema.Array(Schema.String),
  /** The inner pair, where the request came in another dialect. */
  translated: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "DryRun", description: "The answer to x-gateway-dry-run: true." })
export interface DryRun extends Schema.Schema.Type<typeof DryRun> {}

/** Facts beyond OpenAI's fields; none in strict answers, and none that is not known. */
const modelExtensions = {
  context_length: Schema.optionalKey(Schema.Number.annotate({ description: "Tokens of prompt and answer together." })),
  max_output_tokens: Schema.optionalKey(Schema.Number),
  input_modalities: Schema.optionalKey(Schema.Array(Schema.String)),
  output_modalities: Schema.optionalKey(Schema.Array(Schema.String)),
  thinking_levels: Schema.optionalKey(Schema.Array(Schema.String)),
  pricing: Schema.optionalKey(
    ModelFields.fields.price.schema.annotate({ description: "US dollars per million tokens." })
  ),
  stage: Schema.optionalKey(Schema.Literals(["ga", "preview", "deprecated", "shut_down"])),
  shutdown_date: Schema.optionalKey(Schema.String),
  successor: Schema.optionalKey(Schema.String)
}

export const Model = Schema.Struct({
  id: Schema.String.annotate({ description: "What the field model of a request takes." }),
  object: Schema.Literal("model"),
  created: Schema.Number.annotate({ description: "The day of its release; 0 where that is not known." }),
  owned_by: Schema.String,
  ...modelExtensions
}).annotate({ identifier: "Model" })
export interface Model extends Schema.Schema.Type<typeof Model> {}

export const ModelList = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(Model) }).annotate({
  identifier: "ModelList"
})
export interface ModelList extends Schema.Schema.Type<typeof ModelList> {}

export const RenderedPrompt = Schema.Struct({
  success: Schema.Literal(true),
  data: openStruct({ model: Schema.optionalKey(Schema.String), messages: Schema.Array(openObject) })
}).annotate({ identifier: "RenderedPrompt", description: "The chat a completion of the prompt would ask." })
export interface RenderedPrompt extends Schema.Schema.Type<typeof RenderedPrompt> {}

export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "degraded", "shutting_down"]),
  checks: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  messages: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "For each check that is not ok: what is wrong, what still works, and what to do."
    })
  ),
  version: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}

/**
 * An answer of a provider. Streams have no headers here, because a status declares its headers once, on the unary
 * answer.
 */
const providerAnswer = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, servedFields)
/** An answer of the gateway itself. */
export const gatewayAnswer = <S extends Schema.Top>(schema: S) => HttpApiSchema.WithHeaders(schema, arrivalFields)

/** An answer, or a dry run where the request asks for one. */
export const orDryRun = <S extends Schema.Top>(schema: S) => providerAnswer(Schema.Union([schema, DryRun]))
