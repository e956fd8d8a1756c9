// Facts of a Claude model from its record, and the adjustments of a request that the model cannot follow.
// It must not depend on requests or model ids.
import type { ModelRecord, ThinkingWord } from "../../domain/models/ModelRecord.ts"
import type { Adjustment } from "../Translator.ts"

export interface ClaudeFacts {
  /** Sent when the client sets no maximum; the field is required. */
  readonly maxTokens: number
  /** The longest answer of the model, as far as that is known. */
  readonly most: number | undefined
  /** The model's highest `max_tokens`, which bounds the raise for a thinking budget; undefined: no budget is sent. */
  readonly limit: number | undefined
  /** `both`: a requested budget is sent, otherwise the model chooses the amount (adaptive). */
  readonly thinking: "none" | "budget" | "both" | "adaptive"
  /** The `thinking.type` that turns thinking off; undefined: the model always thinks. */
  readonly off: string | undefined
  /** True for a model that thinks when the request asks for nothing. */
  readonly thinksUnasked: boolean
  /** Values of `output_config.effort` in rising order; empty: the field is not sent. */
  readonly efforts: ReadonlyArray<ThinkingWord>
  /** `one`: temperature or top_p, not both. */
  readonly sampling: "all" | "one" | "none"
  /** The conversation may end with an assistant message, which the answer continues. */
  readonly prefill: boolean
  /** A tool call may be demanded. */
  readonly forcedTools: boolean
  /** `native`: a schema of the answer goes in `output_config.format`; `tool`: as a tool that must be called. */
  readonly structured: "native" | "tool"
  /** True for a model with Anthropic's own web search. Source: Vertex AI, Claude, web search. */
  readonly searches: boolean
}

/** What every model since 3.7 takes; more by default would reserve quota that no chat needs. */
const usual = 32_000

const thinkingOf = ({ thinking }: ModelRecord): ClaudeFacts["thinking"] => {
  if (thinking?.control === "none" || thinking?.control === "budget") return thinking.control
  return thinking?.budget_max === undefined ? "adaptive" : "both"
}

const samplingOf = ({ sampling }: ModelRecord): ClaudeFacts["sampling"] => {
  if (sampling?.refused?.includes("temperature") === true) return "none"
  return sampling?.refused?.includes("temperature together with top_p") === true ? "one" : "all"
}

const factsOf = (record: ModelRecord): ClaudeFacts => {
  const thinking = thinkingOf(record)
  const { max_output: most = usual } = record
  const isAdaptive = thinking === "adaptive" || thinking === "both"
  return {
    maxTokens: thinking === "none" ? Math.min(most, usual) : usual,
    most: record.max_output,
    limit: thinking === "adaptive" ? undefined : most,
    thinking,
    off: record.thinking?.off_value ?? (record.thinking?.can_disable === false ? undefined : "disabled"),
    thinksUnasked: isAdaptive && record.thinking?.default === "on",
    efforts: isAdaptive ? (record.effort ?? []) : [],
    sampling: samplingOf(record),
    prefill: record.allows_prefill !== false,
    forcedTools: record.forced_tool_choice !== false,
    structured: record.structured_output ?? "tool",
    searches: !(Number.parseFloat(record.generation) < 4)
  }
}

const factsByRecord = new WeakMap<ModelRecord, ClaudeFacts>()

/** An unknown id has the record of the nearest model, so it counts as the newest generation of its kind. */
export const claudeFacts = (record: ModelRecord): ClaudeFacts => {
  const cached = factsByRecord.get(record)
  if (cached !== undefined) return cached
  const facts = factsOf(record)
  factsByRecord.set(record, facts)
  return facts
}

// Adjustments whose refusal needs words of its own

/** A user turn asks the model to continue its last message (M-300). `path` is the position of that message. */
export const prefillAdjusted = (model: string, path: string): Adjustment => ({
  param: "messages",
  asked: "prefill",
  sent: "continue",
  takes: [],
  refusal: { code: "unsupported_value", param: path, message: `${model} takes no assistant prefill.` }
})

/** The model decides on calls by itself (M-420). */
export const choiceAdjusted = (param: "tool_choice" | "function_call"): Adjustment => ({
  param,
  asked: "required",
  sent: "auto",
  takes: ["auto", "none"],
  refusal: {
    code: "unsupported_value",
    param,
    message: `${param} takes auto and none at this model, and no demanded call.`
  }
})

/** A schema that the model's own structured output cannot enforce, or only in part (M-421). */
export const schemaAdjusted = (asked: "schema" | "bounds", sent: "tool" | "description"): Adjustment => ({
  param: "response_format",
  asked,
  sent,
  takes: [],
  refusal: {
    code: "unsupported_parameter",
    param: "response_format",
    message:
      "response_format takes a schema without recursion, open maps and bounds, and with at most 10 optional members at this model."
  }
})
