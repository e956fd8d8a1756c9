// The one thinking knob of a Gemini model: a budget or a level, never both.
// It must not know which parameter of the request asked.
import * as Result from "effect/Result"
import type { RequestFault } from "../../domain/GatewayError.ts"
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { invalid } from "../shared/fault.ts"
import type { ModelFacts, ThinkingLevel } from "../shared/google/modelFacts.ts"
import { type Effort, effortTokens, readThinking, type Thinking } from "../shared/chat-request/reasoning.ts"

export interface ThinkingConfig {
  readonly config: JsonObject | undefined
  readonly unused: ReadonlyArray<string>
}

/** `verbatim` is Google's own configuration, found at `path` of the request; it wins over every other wish. */
export const thinkingConfig = (
  request: ChatRequest,
  facts: ModelFacts,
  verbatim: { readonly path: string; readonly value: JsonObject } | undefined
): Result.Result<ThinkingConfig, RequestFault> => {
  const read = readThinking(request)
  if (Result.isFailure(read)) return Result.fail(read.failure)
  const asked = read.success
  if (verbatim !== undefined) return verbatimConfig(verbatim, namedParams(request), facts)
  if (asked === undefined) return Result.succeed(nothing)
  const losers = namedParams(request).filter((param) => param !== asked.param)
  if (facts.thinking === "none") {
    return Result.succeed({
      config: undefined,
      unused: asked.thinking._tag === "Off" ? losers : [asked.param, ...losers]
    })
  }
  return Result.succeed({
    config: facts.thinking === "level" ? byLevel(asked.thinking, facts) : byBudget(asked.thinking, facts),
    unused: losers
  })
}

const nothing: ThinkingConfig = { config: undefined, unused: [] }

const namedParams = (request: ChatRequest): ReadonlyArray<"thinking" | "reasoning_effort"> =>
  (["thinking", "reasoning_effort"] as const).filter((param) => (request[param] ?? undefined) !== undefined)

const verbatimConfig = (
  { path, value }: { readonly path: string; readonly value: JsonObject },
  params: ReadonlyArray<string>,
  facts: ModelFacts
): Result.Result<ThinkingConfig, RequestFault> => {
  const config = camelCased(value)
  if ("thinkingBudget" in config && "thinkingLevel" in config) {
    return invalid(path, "invalid_value", "Give a thinking budget or a thinking level, not both.")
  }
  return Result.succeed(
    facts.thinking === "none" ? { config: undefined, unused: [path, ...params] } : { config, unused: params }
  )
}

const camelCased = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), inner])
  )

const levelOf: Readonly<Record<Effort, ThinkingLevel>> = {
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH"
}
const rising: ReadonlyArray<ThinkingLevel> = ["MINIMAL", "LOW", "MEDIUM", "HIGH"]

/** A level the model lacks moves up to the next it has. */
const legalLevel = (wanted: ThinkingLevel, legal: ReadonlyArray<ThinkingLevel>): ThinkingLevel =>
  legal.find((level) => rising.indexOf(level) >= rising.indexOf(wanted)) ?? wanted

const byLevel = (thinking: Thinking, facts: ModelFacts): JsonObject => {
  switch (thinking._tag) {
    case "Off":
      // These models cannot stop; the least they do is hidden.
      return { ...(facts.quietLevel === undefined ? {} : { thinkingLevel: facts.quietLevel }), includeThoughts: false }
    case "Effort":
      return { thinkingLevel: legalLevel(levelOf[thinking.effort], facts.levels), includeThoughts: true }
    case "Budget":
      // Budgets are still accepted on models with levels, but never beside one.
      return { thinkingBudget: thinking.tokens, includeThoughts: true }
    case "On":
    case "Dynamic":
      return { includeThoughts: true }
  }
}

const byBudget = (thinking: Thinking, facts: ModelFacts): JsonObject => {
  switch (thinking._tag) {
    case "Off":
      if (facts.canStop) return { thinkingBudget: 0, includeThoughts: false }
      return facts.budget === undefined
        ? { includeThoughts: false }
        : { thinkingBudget: facts.budget[0], includeThoughts: false }
    case "Effort":
      return { thinkingBudget: clamped(effortTokens[thinking.effort], facts.budget), includeThoughts: true }
    case "Budget":
      return { thinkingBudget: clamped(thinking.tokens, facts.budget), includeThoughts: true }
    case "On":
      return { includeThoughts: true }
    case "Dynamic":
      return facts.generation === "g3" ? { includeThoughts: true } : { thinkingBudget: -1, includeThoughts: true }
  }
}

const clamped = (tokens: number, range: ModelFacts["budget"]): number =>
  range === undefined ? tokens : Math.min(Math.max(tokens, range[0]), range[1])
