// Translates thinking options to Gemini's `thinkingConfig`: a budget or a level, never both.
// It must not depend on model ids; the facts of a model give its range and its levels.
import type { JsonObject } from "../../domain/text/json.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ParamReader } from "../shared/chat-request/paramReader.ts"
import { type AskedThinking, type Effort, effortTokens, readThinking } from "../shared/chat-request/readOptions.ts"
import { geminiLevels, type ModelFacts, type ThinkingLevel } from "../shared/gemini.ts"
import type { Adjustment } from "../Translator.ts"

export interface ThinkingConfig {
  readonly config: JsonObject | undefined
  readonly unused: ReadonlyArray<string>
  /** Undefined: the model does as asked, or an equivalent of it. */
  readonly adjusted: Adjustment | undefined
}

/**
 * `verbatim` is Google's own configuration at `path` of the request; it takes precedence over all other thinking
 * options.
 */
export const thinkingConfig = (
  params: ParamReader,
  facts: ModelFacts,
  verbatim: { readonly path: string; readonly value: JsonObject } | undefined
): ThinkingConfig => {
  const { request } = params
  const asked = params.take(readThinking(request))
  if (verbatim !== undefined) return verbatimConfig(verbatim, namedParams(request), facts)
  // A word that is no effort.
  if (asked === undefined) return { config: undefined, unused: namedParams(request), adjusted: undefined }
  const losers = namedParams(request).filter((param) => param !== asked.param)
  if (facts.thinking === "none") {
    const unused = asked.thinking._tag === "Off" ? losers : [asked.param, ...losers]
    return { config: undefined, unused, adjusted: undefined }
  }
  const { bent, config } = facts.thinking === "level" ? levelThinking(asked, facts) : budgetThinking(asked, facts)
  return { config, unused: losers, adjusted: bent === undefined ? undefined : { param: asked.param, ...bent } }
}

const namedParams = (request: ChatRequest): ReadonlyArray<"thinking" | "reasoning_effort"> =>
  (["thinking", "reasoning_effort"] as const).filter((param) => (request[param] ?? undefined) !== undefined)

const verbatimConfig = (
  { path, value }: { readonly path: string; readonly value: JsonObject },
  params: ReadonlyArray<string>,
  facts: ModelFacts
): ThinkingConfig => {
  const config = camelCased(value)
  if ("thinkingBudget" in config && "thinkingLevel" in config) {
    const { thinkingBudget: _budget, ...others } = config
    return verbatimConfig({ path, value: others }, [...params, `${path}.thinking_budget`], facts)
  }
  return facts.thinking === "none"
    ? { config: undefined, unused: [path, ...params], adjusted: undefined }
    : { config, unused: params, adjusted: undefined }
}

const camelCased = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), inner])
  )

interface BentThinking {
  readonly config: JsonObject
  /** Undefined: the model does as asked, or an equivalent of it. */
  readonly bent: Omit<Adjustment, "param"> | undefined
}

// Budgets

const clamped = (tokens: number, range: ModelFacts["budget"]): number =>
  range === undefined ? tokens : Math.min(Math.max(tokens, range[0]), range[1])

const efforts: ReadonlyArray<Effort> = ["minimal", "low", "medium", "high"]

/** The two highest efforts take the model's largest budget, which is the same as `high` on most models (M-201). */
const budgetOfEffort = (effort: Effort, { budget }: ModelFacts): BentThinking => {
  const usual = clamped(effortTokens[effort], budget)
  const isHighest = effort === "xhigh" || effort === "max"
  const tokens = isHighest ? Math.max(usual, budget?.[1] ?? 0) : usual
  return {
    config: { thinkingBudget: tokens, includeThoughts: true },
    bent: isHighest && tokens === usual ? { asked: effort, sent: "high", takes: efforts } : undefined
  }
}

const budgetOfTokens = (tokens: number, { budget }: ModelFacts): BentThinking => {
  const thinkingBudget = clamped(tokens, budget)
  return {
    config: { thinkingBudget, includeThoughts: true },
    bent:
      budget === undefined || thinkingBudget === tokens
        ? undefined
        : { asked: String(tokens), sent: String(thinkingBudget), takes: [`${budget[0]} to ${budget[1]} tokens`] }
  }
}

/** A model that always thinks runs with its smallest budget and thoughts hidden. */
const switchedOff = (asked: string, { budget, canStop }: ModelFacts): BentThinking => {
  if (canStop) return { config: { thinkingBudget: 0, includeThoughts: false }, bent: undefined }
  if (budget === undefined) return { config: { includeThoughts: false }, bent: undefined }
  const [least, most] = budget
  return {
    config: { thinkingBudget: least, includeThoughts: false },
    bent: { asked, sent: String(least), takes: asked === "none" ? efforts : [`${least} to ${most} tokens`] }
  }
}

const budgetThinking = ({ param, thinking }: AskedThinking, facts: ModelFacts): BentThinking => {
  switch (thinking._tag) {
    case "Off":
      return switchedOff(param === "thinking" ? "disabled" : "none", facts)
    case "Effort":
      return budgetOfEffort(thinking.effort, facts)
    case "Budget":
      return budgetOfTokens(thinking.tokens, facts)
    case "On":
      return { config: { includeThoughts: true }, bent: undefined }
    case "Dynamic":
      return {
        config: facts.generation === "g3" ? { includeThoughts: true } : { thinkingBudget: -1, includeThoughts: true },
        bent: undefined
      }
  }
}

// Levels

const rising: ReadonlyArray<ThinkingLevel> = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"]

const wordOf = (level: ThinkingLevel): string => level.toLowerCase()

/** The nearest lower level that the model has; without one its lowest (M-201). */
const legalLevel = (wanted: ThinkingLevel, legal: ReadonlyArray<ThinkingLevel>): ThinkingLevel =>
  legal.findLast((level) => rising.indexOf(level) <= rising.indexOf(wanted)) ?? legal[0] ?? wanted

/** The size of a budget selects the level on models that refuse budgets (M-210). */
const effortOfBudget = (tokens: number): Effort => (tokens <= 4_096 ? "low" : tokens <= 16_384 ? "medium" : "high")

const atLevel = (effort: Effort, asked: string, { levels }: ModelFacts): BentThinking => {
  const level = legalLevel(geminiLevels[effort], levels)
  const config: JsonObject = { thinkingLevel: level, includeThoughts: true }
  return asked === wordOf(level)
    ? { config, bent: undefined }
    : { config, bent: { asked, sent: wordOf(level), takes: levels.map(wordOf) } }
}

/** Levels cannot switch thinking off: the lowest one runs with thoughts hidden. */
const quietly = (asked: string, { levels, quietLevel }: ModelFacts): BentThinking =>
  quietLevel === undefined
    ? { config: { includeThoughts: false }, bent: undefined }
    : {
        config: { thinkingLevel: quietLevel, includeThoughts: false },
        bent: { asked, sent: wordOf(quietLevel), takes: levels.map(wordOf) }
      }

const levelThinking = ({ param, thinking }: AskedThinking, facts: ModelFacts): BentThinking => {
  switch (thinking._tag) {
    case "Off":
      return quietly(param === "thinking" ? "disabled" : "none", facts)
    case "Effort":
      return atLevel(thinking.effort, thinking.effort, facts)
    case "Budget":
      return facts.takesBudget
        ? { config: { thinkingBudget: thinking.tokens, includeThoughts: true }, bent: undefined }
        : atLevel(effortOfBudget(thinking.tokens), "budget", facts)
    case "On":
    case "Dynamic":
      return { config: { includeThoughts: true }, bent: undefined }
  }
}
