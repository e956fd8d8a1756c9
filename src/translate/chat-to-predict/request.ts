// Translates a chat request into the body of predict: one instance with a prompt.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { PredictRequest } from "../../wire/google/Predict.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { ParamReader } from "../shared/chat-request/paramReader.ts"
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
  const params = new ParamReader(request)
  const { parameters, unused } = parametersOf(params)
  if (params.fault !== undefined) return Result.fail(params.fault)
  return Result.map(renderPrompt(request, formatWords(format.success)), (prompt) => {
    return {
      body: {
        instances: [{ prompt, ...parameters }],
        ...(Object.keys(parameters).length === 0 ? {} : { parameters })
      },
      headers: {},
      ignored: ignoredPredictChatParams(request, unused),
      ...(params.adjusted.length === 0 ? {} : { adjusted: params.adjusted })
    }
  })
}

const refuseUnsupported = ({ functions, tools }: ChatRequest): Result.Result<never, RequestFault> | undefined => {
  if (tools && tools.length > 0) return refuseInPrompt("tools", "it knows no tools")
  return functions && functions.length > 0 ? refuseInPrompt("functions", "it knows no tools") : undefined
}

const mostTopK = 2 ** 31 - 1

/** One answer is given, whatever was asked for. */
const parametersOf = (
  params: ParamReader
): { readonly parameters: JsonObject; readonly unused: ReadonlyArray<string> } => {
  const { maxTokens, unused } = params.maxTokens()
  params.whole("n", 1, 1)
  const stop = params.stop()
  const asked = {
    max_tokens: maxTokens,
    temperature: params.finite("temperature", 0, 2),
    top_p: params.finite("top_p", 0, 1),
    top_k: params.topK(mostTopK),
    stop: stop.length === 0 ? undefined : typeof params.request.stop === "string" ? params.request.stop : stop,
    seed: params.longSeed()
  }
  return {
    parameters: Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined && value !== null)),
    unused: [...unused, ...(asked.top_k === undefined ? ["top_k"] : [])]
  }
}
