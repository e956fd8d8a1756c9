// Translates sampling parameters (temperature, top_p, top_k) and stop sequences for Claude.
// Must not depend on messages or tools; `claudeFacts.ts` lists the parameters of each model.
import * as Result from "effect/Result"
import { type RequestFault, UnsupportedParameter } from "../../domain/GatewayError.ts"
import type { MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFinite, readModalities, readStop, readWhole } from "../shared/chat-request/amounts.ts"
import { invalid } from "../shared/fault.ts"
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

export const claudeSampling = (
  request: ChatRequest,
  facts: ClaudeFacts,
  thinks: boolean
): Result.Result<ClaudeSampling, RequestFault> => {
  const temperature = readFinite(request, "temperature")
  if (Result.isFailure(temperature)) return Result.fail(temperature.failure)
  const topP = readFinite(request, "top_p")
  if (Result.isFailure(topP)) return Result.fail(topP.failure)
  const topK = readWhole(request, "top_k", -int32, int32 - 1)
  if (Result.isFailure(topK)) return Result.fail(topK.failure)
  if (temperature.success !== undefined && (temperature.success < 0 || temperature.success > 2)) {
    return invalid("temperature", "invalid_value", "temperature must be a number from 0 to 2.")
  }
  const free = facts.sampling !== "none" && !thinks
  const heat = free ? temperature.success : undefined
  const mass =
    facts.sampling === "none" ||
    (thinks && (topP.success ?? 1) < leastTopP) ||
    (facts.sampling === "one" && heat !== undefined)
      ? undefined
      : topP.success
  const rank = free ? topK.success : undefined
  return Result.succeed({
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
  })
}

export interface StopSequences {
  readonly fields: Pick<MessagesBody, "stop_sequences">
  readonly unused: ReadonlyArray<string>
}

/** Claude rejects stop sequences of white space alone. */
export const claudeStopSequences = (
  stop: ChatRequest["stop"],
  most: number
): Result.Result<StopSequences, RequestFault> =>
  Result.map(readStop(stop, most), (all) => {
    const words = all.filter((word) => word.trim() !== "")
    return {
      fields: words.length === 0 ? {} : { stop_sequences: words },
      unused: words.length === 0 && all.length > 0 ? ["stop"] : []
    }
  })

/** Refuses several answers (M-503) and answers without text. Returns other parameters without effect. */
export const checkAnswerKinds = (request: ChatRequest): Result.Result<ReadonlyArray<string>, RequestFault> => {
  const count = readWhole(request, "n", 1, 8)
  if (Result.isFailure(count)) return Result.fail(count.failure)
  if ((count.success ?? 1) > 1) {
    return invalid("n", "unsupported_value", "Claude gives one answer to a request; send n = 1, or several requests.")
  }
  const kinds = readModalities(request.modalities)
  if (Result.isFailure(kinds)) return Result.fail(kinds.failure)
  if (kinds.success !== undefined && !kinds.success.includes("text")) {
    return Result.fail(
      new UnsupportedParameter({ param: "modalities", message: "Claude answers in text; modalities must include it." })
    )
  }
  return Result.succeed(kinds.success?.every((kind) => kind === "text") === false ? ["modalities"] : [])
}
