// Derives what a Claude model accepts from its row of facts: token limits, thinking, effort, sampling, forced tools.
// It must not depend on requests or routes.
// Source: the copy of the facts; recorded answers for what answers contain.

import { factRow, type FactRow, isPublished, isServedAt, isShutDown } from "../shared/models.ts"
import type { Call } from "../shared/answers.ts"

export interface ClaudeFacts {
  readonly generation: number
  /** The largest accepted `max_tokens`. */
  readonly maxTokens: number
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
  /** The accepted `thinking.type`: `budget` is `enabled` only, `adaptive` is `adaptive` only, `none` refuses either. */
  readonly thinking: "none" | "budget" | "both" | "adaptive"
  /** How thinking is switched off: `never` refuses `disabled` and `between_tools`. */
  readonly off: "disabled" | "between_tools" | "never"
  /** Switched-off thinking takes no effort above `high`. */
  readonly offLimitsEffort: boolean
  /** `one`: temperature or top_p, not both; `none`: only the default values. */
  readonly sampling: "all" | "one" | "none"
  /** A conversation may end with an assistant message (prefill). */
  readonly prefill: boolean
  /** Accepted values of `output_config.effort`. */
  readonly efforts: ReadonlyArray<string>
  readonly structured: boolean
  /** `tool_choice` may demand a call. */
  readonly forcedTool: boolean
  /** Tool blocks in the history require `tools` in the request. */
  readonly needsTools: boolean
  /** A thinking block is refused in another conversation than its own. */
  readonly bindsThinking: boolean
  /** The text of thoughts is empty unless `display` asks for it. */
  readonly hidesThoughts: boolean
  /** Answers contain stop details, the caller of a tool, and the count of thinking tokens (recorded). */
  readonly detailed: boolean
}

const thinkingOf = ({ thinking: { budget_max: most, control } = {} }: FactRow): ClaudeFacts["thinking"] => {
  if (control === "budget") return "budget"
  if (control !== "adaptive") return "none"
  return most === undefined ? "adaptive" : "both"
}

const offOf = ({ thinking: { can_disable: stops, disable_limit: limit = "", control } = {} }: FactRow) => {
  if (limit.startsWith("between_tools")) return "between_tools"
  return control === "adaptive" && stops === false ? "never" : "disabled"
}

const samplingOf = ({ refused = [] }: FactRow): ClaudeFacts["sampling"] => {
  if (refused.includes("temperature together with top_p")) return "one"
  return refused.includes("temperature") ? "none" : "all"
}

/** Opus 4.1 and all models from 4.5 on have structured outputs. */
const isStructured = (id: string, generation: number): boolean => generation >= 4.5 || id.startsWith("claude-opus-4-1")

const factsOf = (id: string, row: FactRow): ClaudeFacts => {
  const generation = Number(row.generation)
  return {
    generation,
    maxTokens: row.max_output ?? 128_000,
    contextTokens: row.context ?? 200_000,
    thinking: thinkingOf(row),
    off: offOf(row),
    offLimitsEffort: row.thinking?.disable_limit !== undefined,
    sampling: samplingOf(row),
    prefill: row.allows_prefill ?? true,
    efforts: row.effort ?? [],
    structured: isStructured(id, generation),
    forcedTool: row.forced_tool_choice ?? true,
    needsTools: generation < 4,
    bindsThinking: generation === 5.2,
    hidesThoughts: thinkingOf(row) === "adaptive",
    detailed: generation >= 4.6
  }
}

const demoFacts: ClaudeFacts = {
  generation: 4.5,
  maxTokens: 128_000,
  contextTokens: 200_000,
  thinking: "both",
  off: "disabled",
  offLimitsEffort: false,
  sampling: "all",
  prefill: true,
  efforts: ["low", "medium", "high", "xhigh", "max"],
  structured: true,
  forcedTool: true,
  needsTools: false,
  bindsThinking: false,
  hidesThoughts: false,
  detailed: false
}

/** The facts of an id; an unknown id has those of its nearest neighbour. */
export const claudeFacts = (model: string): ClaudeFacts => {
  const row = model.startsWith("demo-") ? undefined : factRow(model)
  return row?.family === "claude" ? factsOf(model, row) : demoFacts
}

const claudeId =
  /^(claude-(3(-5|-7)?-[a-z]+(-v2)?|[a-z]+-[4-9](-[0-9])?)(@([0-9]{8}|default|latest)|-latest)?|demo-[a-z0-9-]+)$/

/**
 * True for an id with a date after `@`, as on Vertex AI, that the place serves on a day; all others answer 404.
 * No day of an end on Vertex AI is known, so that Anthropic's own calendar counts.
 */
export const isServedClaude = (
  model: string,
  { anyLocation, day, route }: Pick<Call, "anyLocation" | "day" | "route">
): boolean => {
  if (!claudeId.test(model)) return false
  if (!model.startsWith("demo-") && !isPublished(model)) return false
  const row = model.startsWith("demo-") ? undefined : factRow(model)
  if (row === undefined) return model.startsWith("demo-")
  const placed = anyLocation || route.location === undefined || isServedAt(row, route.location)
  return placed && !isShutDown(row, "vertex-ai", day)
}

/** The id as answers write it: the date after a hyphen, without `@default` (recorded). */
export const modelInAnswers = (model: string): string => model.replace(/@default$/, "").replace("@", "-")
