// Translator pair: token counting to Claude's count_tokens; counts a chat request as chat would send it.
// Must not depend on URLs or credentials.
import * as Result from "effect/Result"
import type { RequestFault } from "../domain/GatewayError.ts"
import type { Reason } from "../domain/ProviderError.ts"
import { type CountTokensBody, ClaudeCountTokensReply } from "../wire/anthropic/CountTokens.ts"
import type { ChatRequest } from "../wire/openai/Chat.ts"
import type { TokenCount } from "../wire/openai/TokenCount.ts"
import { failureFromClaude } from "./chat-to-claude/failure.ts"
import { chatToClaudeRequest } from "./chat-to-claude/request.ts"
import { countedId } from "./shared/claude/claudeIds.ts"
import { readCount } from "./shared/reply/counts.ts"
import type { Translated, TranslateContext, Unary } from "./Translator.ts"

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
