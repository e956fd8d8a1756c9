// Wire schema of Claude's Messages API on Vertex AI: the request the gateway builds and the reply it reads.
// It must not know OpenAI's field names. Field names come from Anthropic's public API description.
import * as Schema from "effect/Schema"
import { type JsonObject, JsonValue, maybe } from "../json.ts"

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
export const OpenRecord = Schema.Record(Schema.String, JsonValue)

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
