// How an answer ends: Claude's word, what was seen of the answer, and OpenAI's word for both.
// It must not know whether the answer was streamed.
import { isJsonObject, type Json } from "../../domain/text/json.ts"
import type { FinishReason } from "../../wire/openai/ChatReply.ts"

/** What an answer said of its own end; the last word counts. */
export interface EndState {
  readonly reason: string | undefined
  readonly explanation: string | undefined
}

export const noEnd: EndState = { reason: undefined, explanation: undefined }

export const readEnd = (state: EndState, reason: Json | undefined, details: Json | undefined): EndState => {
  const explanation = isJsonObject(details) ? details["explanation"] : undefined
  return {
    reason: typeof reason === "string" ? reason : state.reason,
    explanation: typeof explanation === "string" ? explanation : state.explanation
  }
}

export interface End {
  readonly finish_reason: FinishReason
  readonly refusal: string | undefined
  readonly native: string | undefined
}

/** `calls` counts those of the client's own tools. */
export const endOf = ({ reason, explanation }: EndState, calls: number, legacy: boolean): End => {
  const finish = finishOf(reason, calls)
  return {
    finish_reason: legacy && finish === "tool_calls" ? "function_call" : finish,
    refusal: finish === "content_filter" ? explanation : undefined,
    native: reason
  }
}

const finishOf = (reason: string | undefined, calls: number): FinishReason => {
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
      // Our own tool for structured output is no call of the client's.
      return calls > 0 ? "tool_calls" : "stop"
  }
}
