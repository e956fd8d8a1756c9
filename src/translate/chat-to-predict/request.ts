// Translates a chat request into the body of predict: one instance with a prompt.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { PredictRequest } from "../../wire/google/Predict.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { Translated } from "../Translator.ts"
import { formatWords, readFormat } from "../shared/chat-request/readFormat.ts"
import { ignoredPredictChatParams } from "./params.ts"
import { renderPrompt, refuseInPrompt } from "./prompt.ts"

/** Some servers read parameters inside the instance, others in `parameters`: the body has them in both places. */
export const chatToPredictRequest = (request: ChatRequest): Result.Result<Translated<PredictRequest>, RequestFault> => {
  const refusal = refuseUnsupported(request)
  if (refusal !== undefined) return refusal
  const format = readFormat(request.response_format)
  if (Result.isFailure(format)) return Result.fail(format.failure)
  return Result.map(renderPrompt(request, formatWords(format.success)), (prompt) => {
    const parameters = parametersOf(request)
    return {
      body: {
        instances: [{ prompt, ...parameters }],
        ...(Object.keys(parameters).length === 0 ? {} : { parameters })
      },
      headers: {},
      ignored: ignoredPredictChatParams(
        request,
        (request.max_tokens ?? undefined) === parameters["max_tokens"] ? [] : ["max_tokens"]
      )
    }
  })
}

const refuseUnsupported = ({ functions, n, tools }: ChatRequest): Result.Result<never, RequestFault> | undefined => {
  if (tools && tools.length > 0) return refuseInPrompt("tools", "it knows no tools")
  if (functions && functions.length > 0) return refuseInPrompt("functions", "it knows no tools")
  return typeof n === "number" && n > 1 ? refuseInPrompt("n", "it answers once") : undefined
}

const parametersOf = (request: ChatRequest): JsonObject => {
  const asked = {
    max_tokens: request.max_completion_tokens ?? request.max_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request.top_k,
    // Casts: the fields of a parsed body are JSON.
    stop: request.stop as Json | undefined,
    seed: request.seed as Json | undefined
  }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined && value !== null))
}
