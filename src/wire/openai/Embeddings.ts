// Wire schemas of the embeddings request as clients send it, extensions included, of its answer, and of what upstreams send.
// It must not know how it is translated. The schema of the request keeps unknown fields.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import { costFields } from "./ChatReply.ts"

const opt = Schema.optionalKey

/** Every parameter the gateway knows. `readEmbeddings` finds faults inside `input` and names their exact path. */
export const EmbeddingsParameters = Schema.Struct({
  model: Schema.String,
  input: Schema.Unknown,
  dimensions: maybe(Schema.Finite),
  encoding_format: maybe(Schema.String),
  task_type: maybe(Schema.String),
  title: maybe(Schema.String),
  auto_truncate: maybe(Schema.Boolean),
  labels: maybe(Schema.Unknown),
  user: maybe(Schema.Unknown)
})

/** The body of POST /v1/embeddings. */
export const EmbeddingsRequest = Schema.StructWithRest(EmbeddingsParameters, [
  Schema.Record(Schema.String, Schema.Unknown)
])
export interface EmbeddingsRequest extends Schema.Schema.Type<typeof EmbeddingsRequest> {}

/** The names of the known parameters. */
export type KnownEmbeddingsParam = keyof typeof EmbeddingsParameters.fields

/** Numbers, or base64 of 32-bit floats when the client asked for it. */
export const Vector = Schema.Union([Schema.Array(Schema.Number), Schema.String])
export type Vector = typeof Vector.Type

export const Embedding = Schema.Struct({
  object: Schema.Literal("embedding"),
  index: Schema.Number,
  embedding: Vector,
  /** The input was cut to what the model accepts (extension). */
  truncated: opt(Schema.Literal(true)),
  /** Vectors of the other media of a multimodal input (extensions). */
  image_embedding: opt(Vector),
  video_embeddings: opt(
    Schema.Array(Schema.Struct({ start_offset: opt(Schema.Number), end_offset: opt(Schema.Number), embedding: Vector }))
  )
})
export interface Embedding extends Schema.Schema.Type<typeof Embedding> {}

/** The answer, full form. */
export const EmbeddingList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Embedding),
  model: Schema.String,
  usage: Schema.Struct({ prompt_tokens: Schema.Number, total_tokens: Schema.Number, ...costFields }),
  provider: opt(Schema.String)
})
export interface EmbeddingList extends Schema.Schema.Type<typeof EmbeddingList> {}

// Wire schema of the embeddings list from OpenAI-compatible upstreams.

export const UpstreamEmbeddings = Schema.Struct({
  data: maybe(Schema.Array(Schema.Struct({ index: maybe(JsonValue), embedding: maybe(JsonValue) }))),
  model: maybe(JsonValue),
  usage: maybe(Schema.Struct({ prompt_tokens: maybe(JsonValue) }))
})
export interface UpstreamEmbeddings extends Schema.Schema.Type<typeof UpstreamEmbeddings> {}
