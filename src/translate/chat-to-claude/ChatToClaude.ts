// The pair of chat completions and Claude on Vertex AI.
// It must not know URLs or credentials.
import { MessageEvent } from "../../wire/anthropic/MessageEvent.ts"
import { MessageReply, type MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import type { Translator } from "../Translator.ts"
import { failureFromClaude } from "./failure.ts"
import { chatToClaudeRequest } from "./request.ts"
import { responseFromClaude } from "./response.ts"
import { type StreamState, streamFromClaude } from "./stream.ts"

export const chatToClaude: Translator<
  ChatRequest,
  MessagesBody,
  MessageReply,
  MessageEvent,
  ChatCompletion,
  ChatChunk,
  StreamState
> = {
  name: "chat-to-claude",
  reply: MessageReply,
  event: MessageEvent,
  request: chatToClaudeRequest,
  response: responseFromClaude,
  stream: streamFromClaude,
  failure: failureFromClaude
}
