// Translator pairs of Gemini: chat completions to generateContent, and the token count of a chat to countTokens.
// They must not depend on URLs or credentials, or on how the rest of a long answer is asked for.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  type CountedContent,
  type CountTokensRequest,
  GeminiCountTokensReply,
  GenerateContentReply,
  type GenerateContentRequest
} from "../../wire/google.ts"
import type { ChatRequest, TokenCount } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { ParamReader, stopTexts } from "../shared/chat-request/paramReader.ts"
import type { ModelFacts } from "../shared/gemini.ts"
import { cutCompletion, cutStream, type StopState } from "../shared/reply/stopTexts.ts"
import { failureFromGoogle } from "../shared/reply/upstreamFailures.ts"
import { readCount, tokensBy } from "../shared/reply/usage.ts"
import type { TranslateContext, Translated, Translator, Unary } from "../Translator.ts"
import { mostStopSequences } from "./config.ts"
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

// Long answers

/** True when the client asks for more than one request gives, and for one answer only (M-601). */
export const mayContinue = (request: ChatRequest, { longDecode }: ModelFacts, stream: boolean): boolean => {
  if (longDecode === undefined || (request.n ?? 1) !== 1) return false
  const params = new ParamReader(request)
  const { maxTokens: most } = params.maxTokens()
  return params.fault === undefined && most !== undefined && most > (stream ? longDecode.stream : longDecode.unary)
}

/** True for a request with the token of an earlier answer, in any of the places that the translation reads. */
export const continuesAnswer = ({ continuation_token, extra_body, google }: ChatRequest): boolean =>
  [continuation_token, tokenIn(extra_body?.["google"]), tokenIn(google)].some(
    (token) => token !== undefined && token !== null
  )

const tokenIn = (extras: unknown): unknown =>
  typeof extras === "object" && extras !== null && "continuation_token" in extras
    ? extras.continuation_token
    : undefined

// The token count, as a chat would be sent

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
