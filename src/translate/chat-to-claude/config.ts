// Translates thinking, effort, sampling and stop sequences for Claude, and adjusts `max_tokens` to a budget.
// It must not depend on messages or tools; `facts.ts` lists the parameters of each model.
import { UnsupportedParameter } from "../../domain/GatewayError.ts"
import { thinkingLevels, type ThinkingWord } from "../../domain/models/ModelRecord.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { MessagesBody } from "../../wire/anthropic.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { numberAdjusted, numberOf, type ParamReader } from "../shared/chat-request/paramReader.ts"
import { type AskedThinking, effortTokens, readThinking, type Thinking } from "../shared/chat-request/readOptions.ts"
import type { Adjustment } from "../Translator.ts"
import type { ClaudeFacts } from "./facts.ts"

export interface ClaudeThinking {
  readonly fields: { readonly thinking?: JsonObject; readonly output_config?: JsonObject }
  /** `budget`: the turn with answered calls must start with its thinking. */
  readonly mode: "off" | "budget" | "adaptive"
  readonly maxTokens: number
  /** Parameters without effect. */
  readonly unused: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
}

type Planned = Omit<ClaudeThinking, "unused">

/** `maxTokens` is the length of the answer without thinking. */
export const claudeThinking = (params: ParamReader, facts: ClaudeFacts, maxTokens: number): ClaudeThinking => {
  const { request } = params
  const asked = params.take(readThinking(request))
  // A word that is no effort asks for nothing.
  if (asked === undefined) return { ...unasked(facts, maxTokens), unused: ["reasoning_effort"] }
  const losers =
    asked.param === "thinking" && (request.reasoning_effort ?? undefined) !== undefined ? ["reasoning_effort"] : []
  const isOff = asked.thinking._tag === "Off"
  if (facts.thinking === "none")
    return { ...unasked(facts, maxTokens), unused: isOff ? losers : [asked.param, ...losers] }
  const planned = isOff ? stopped(asked.param, facts, maxTokens) : thoughtOf(asked, facts, maxTokens)
  return { ...planned, unused: losers }
}

/** Turns requested thinking off; the requesting parameter is listed as unused. */
export const withoutThinking = (request: ChatRequest, thinking: ClaudeThinking, maxTokens: number): ClaudeThinking => ({
  fields: {},
  mode: "off",
  maxTokens,
  unused: [...thinking.unused, (request.thinking ?? undefined) === undefined ? "reasoning_effort" : "thinking"],
  adjusted: []
})

/** Sends nothing, also to models that think by default (M-213). */
const unasked = (facts: ClaudeFacts, maxTokens: number): Planned => ({
  fields: {},
  mode: facts.thinksUnasked ? "adaptive" : "off",
  maxTokens,
  adjusted: []
})

/** A model that always thinks gets the lowest effort. Its `thinking` accepts no type that stops it (M-200). */
const stopped = (param: AskedThinking["param"], { efforts, off }: ClaudeFacts, maxTokens: number): Planned => {
  if (off !== undefined) return { fields: { thinking: { type: off } }, mode: "off", maxTokens, adjusted: [] }
  const [lowest = "low"] = efforts
  return {
    fields: { output_config: { effort: lowest } },
    mode: "adaptive",
    maxTokens,
    adjusted: [{ param, asked: "none", sent: lowest, takes: param === "thinking" ? ["adaptive"] : efforts }]
  }
}

const thoughtOf = (asked: AskedThinking, facts: ClaudeFacts, maxTokens: number): Planned => {
  const { thinking } = asked
  const takesBudget = facts.thinking === "budget" || (facts.thinking === "both" && thinking._tag === "Budget")
  if (takesBudget) return budgeted(asked, facts, maxTokens)
  const { adjusted, effort } = effortOf(asked, facts)
  // Since 4.7, answers omit thinking unless requested. Source: Anthropic, adaptive thinking, "display".
  const display = facts.thinking === "adaptive" ? { display: "summarized" } : {}
  return {
    fields: {
      thinking: { type: "adaptive", ...display },
      ...(effort === undefined ? {} : { output_config: { effort } })
    },
    mode: "adaptive",
    maxTokens,
    adjusted
  }
}

const smallestBudget = 1_024

/** A dynamic budget does not exist here: the medium budget replaces it. */
const budgetOf = (thinking: Thinking): number => {
  if (thinking._tag === "Budget") return Math.max(thinking.tokens, smallestBudget)
  return effortTokens[thinking._tag === "Effort" ? thinking.effort : "medium"]
}

const budgetEfforts: ReadonlyArray<ThinkingWord> = ["minimal", "low", "medium", "high"]

/**
 * Upstream `max_tokens` includes the budget, so it grows by the budget up to the model's limit; then the budget
 * shrinks.
 */
