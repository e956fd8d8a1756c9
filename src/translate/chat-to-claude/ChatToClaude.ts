// Translator pair: chat completions to Claude on Vertex AI (rawPredict).
// Must not depend on URLs or credentials.
import { ClaudeMessageEvent } from "../../wire/anthropic/MessageEvent.ts"
import { MessageReply, type MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import type { Translator } from "../Translator.ts"
import { failureFromClaude } from "./failure.ts"
import { chatToClaudeRequest } from "./request.ts"
import { responseFromClaude } from "./response.ts"
import { type ClaudeStreamState, streamFromClaude } from "./stream.ts"

export const chatToClaude: Translator<
  ChatRequest,
  MessagesBody,
  MessageReply,
  ClaudeMessageEvent,
  ChatCompletion,
  ChatChunk,
  ClaudeStreamState
> = {
  name: "chat-to-claude",
  reply: MessageReply,
  event: ClaudeMessageEvent,
  request: chatToClaudeRequest,
  response: responseFromClaude,
  stream: streamFromClaude,
  failure: failureFromClaude
}
