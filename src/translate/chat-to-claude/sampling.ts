// Translates sampling parameters (temperature, top_p, top_k) and stop sequences for Claude.
// Must not depend on messages or tools; `claudeFacts.ts` lists the parameters of each model.
import { UnsupportedParameter } from "../../domain/GatewayError.ts"
import type { MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ParamReader } from "../shared/chat-request/paramReader.ts"
import type { Adjustment } from "../Translator.ts"
import { numberAdjusted } from "./adjustments.ts"
import type { ClaudeFacts } from "./claudeFacts.ts"

export interface ClaudeSampling {
  readonly fields: Pick<MessagesBody, "temperature" | "top_p" | "top_k">
  readonly unused: ReadonlyArray<string>
  readonly adjusted: ReadonlyArray<Adjustment>
}

const int32 = 2 ** 31
/** With thinking, a lower top_p is rejected. Source: Anthropic, extended thinking, feature compatibility. */
const leastTopP = 0.95

export const claudeSampling = (params: ParamReader, facts: ClaudeFacts, thinks: boolean): ClaudeSampling => {
  const temperature = params.finite("temperature")
  const topP = params.finite("top_p")
  const topK = params.whole("top_k", -int32, int32 - 1)
  if (temperature !== undefined && (temperature < 0 || temperature > 2))
    params.invalid("temperature", "invalid_value", "temperature must be a number from 0 to 2.")
  const free = facts.sampling !== "none" && !thinks
  const heat = free ? temperature : undefined
  const mass =
    facts.sampling === "none" || (thinks && (topP ?? 1) < leastTopP) || (facts.sampling === "one" && heat !== undefined)
      ? undefined
      : topP
  const rank = free ? topK : undefined
  return {
    fields: {
      // OpenAI's range ends at 2, Claude's at 1.
      ...(heat === undefined ? {} : { temperature: Math.min(heat, 1) }),
      ...(mass === undefined ? {} : { top_p: mass }),
      ...(rank === undefined ? {} : { top_k: rank })
    },
    unused: [
      ...(heat === undefined ? ["temperature"] : []),
      ...(mass === undefined ? ["top_p"] : []),
      ...(rank === undefined ? ["top_k"] : [])
    ],
    adjusted: heat !== undefined && heat > 1 ? [numberAdjusted("temperature", heat, 1, "a number from 0 to 1")] : []
  }
}

export interface StopSequences {
  readonly fields: Pick<MessagesBody, "stop_sequences">
  readonly unused: ReadonlyArray<string>
}

/** Claude rejects stop sequences of white space alone. */
export const claudeStopSequences = (params: ParamReader, most: number): StopSequences => {
  const all = params.stop(most)
  const words = all.filter((word) => word.trim() !== "")
  return {
    fields: words.length === 0 ? {} : { stop_sequences: words },
    unused: words.length === 0 && all.length > 0 ? ["stop"] : []
  }
}

/** Refuses several answers (M-503) and answers without text. Returns other parameters without effect. */
export const checkAnswerKinds = (params: ParamReader): ReadonlyArray<string> => {
  if ((params.whole("n", 1, 8) ?? 1) > 1)
    params.invalid("n", "unsupported_value", "Claude gives one answer to a request; send n = 1, or several requests.")
  const kinds = params.modalities()
  if (kinds !== undefined && !kinds.includes("text"))
    params.refuse(
      new UnsupportedParameter({ param: "modalities", message: "Claude answers in text; modalities must include it." })
    )
  return kinds?.every((kind) => kind === "text") === false ? ["modalities"] : []
}
