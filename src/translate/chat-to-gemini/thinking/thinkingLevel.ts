// Selects the thinking level of a Gemini model for an effort, a budget or a switch.
// Must not depend on requests; the model's levels come from its facts.
import type { JsonObject } from "../../../domain/text/json.ts"
import type { AskedThinking, Effort } from "../../shared/chat-request/reasoning.ts"
import { geminiLevels, type ModelFacts, type ThinkingLevel } from "../../shared/google/modelFacts.ts"
import type { BentThinking } from "./thinkingBent.ts"

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

export const levelThinking = ({ param, thinking }: AskedThinking, facts: ModelFacts): BentThinking => {
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
