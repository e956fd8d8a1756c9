// count_tokens of the Messages API as Vertex AI takes it: the request we build and the reply we read.
// It must not know OpenAI words. Field names verbatim from the public API description.
import * as Schema from "effect/Schema"
import { JsonValue, maybe } from "../json.ts"
import type { MessagesBody } from "./Messages.ts"

/** The model stands in the body here, for the URL names the operation. */
export interface CountTokensBody extends Pick<
  MessagesBody,
  "anthropic_version" | "messages" | "system" | "tools" | "tool_choice" | "thinking"
> {
  readonly model: string
}

export const CountTokensReply = Schema.Struct({ input_tokens: maybe(JsonValue) })
export type CountTokensReply = typeof CountTokensReply.Type
