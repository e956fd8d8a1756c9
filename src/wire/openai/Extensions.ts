// The gateway's extensions to OpenAI's reply schema: content blocks and parts, signatures, citations.
// It must not know when extensions are sent; the strict rule decides that.
import * as Schema from "effect/Schema"

const opt = Schema.optionalKey

/**
 * Upstream parts without an OpenAI form: code execution, server-side tools, new kinds. They return to that provider
 * only.
 */
const providerPart = {
  provider: Schema.String,
  part: Schema.Unknown
}

/** One block of the answer in order: thinking, text, or a provider's own part. */
export const ContentBlock = Schema.Union([
  Schema.Struct({ type: Schema.Literal("thinking"), thinking: Schema.String, signature: opt(Schema.String) }),
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, signature: opt(Schema.String) }),
  Schema.Struct({ type: Schema.Literal("redacted_thinking"), data: Schema.String }),
  Schema.Struct({ type: Schema.Literal("provider_part"), ...providerPart })
])
export type ContentBlock = typeof ContentBlock.Type

/** A piece of the block with that index. */
export const ContentBlockDelta = Schema.Struct({
  index: Schema.Number,
  delta: Schema.Struct({
    thinking: opt(Schema.String),
    text: opt(Schema.String),
    signature: opt(Schema.String),
    data: opt(Schema.String),
    provider_part: opt(Schema.Struct(providerPart))
  })
})
export interface ContentBlockDelta extends Schema.Schema.Type<typeof ContentBlockDelta> {}

/** Text and images of an answer in order; assistant messages may contain them again. */
export const ContentPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("image"),
    image: Schema.Struct({ b64_json: Schema.String, mime_type: Schema.String }),
    thought_signature: opt(Schema.String)
  })
])
export type ContentPart = typeof ContentPart.Type

/** The pictures of an answer once more, where OpenRouter's clients look for them; the address is a data URI. */
export const ImageLink = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({ url: Schema.String }),
  index: Schema.Number
})
export type ImageLink = typeof ImageLink.Type

/** The field in which other clients read the signature of a call. */
export const ExtraContent = Schema.Struct({
  google: Schema.Struct({ thought_signature: Schema.String })
})

/** The source of a piece of text: offsets in the content, and the provider's own form when it contains more. */
export const Citation = Schema.Struct({
  start_index: opt(Schema.Number),
  end_index: opt(Schema.Number),
  uri: opt(Schema.String),
  title: opt(Schema.String),
  license: opt(Schema.String),
  upstream: opt(Schema.Unknown)
})
export interface Citation extends Schema.Schema.Type<typeof Citation> {}
