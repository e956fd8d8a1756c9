// Translator pair: chat completions to Claude on Vertex AI (rawPredict).
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import { ClaudeMessageEvent } from "../../wire/anthropic/MessageEvent.ts"
import { MessageReply, type MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { stopTexts } from "../shared/chat-request/paramReader.ts"
import { cutCompletion, cutStream, type StopState } from "../shared/reply/stopTexts.ts"
import { claudeStopSequences } from "./sampling.ts"
import type { Translator } from "../Translator.ts"
import { failureFromClaude } from "./failure.ts"
import { chatToClaudeRequest } from "./request.ts"
import { responseFromClaude } from "./response.ts"
import { type ClaudeStreamState, streamFromClaude } from "./stream.ts"

const unsentStops = (request: ChatRequest): ReadonlyArray<string> => {
  if (request.stop === undefined) return []
  const asked = (stopTexts(request) ?? []).slice(0, defaultLimits.stopSequences)
  const sent = claudeStopSequences(asked)
  return asked.filter((text) => !sent.includes(text))
}

export const chatToClaude: Translator<
  ChatRequest,
  MessagesBody,
  MessageReply,
  ClaudeMessageEvent,
  ChatCompletion,
  ChatChunk,
  ClaudeStreamState | StopState<ClaudeStreamState>
> = {
  name: "chat-to-claude",
  reply: MessageReply,
  event: ClaudeMessageEvent,
  request: chatToClaudeRequest,
  response: (reply, context, request) =>
    Result.map(responseFromClaude(reply, context, request), (full) => cutCompletion(full, unsentStops(request))),
  stream: (context, request) => cutStream(streamFromClaude(context, request), unsentStops(request)),
  failure: failureFromClaude
}
