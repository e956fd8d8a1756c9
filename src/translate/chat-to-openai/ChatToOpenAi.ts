// Translator pair: chat completions to OpenAI-compatible upstreams (Llama, self-deployed endpoints).
// Must not depend on URLs or credentials.
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { UpstreamChat } from "../../wire/openai/UpstreamChat.ts"
import { failureFromOpenAi } from "../shared/reply/openAiFailure.ts"
import type { Translator } from "../Translator.ts"
import { chatToOpenAiRequest, type OpenAiRequest } from "./request.ts"
import { responseFromOpenAi } from "./response.ts"
import { type OpenAiStreamState, streamFromOpenAi } from "./stream.ts"

export const chatToOpenAi: Translator<
  ChatRequest,
  OpenAiRequest,
  UpstreamChat,
  UpstreamChat,
  ChatCompletion,
  ChatChunk,
  OpenAiStreamState
> = {
  name: "chat-to-openai",
  reply: UpstreamChat,
  event: UpstreamChat,
  request: chatToOpenAiRequest,
  response: responseFromOpenAi,
  stream: streamFromOpenAi,
  failure: failureFromOpenAi
}
