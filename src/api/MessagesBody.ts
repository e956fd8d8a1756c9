// Contract schemas of Anthropic's Messages API: request, answer, events and token count, with open objects.
// It must not know how messages are forwarded; the service passes their bytes through.
import * as Schema from "effect/Schema"
import { maybe } from "../wire/json.ts"
import { openObject, openStruct } from "./shapes.ts"

const opt = Schema.optionalKey

/** Every kind of block in one schema; `type` decides which fields are present. */
const block = openStruct({
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

const content = Schema.Union([Schema.String, Schema.Array(openObject)])

const counted = {
  model: Schema.String.annotate({ description: "@slug/anthropic.model" }),
  messages: Schema.Array(openStruct({ role: Schema.Literals(["user", "assistant", "system"]), content })),
  system: maybe(content),
  tools: maybe(Schema.Array(openObject)),
  tool_choice: maybe(openObject),
  thinking: maybe(openObject)
}

export const MessagesBody = openStruct({
  ...counted,
  max_tokens: Schema.Number,
  stream: maybe(Schema.Boolean),
  temperature: maybe(Schema.Number),
  top_p: maybe(Schema.Number),
  top_k: maybe(Schema.Number),
  stop_sequences: maybe(Schema.Array(Schema.String)),
  metadata: maybe(openObject)
}).annotate({ identifier: "MessagesBody" })
export interface MessagesBody extends Schema.Schema.Type<typeof MessagesBody> {}

export const MessagesCountBody = openStruct(counted).annotate({ identifier: "MessagesCountBody" })
export interface MessagesCountBody extends Schema.Schema.Type<typeof MessagesCountBody> {}

const usage = openStruct({
  input_tokens: opt(Schema.NullOr(Schema.Number)),
  output_tokens: opt(Schema.NullOr(Schema.Number))
})

export const Message = openStruct({
  id: Schema.String,
  type: Schema.Literal("message"),
  role: Schema.Literal("assistant"),
  model: Schema.String,
  content: Schema.Array(MessageBlock),
  stop_reason: Schema.NullOr(Schema.String),
  stop_sequence: opt(Schema.NullOr(Schema.String)),
  usage
}).annotate({ identifier: "Message" })
export interface Message extends Schema.Schema.Type<typeof Message> {}

/** Every event in one schema; `type` decides which fields are present. */
export const MessageEvent = openStruct({
  type: Schema.String,
  index: opt(Schema.Number),
  message: opt(openObject),
  content_block: opt(block),
  delta: opt(
    openStruct({
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
export interface MessageEvent extends Schema.Schema.Type<typeof MessageEvent> {}

export const MessagesCount = openStruct({ input_tokens: Schema.Number }).annotate({ identifier: "MessagesCount" })
export interface MessagesCount extends Schema.Schema.Type<typeof MessagesCount> {}
