// Wire schemas of Claude's Messages API: the requests the gateway builds, the replies and events it reads, and those it sends.
// It must not know OpenAI's field names. Field names come from Anthropic's public API description.
import * as Schema from "effect/Schema"
import { type Json, type JsonObject, JsonValue, maybe } from "./json.ts"

/** A content block, by `type`. The gateway builds it without a schema; tests check it against the published schema. */
export type BlockOut = JsonObject

export interface MessageOut {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<BlockOut>
}

/** On Vertex AI the URL names the model, and the body contains the version. */
export interface MessagesBody {
  readonly anthropic_version: string
  readonly max_tokens: number
  readonly messages: ReadonlyArray<MessageOut>
  readonly system?: ReadonlyArray<BlockOut>
  readonly tools?: ReadonlyArray<JsonObject>
  readonly tool_choice?: JsonObject
  readonly thinking?: JsonObject
  readonly output_config?: JsonObject
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly stop_sequences?: ReadonlyArray<string>
  readonly metadata?: JsonObject
  readonly stream?: true
}

/** The value Vertex AI requires. Source: Vertex AI, "Use Anthropic's Claude models", request body. */
export const vertexVersion = "vertex-2023-10-16"

/** Members are read one by one where they are needed, so that a new kind of block does not break the answer. */
const OpenRecord = Schema.Record(Schema.String, JsonValue)

/** The unary reply. When the provider fails inside a 200, `error` is the only member. */
export const MessageReply = Schema.Struct({
  type: maybe(JsonValue),
  model: maybe(Schema.String),
  content: maybe(Schema.Array(OpenRecord)),
  stop_reason: maybe(Schema.String),
  stop_details: maybe(JsonValue),
  usage: maybe(OpenRecord),
  error: maybe(JsonValue)
})
export type MessageReply = typeof MessageReply.Type

// Wire schema of one event of a streamed Claude message: the JSON of its data line.

/** Every event in one schema; `type`, which repeats the name of the event, decides which members are present. */
export const ClaudeMessageEvent = Schema.Struct({
  type: maybe(JsonValue),
  index: maybe(Schema.Number),
  message: maybe(Schema.Struct({ model: maybe(Schema.String), usage: maybe(OpenRecord) })),
  content_block: maybe(OpenRecord),
  delta: maybe(OpenRecord),
  usage: maybe(OpenRecord),
  error: maybe(JsonValue)
})
export type ClaudeMessageEvent = typeof ClaudeMessageEvent.Type

// Types of a message and of the events of its stream, as the gateway gives them to clients of Anthropic's dialect.

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "tool_use" | "server_tool_use"
      readonly id: string
      readonly name: string
      readonly input: Json
      readonly caller: { readonly type: "direct" }
    }
  | {
      readonly type: "web_search_tool_result"
      readonly tool_use_id: string
      readonly content: ReadonlyArray<JsonObject>
      readonly caller: { readonly type: "direct" }
    }

export type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "signature_delta"; readonly signature: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string }

export interface AnswerUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
  readonly server_tool_use?: { readonly web_search_requests: number }
}

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "refusal"

export interface AnswerEnd {
  readonly stop_reason: StopReason | null
  readonly stop_sequence: string | null
  readonly stop_details: {
    readonly type: "refusal"
    readonly category: null
    readonly explanation: string | null
  } | null
}

export interface AnswerMessage extends AnswerEnd {
  readonly id: string
  readonly type: "message"
  readonly role: "assistant"
  readonly model: string
  readonly content: ReadonlyArray<AnswerBlock>
  readonly usage: AnswerUsage
}

export type AnswerEvent =
  | { readonly type: "message_start"; readonly message: AnswerMessage }
  | { readonly type: "content_block_start"; readonly index: number; readonly content_block: AnswerBlock }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | { readonly type: "message_delta"; readonly delta: AnswerEnd; readonly usage: AnswerUsage }
  | { readonly type: "message_stop" }

// Wire schema of Claude's count_tokens on Vertex AI: the request the gateway builds and the reply it reads.

/** The model is in the body here, because the URL names the operation. */
export interface CountTokensBody extends Pick<
  MessagesBody,
  "anthropic_version" | "messages" | "system" | "tools" | "tool_choice" | "thinking"
> {
  readonly model: string
}

export const ClaudeCountTokensReply = Schema.Struct({ input_tokens: maybe(JsonValue) })
export type ClaudeCountTokensReply = typeof ClaudeCountTokensReply.Type
