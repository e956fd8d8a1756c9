// Anthropic's messages as the contract declares them: what the gateway reads, and the rest as open objects.
// It must not know how they are passed on; the service passes their bytes.
import * as Schema from "effect/Schema"
import { anyObject, maybe, open } from "./shapes.ts"

const opt = Schema.optionalKey

/** Every kind of block in one shape; which fields it has goes by its type. */
const block = open({
  type: Schema.String,
  text: opt(Schema.String),
  thinking: opt(Schema.String),
  signature: opt(Schema.String),
  id: opt(Schema.String),
  name: opt(Schema.String),
  input: opt(Schema.Unknown)
})

export const MessageBlock = block.annotate({ identifier: "MessageBlock" })
export type MessageBlock = typeof MessageBlock.Type

const content = Schema.Union([Schema.String, Schema.Array(anyObject)])

const counted = {
  model: Schema.String.annotate({ description: "@slug/anthropic.model" }),
  messages: Schema.Array(open({ role: Schema.Literals(["user", "assistant", "system"]), content })),
  system: maybe(content),
  tools: maybe(Schema.Array(anyObject)),
  tool_choice: maybe(anyObject),
  thinking: maybe(anyObject)
}

export const MessagesBody = open({
  ...counted,
  max_tokens: Schema.Number,
  stream: maybe(Schema.Boolean),
  temperature: maybe(Schema.Number),
  top_p: maybe(Schema.Number),
  top_k: maybe(Schema.Number),
  stop_sequences: maybe(Schema.Array(Schema.String)),
  metadata: maybe(anyObject)
}).annotate({ identifier: "MessagesBody" })
export type MessagesBody = typeof MessagesBody.Type

export const MessagesCountBody = open(counted).annotate({ identifier: "MessagesCountBody" })
export type MessagesCountBody = typeof MessagesCountBody.Type

const usage = open({
  input_tokens: opt(Schema.NullOr(Schema.Number)),
  output_tokens: opt(Schema.NullOr(Schema.Number))
})

export const Message = open({
  id: Schema.String,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  model: Schema.String,
  content: Schema.Array(MessageBlock),
  stop_reason: Schema.NullOr(Schema.String),
  stop_sequence: opt(Schema.NullOr(Schema.String)),
  usage
}).annotate({ identifier: "Message" })
export type Message = typeof Message.Type

/** Every event in one shape; which fields it has goes by its type. */
export const MessageEvent = open({
  type: Schema.String,
  index: opt(Schema.Number),
  message: opt(anyObject),
  content_block: opt(block),
  delta: opt(
    open({
      type: opt(Schema.String),
      text: opt(Schema.String),
      thinking: opt(Schema.String),
      signature: opt(Schema.String),
      partial_json: opt(Schema.String),
      stop_reason: opt(Schema.NullOr(Schema.String))
    })
  ),
  usage: opt(usage)
}).annotate({ identifier: "MessageEvent" })
export type MessageEvent = typeof MessageEvent.Type

export const MessagesCount = open({ input_tokens: Schema.Number }).annotate({ identifier: "MessagesCount" })
export type MessagesCount = typeof MessagesCount.Type
