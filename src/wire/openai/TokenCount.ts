// Wire schema of the token counting answer; its request is a chat request.
// It must not know upstreams.
import * as Schema from "effect/Schema"

const opt = Schema.optionalKey

/** The answer, full form. */
export const TokenCount = Schema.Struct({
  object: Schema.Literal("token_count"),
  model: Schema.String,
  input_tokens: Schema.Number,
  input_tokens_details: opt(
    Schema.Struct({
      cached_tokens: opt(Schema.Number),
      text_tokens: opt(Schema.Number),
      image_tokens: opt(Schema.Number),
      audio_tokens: opt(Schema.Number),
      video_tokens: opt(Schema.Number)
    })
  ),
  /** The billing unit of some models on Vertex AI (extension). */
  total_billable_characters: opt(Schema.Number),
  provider: opt(Schema.String)
})
export interface TokenCount extends Schema.Schema.Type<typeof TokenCount> {}
