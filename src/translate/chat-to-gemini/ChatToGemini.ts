// The pair of chat completions and Gemini.
// It must not know URLs or credentials; both Google products share it.
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { GenerateContentReply, type GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import type { Translator } from "../Translator.ts"
import { chatToGeminiRequest } from "./request.ts"
import { responseFromGemini } from "./response.ts"
import { type StreamState, streamFromGemini } from "./stream.ts"

export const chatToGemini: Translator<
  ChatRequest,
  GenerateContentRequest,
  GenerateContentReply,
  GenerateContentReply,
  ChatCompletion,
  ChatChunk,
  StreamState
> = {
  name: "chat-to-gemini",
  reply: GenerateContentReply,
  event: GenerateContentReply,
  request: chatToGeminiRequest,
  response: responseFromGemini,
  stream: streamFromGemini,
  failure: failureFromGoogle
}
