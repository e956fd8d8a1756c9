// Wire schema of Claude's count_tokens on Vertex AI: the request the gateway builds and the reply it reads.
// It must not know OpenAI's field names. Field names come from Anthropic's public API description.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import type { MessagesBody } from "./Messages.ts"

/** The model is in the body here, because the URL names the operation. */
export interface CountTokensBody extends Pick<
  MessagesBody,
  "anthropic_version" | "messages" | "system" | "tools" | "tool_choice" | "thinking"
> {
  readonly model: string
}

export const ClaudeCountTokensReply = Schema.Struct({ input_tokens: maybe(JsonValue) })
export type ClaudeCountTokensReply = typeof ClaudeCountTokensReply.Type
