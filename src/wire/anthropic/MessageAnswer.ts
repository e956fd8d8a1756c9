// Types of a message and of the events of its stream, as the gateway gives them to clients of Anthropic's dialect.
// It must not know how an answer comes about. Field names come from Anthropic's public API description.
import type { Json, JsonObject } from "../json.ts"

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
