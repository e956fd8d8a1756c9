// Translator pair: token counting to Gemini's countTokens; counts a chat request as chat would send it.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { type CountedContent, GeminiCountTokensReply, type CountTokensRequest } from "../wire/google/CountTokens.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"
import type { TokenCount } from "../wire/openai/TokenCount.ts"
import { chatToGeminiRequest } from "./chat-to-gemini/request.ts"
import { readCount } from "./shared/reply/counts.ts"
import { tokensBy } from "./shared/google/geminiUsage.ts"
import { failureFromGoogle } from "./shared/google/googleFailure.ts"
import type { Translated, TranslateContext, Unary } from "./Translator.ts"

/** Streaming changes no count, so `stream` is removed before translation. */
const countRequest = (
  { stream: _stream, ...request }: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<CountTokensRequest>, RequestFault> =>
  Result.map(chatToGeminiRequest(request, context), ({ adjusted, body, ignored }) => {
    const { contents, generationConfig, systemInstruction, tools } = body
    const counted: CountedContent = {
      contents,
      ...(systemInstruction === undefined ? {} : { systemInstruction }),
      ...(tools === undefined ? {} : { tools }),
      ...(generationConfig === undefined ? {} : { generationConfig })
    }
    const { kind, modelId } = context.target
    return {
      body: kind === "google" ? { generateContentRequest: { model: `models/${modelId}`, ...counted } } : counted,
      headers: {},
      ignored,
      ...(adjusted === undefined ? {} : { adjusted })
    }
  })

const modalities = { TEXT: "text_tokens", IMAGE: "image_tokens", AUDIO: "audio_tokens", VIDEO: "video_tokens" } as const

const countResponse = (
  reply: GeminiCountTokensReply,
  { target }: TranslateContext
): Result.Result<TokenCount, Reason> => {
  const { cachedContentTokenCount: cached, promptTokensDetails, totalBillableCharacters: billable, totalTokens } = reply
  if (typeof totalTokens !== "number") {
    return Result.fail({
      _tag: "BadReply",
      kind: "no_content",
      message: "The upstream answered without a count of tokens. Try again."
    })
  }
  const details = {
    ...(typeof cached === "number" ? { cached_tokens: readCount(cached) } : {}),
    ...tokensBy(modalities, promptTokensDetails ?? undefined)
  }
  return Result.succeed({
    object: "token_count",
    model: target.modelId,
    input_tokens: readCount(totalTokens),
    ...(Object.keys(details).length === 0 ? {} : { input_tokens_details: details }),
    ...(typeof billable === "number" ? { total_billable_characters: readCount(billable) } : {}),
    provider: target.kind
  })
}

export const countToGemini: Unary<ChatRequest, CountTokensRequest, GeminiCountTokensReply, TokenCount> = {
  name: "count-to-gemini",
  reply: GeminiCountTokensReply,
  request: countRequest,
  response: countResponse,
  failure: failureFromGoogle
}
