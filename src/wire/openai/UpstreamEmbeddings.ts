// Wire schema of the embeddings list from OpenAI-compatible upstreams.
// It must not know how it is translated.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"

export const UpstreamEmbeddings = Schema.Struct({
  data: maybe(Schema.Array(Schema.Struct({ index: maybe(JsonValue), embedding: maybe(JsonValue) }))),
  model: maybe(JsonValue),
  usage: maybe(Schema.Struct({ prompt_tokens: maybe(JsonValue) }))
})
export interface UpstreamEmbeddings extends Schema.Schema.Type<typeof UpstreamEmbeddings> {}