const budgeted = ({ param, thinking }: AskedThinking, { limit }: ClaudeFacts, maxTokens: number): Planned => {
  const tokens = budgetOf(thinking)
  const longest = maxTokens > tokens ? maxTokens : Math.min(tokens + maxTokens, limit ?? tokens + maxTokens)
  const fitting = maxTokens > tokens ? tokens : Math.max(longest - maxTokens, smallestBudget)
  const adjusted: ReadonlyArray<Adjustment> =
    thinking._tag === "Budget" && thinking.tokens !== fitting
      ? [numberAdjusted(param, thinking.tokens, fitting, `a budget from ${smallestBudget} tokens below max_tokens`)]
      : thinking._tag === "Effort" && (thinking.effort === "xhigh" || thinking.effort === "max")
        ? [{ param, asked: thinking.effort, sent: "high", takes: ["none", ...budgetEfforts] }]
        : []
  return {
    fields: { thinking: { type: "enabled", budget_tokens: fitting } },
    mode: "budget",
    maxTokens: longest,
    adjusted
  }
}

interface SentEffort {
  readonly effort: ThinkingWord | undefined
  readonly adjusted: ReadonlyArray<Adjustment>
}

/** A requested effort, or that of a budget, as the model accepts it. Without an amount, the model chooses. */
const effortOf = ({ param, thinking }: AskedThinking, { efforts, off }: ClaudeFacts): SentEffort => {
  if (thinking._tag === "Effort") {
    const sent = nearestEffort(thinking.effort, efforts)
    const isChanged = sent !== undefined && sent !== thinking.effort
    return {
      effort: sent,
      adjusted: isChanged ? [{ param, asked: thinking.effort, sent, takes: ["none", ...efforts] }] : []
    }
  }
  if (thinking._tag !== "Budget") return { effort: undefined, adjusted: [] }
  const wanted = thinking.tokens <= 4_096 ? "low" : thinking.tokens <= 16_384 ? "medium" : "high"
  const effort = nearestEffort(wanted, efforts)
  return {
    effort,
    adjusted: [
      {
        param,
        asked: "budget",
        sent: effort ?? "adaptive",
        takes: ["adaptive", ...(off === undefined ? [] : ["disabled"])]
      }
    ]
  }
}

/** The nearest lower effort that the model accepts, else its lowest (M-201). */
const nearestEffort = (wanted: ThinkingWord, efforts: ReadonlyArray<ThinkingWord>): ThinkingWord | undefined =>
  efforts.findLast((effort) => thinkingLevels.indexOf(effort) <= thinkingLevels.indexOf(wanted)) ?? efforts[0]

// Sampling and stop sequences

interface ClaudeSampling {
  readonly fields: Pick<MessagesBody, "temperature" | "top_p" | "top_k">
  readonly unused: ReadonlyArray<string>
}

/** With thinking, a lower top_p is rejected. Source: Anthropic, extended thinking, feature compatibility. */
const leastTopP = 0.95
const mostTopK = 2 ** 31 - 1

export const claudeSampling = (params: ParamReader, facts: ClaudeFacts, thinks: boolean): ClaudeSampling => {
  const free = facts.sampling !== "none" && !thinks
  // OpenAI's range of temperatures ends at 2, Claude's at 1.
  const heat = free ? params.finite("temperature", 0, 1) : undefined
  const isMassFree = facts.sampling !== "none" && !(facts.sampling === "one" && heat !== undefined)
  const isLow = thinks && (numberOf(params.request.top_p) ?? 1) < leastTopP
  const mass = isMassFree && !isLow ? params.finite("top_p", 0, 1) : undefined
  const rank = free ? params.topK(mostTopK) : undefined
  return {
    fields: {
      ...(heat === undefined ? {} : { temperature: heat }),
      ...(mass === undefined ? {} : { top_p: mass }),
      ...(rank === undefined ? {} : { top_k: rank })
    },
    unused: [
      ...(heat === undefined ? ["temperature"] : []),
      ...(mass === undefined ? ["top_p"] : []),
      ...(rank === undefined ? ["top_k"] : [])
    ]
  }
}

/** Claude rejects stop sequences of white space alone: the gateway looks for those itself. */
export const claudeStopSequences = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.filter((word) => word.trim() !== "")

/** One answer, whatever was asked for. Refuses answers without text, and returns other parameters without effect. */
export const checkAnswerKinds = (params: ParamReader): ReadonlyArray<string> => {
  params.whole("n", 1, 1)
  const kinds = params.modalities()
  if (kinds !== undefined && !kinds.includes("text"))
    params.refuse(
      new UnsupportedParameter({ param: "modalities", message: "Claude answers in text; modalities must include it." })
    )
  return kinds?.every((kind) => kind === "text") === false ? ["modalities"] : []
}
