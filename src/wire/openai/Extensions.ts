// Every field of replies that OpenAI's schema does not have.
// It must not know when they are shown; that is the strict rule's business.
import * as Schema from "effect/Schema"

const opt = Schema.optionalKey

/** Upstream parts that have no OpenAI form: code execution, server-side tools, new kinds. Sent back to that provider only. */
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
export type ContentBlockDelta = typeof ContentBlockDelta.Type

/** Text and images of an answer in order; accepted back on assistant messages. */
export const ContentPart = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("image"),
    image: Schema.Struct({ b64_json: Schema.String, mime_type: Schema.String }),
    thought_signature: opt(Schema.String)
  })
])
export type ContentPart = typeof ContentPart.Type

/** The spelling of a call's signature that other clients read. */
export const ExtraContent = Schema.Struct({
  google: Schema.Struct({ thought_signature: Schema.String })
})

/** Where some of the text comes from: offsets in the content, and the provider's own form of it if it says more. */
export const Citation = Schema.Struct({
  start_index: opt(Schema.Number),
  end_index: opt(Schema.Number),
  uri: opt(Schema.String),
  title: opt(Schema.String),
  license: opt(Schema.String),
  upstream: opt(Schema.Unknown)
})
export type Citation = typeof Citation.Type
