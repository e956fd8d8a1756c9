// How Claude is told to think: a budget of tokens, or its own measure by effort, and what that does to the answer's length.
// It must not know messages or tools.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import {
  type AskedThinking,
  type Effort,
  effortTokens,
  readThinking,
  type Thinking
} from "../shared/chat-request/reasoning.ts"
import type { ClaudeFacts } from "./claudeFacts.ts"

export interface ClaudeThinking {
  readonly fields: { readonly thinking?: JsonObject; readonly output_config?: JsonObject }
  /** `budget` demands that the turn whose calls are answered begins with its thinking. */
  readonly mode: "off" | "budget" | "adaptive"
  readonly maxTokens: number
  /** Parameters that change nothing. */
  readonly unused: ReadonlyArray<string>
}

/** `maxTokens` is the length of the answer before any thinking is added to it. */
export const claudeThinking = (
  request: ChatRequest,
  facts: ClaudeFacts,
  maxTokens: number
): Result.Result<ClaudeThinking, RequestFault> =>
  Result.map(readThinking(request), (asked) => {
    if (asked === undefined) return { fields: {}, mode: "off", maxTokens, unused: [] }
    const losers =
      asked.param === "thinking" && (request.reasoning_effort ?? undefined) !== undefined ? ["reasoning_effort"] : []
    const isOff = asked.thinking._tag === "Off"
    if (facts.thinking === "none")
      return { fields: {}, mode: "off", maxTokens, unused: isOff ? losers : [asked.param, ...losers] }
    if (isOff) return { fields: { thinking: { type: "disabled" } }, mode: "off", maxTokens, unused: losers }
    return { ...thoughtOf(asked, facts, maxTokens), unused: losers }
  })

/** Thinking left out after all: what was asked is named, a switched-off one needs no name. */
export const withoutThinking = (request: ChatRequest, thinking: ClaudeThinking, maxTokens: number): ClaudeThinking => ({
  fields: {},
  mode: "off",
  maxTokens,
  unused: [...thinking.unused, (request.thinking ?? undefined) === undefined ? "reasoning_effort" : "thinking"]
})

const thoughtOf = (
  { thinking }: AskedThinking,
  facts: ClaudeFacts,
  maxTokens: number
): Omit<ClaudeThinking, "unused"> => {
  const takesBudget = facts.thinking === "budget" || (facts.thinking === "both" && thinking._tag === "Budget")
  if (takesBudget) return budgeted(budgetOf(thinking), facts, maxTokens)
  const effort = effortOf(thinking)
  // From 4.7 on thoughts are left out of the answer unless asked for. Source: Anthropic, adaptive thinking, "display".
  const display = facts.thinking === "adaptive" ? { display: "summarized" } : {}
  return {
    fields: {
      thinking: { type: "adaptive", ...display },
      ...(effort === undefined ? {} : { output_config: { effort } })
    },
    mode: "adaptive",
    maxTokens
  }
}

const smallestBudget = 1_024

/** A budget has no size of its own here: where the client leaves it to the model, it is the middle one. */
const budgetOf = (thinking: Thinking): number => {
  if (thinking._tag === "Budget") return Math.max(thinking.tokens, smallestBudget)
  return effortTokens[thinking._tag === "Effort" ? thinking.effort : "medium"]
}

/** The budget is part of `max_tokens` upstream, so that grows by it, up to what the model takes; then the budget shrinks. */
const budgeted = (tokens: number, { limit }: ClaudeFacts, maxTokens: number): Omit<ClaudeThinking, "unused"> => {
  const longest = maxTokens > tokens ? maxTokens : Math.min(tokens + maxTokens, limit ?? tokens + maxTokens)
  const fitting = maxTokens > tokens ? tokens : Math.max(longest - maxTokens, smallestBudget)
  return { fields: { thinking: { type: "enabled", budget_tokens: fitting } }, mode: "budget", maxTokens: longest }
}

const efforts: Readonly<Record<Effort, string>> = { minimal: "low", low: "low", medium: "medium", high: "high" }

/** A budget where only effort is taken counts by its size; without any wish the model has its own measure. */
const effortOf = (thinking: Thinking): string | undefined => {
  if (thinking._tag === "Effort") return efforts[thinking.effort]
  if (thinking._tag !== "Budget") return undefined
  return thinking.tokens <= 4_096 ? "low" : thinking.tokens <= 16_384 ? "medium" : "high"
}
