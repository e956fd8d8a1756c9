// Translator pair: chat completions to Gemini (generateContent), for Vertex AI and the Gemini API.
// Must not depend on URLs or credentials.
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { GenerateContentReply, type GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import type { Translator } from "../Translator.ts"
import { chatToGeminiRequest } from "./request.ts"
import { geminiHops, responseFromGemini } from "./response.ts"
import { type GeminiStreamState, streamFromGemini } from "./stream.ts"

export const chatToGemini: Translator<
  ChatRequest,
  GenerateContentRequest,
  GenerateContentReply,
  GenerateContentReply,
  ChatCompletion,
  ChatChunk,
  GeminiStreamState
> = {
  name: "chat-to-gemini",
  reply: GenerateContentReply,
  event: GenerateContentReply,
  request: chatToGeminiRequest,
  response: responseFromGemini,
  stream: streamFromGemini,
  hops: geminiHops,
  failure: failureFromGoogle
}
