// Translator pair: chat completions to predict, for self-deployed models that take a prompt.
// Must not depend on URLs or credentials.
import { PredictReply, type PredictRequest } from "../../wire/google/Predict.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { failureFromOpenAi } from "../shared/reply/openAiFailure.ts"
import type { Translator } from "../Translator.ts"
import { chatToPredictRequest } from "./request.ts"
import { type PredictState, responseFromPredict, streamFromPredict } from "./response.ts"

export const chatToPredict: Translator<
  ChatRequest,
  PredictRequest,
  PredictReply,
  PredictReply,
  ChatCompletion,
  ChatChunk,
  PredictState
> = {
  name: "chat-to-predict",
  reply: PredictReply,
  event: PredictReply,
  request: chatToPredictRequest,
  response: responseFromPredict,
  stream: streamFromPredict,
  failure: failureFromOpenAi
}
