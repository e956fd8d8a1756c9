// The counts of a chat as Anthropic names them.
// It must not know the source of the counts. Rule: D405.
import type { AnswerUsage } from "../../../wire/anthropic/MessageAnswer.ts"
import type { Usage } from "../../../wire/openai/ChatReply.ts"

/** The counts of a prompt that is only estimated. */
export const estimatedUsage = (inputTokens: number): AnswerUsage => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0
})

/** Anthropic counts cached tokens apart; a chat counts them in. */
export const usageOf = (usage: Usage | undefined): AnswerUsage => {
  if (usage === undefined) return estimatedUsage(0)
  const { completion_tokens: output, prompt_tokens: prompt, searches } = usage
  const { cache_write_tokens: written = 0, cached_tokens: cached = 0 } = usage.prompt_tokens_details ?? {}
  const thinking = usage.completion_tokens_details?.reasoning_tokens
  return {
    input_tokens: Math.max(0, prompt - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: output,
    ...(thinking === undefined ? {} : { output_tokens_details: { thinking_tokens: thinking } }),
    ...(searches === undefined || searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } })
  }
}
