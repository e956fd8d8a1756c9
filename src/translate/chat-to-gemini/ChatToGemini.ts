// Translator pair: chat completions to Gemini (generateContent), for Vertex AI and the Gemini API.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import { defaultLimits } from "../../domain/Limits.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { GenerateContentReply, type GenerateContentRequest } from "../../wire/google/GenerateContent.ts"
import { failureFromGoogle } from "../shared/google/googleFailure.ts"
import { stopTexts } from "../shared/chat-request/paramReader.ts"
import { cutCompletion, cutStream, type StopState } from "../shared/reply/stopTexts.ts"
import { mostStopSequences } from "./generationConfig.ts"
import type { Translator } from "../Translator.ts"
import { chatToGeminiRequest } from "./request.ts"
import { geminiHops, responseFromGemini } from "./response.ts"
import { type GeminiStreamState, streamFromGemini } from "./stream.ts"

const unsentStops = (request: ChatRequest): ReadonlyArray<string> =>
  request.stop === undefined ? [] : (stopTexts(request) ?? []).slice(mostStopSequences, defaultLimits.stopSequences)

export const chatToGemini: Translator<
  ChatRequest,
  GenerateContentRequest,
  GenerateContentReply,
  GenerateContentReply,
  ChatCompletion,
  ChatChunk,
  GeminiStreamState | StopState<GeminiStreamState>
> = {
  name: "chat-to-gemini",
  reply: GenerateContentReply,
  event: GenerateContentReply,
  request: chatToGeminiRequest,
  response: (reply, context, request, headers) =>
    Result.map(responseFromGemini(reply, context, request, headers), (full) =>
      cutCompletion(full, unsentStops(request))
    ),
  stream: (context, request, headers) => cutStream(streamFromGemini(context, request, headers), unsentStops(request)),
  hops: {
    ...geminiHops,
    join: (replies, context, request, isInterrupted) =>
      Result.map(geminiHops.join(replies, context, request, isInterrupted), (full) =>
        cutCompletion(full, unsentStops(request))
      )
  },
  failure: failureFromGoogle
}
