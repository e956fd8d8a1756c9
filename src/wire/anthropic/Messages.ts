// The Messages API as Vertex AI takes it: the request we build and the reply we read.
// It must not know OpenAI words. Field names verbatim from the public API description.
import * as Schema from "effect/Schema"
import { type JsonObject, JsonValue, maybe } from "../json.ts"

/** A block of a message, by `type`; built by hand, checked in tests against the published schema. */
export type BlockOut = JsonObject

export interface MessageOut {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<BlockOut>
}

/** On Vertex AI the model stands in the URL, and the version in the body. */
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

/** The value Vertex AI asks for. Source: Vertex AI, "Use Anthropic's Claude models", request body. */
export const vertexVersion = "vertex-2023-10-16"

/** Members are read one by one where they are needed, so that a new kind of block is no broken answer. */
export const OpenRecord = Schema.Record(Schema.String, JsonValue)

/** The unary reply. `error` stands in for everything else when the provider fails inside a 200. */
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
