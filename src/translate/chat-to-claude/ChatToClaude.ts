// Translator pairs of Claude on Vertex AI: chat completions to rawPredict, and the token count of a chat.
// They must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import { defaultLimits } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  ClaudeCountTokensReply,
  ClaudeMessageEvent,
  type CountTokensBody,
  MessageReply,
  type MessagesBody
} from "../../wire/anthropic.ts"
import type { ChatRequest, TokenCount } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChatCompletion } from "../../wire/openai/ChatReply.ts"
import { stopTexts } from "../shared/chat-request/paramReader.ts"
import { countedId } from "../shared/claude.ts"
import { cutCompletion, cutStream, type StopState } from "../shared/reply/stopTexts.ts"
import { readCount } from "../shared/reply/usage.ts"
import type { TranslateContext, Translated, Translator, Unary } from "../Translator.ts"
import { claudeStopSequences } from "./config.ts"
import { chatToClaudeRequest } from "./request.ts"
import { failureFromClaude, responseFromClaude } from "./response.ts"
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

// The token count, as a chat would be sent

/** Drops parameters that only shape the answer (T1708) and ignores the number of answers (T1706). */
const countRequest = (
  { n: _answers, ...request }: ChatRequest,
  context: TranslateContext
): Result.Result<Translated<CountTokensBody>, RequestFault> =>
  Result.map(chatToClaudeRequest(request, context), ({ adjusted, body, headers, ignored }) => {
    const { anthropic_version, messages, system, tools, tool_choice, thinking } = body
    return {
      body: {
        anthropic_version,
        model: countedId(context.target.modelId),
        messages,
        ...(system === undefined ? {} : { system }),
        ...(tools === undefined ? {} : { tools }),
        ...(tool_choice === undefined ? {} : { tool_choice }),
        ...(thinking === undefined ? {} : { thinking })
      },
      headers,
      ignored,
      ...(adjusted === undefined ? {} : { adjusted })
    }
  })

const countResponse = (
  { input_tokens: tokens }: ClaudeCountTokensReply,
  { target }: TranslateContext
): Result.Result<TokenCount, Reason> =>
  typeof tokens === "number"
    ? Result.succeed({
        object: "token_count",
        model: target.modelId,
        input_tokens: readCount(tokens),
        provider: target.kind
      })
    : Result.fail({
        _tag: "BadReply",
        kind: "no_content",
        message: "The upstream answered without a count of tokens. Try again."
      })

export const countToClaude: Unary<ChatRequest, CountTokensBody, ClaudeCountTokensReply, TokenCount> = {
  name: "count-to-claude",
  reply: ClaudeCountTokensReply,
  request: countRequest,
  response: countResponse,
  failure: failureFromClaude
}
