// Translates sampling parameters (temperature, top_p, top_k) and stop sequences for Claude.
// Must not depend on messages or tools; `claudeFacts.ts` lists the parameters of each model.
import { UnsupportedParameter } from "../../domain/GatewayError.ts"
import type { MessagesBody } from "../../wire/anthropic/Messages.ts"
import { numberOf, type ParamReader } from "../shared/chat-request/paramReader.ts"
import type { ClaudeFacts } from "./claudeFacts.ts"

export interface ClaudeSampling {
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
