// Maps Claude's stop reasons to OpenAI's finish reasons.
// Must not depend on streaming.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { FinishReason } from "../../wire/openai/ChatReply.ts"

/** The end of an answer as reported by its events; the last value wins. */
export interface ClaudeEndState {
  readonly reason: string | undefined
  readonly explanation: string | undefined
  /** The subject of a refusal, such as `cyber`. */
  readonly category: string | undefined
}

export const noClaudeEnd: ClaudeEndState = { reason: undefined, explanation: undefined, category: undefined }

const noDetails: JsonObject = {}

export const readClaudeEnd = (
  state: ClaudeEndState,
  reason: Json | undefined,
  details: Json | undefined
): ClaudeEndState => {
  const { category, explanation } = isJsonObject(details) ? details : noDetails
  return {
    reason: typeof reason === "string" ? reason : state.reason,
    explanation: typeof explanation === "string" ? explanation : state.explanation,
    category: typeof category === "string" ? category : state.category
  }
}

export interface ClaudeEnd {
  readonly finish_reason: FinishReason
  readonly refusal: string | undefined
  readonly native: string | undefined
}

/** `calls` counts the calls of client tools. */
export const claudeEnd = (
  { category, reason, explanation }: ClaudeEndState,
  calls: number,
  legacy: boolean
): ClaudeEnd => {
  const finish = claudeFinishReason(reason, calls)
  return {
    finish_reason: legacy && finish === "tool_calls" ? "function_call" : finish,
    refusal: finish === "content_filter" ? explanation : undefined,
    // The category goes with the reason in one word (M-702).
    native: reason === "refusal" && category !== undefined ? `${reason}:${category}` : reason
  }
}

const claudeFinishReason = (reason: string | undefined, calls: number): FinishReason => {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
    case "compaction":
      return "stop"
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case "refusal":
      return "content_filter"
    default:
      // The gateway's own tool for structured output is not a client's call.
      return calls > 0 ? "tool_calls" : "stop"
  }
}
