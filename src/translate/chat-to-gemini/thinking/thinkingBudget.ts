// Selects the thinking budget of a Gemini model for an effort, a budget or a switch.
// Must not depend on requests; the model's range comes from its facts.
import type { AskedThinking, Effort } from "../../shared/chat-request/reasoning.ts"
import { effortTokens } from "../../shared/chat-request/reasoning.ts"
import type { ModelFacts } from "../../shared/google/modelFacts.ts"
import type { BentThinking } from "./thinkingBent.ts"

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

export const budgetThinking = ({ param, thinking }: AskedThinking, facts: ModelFacts): BentThinking => {
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
