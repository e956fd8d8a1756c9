// How Claude is told to choose its words, and when to stop.
// It must not know messages or tools; which models take what, the facts say.
import * as Result from "effect/Result"
import { type RequestFault, UnsupportedParameter } from "../../domain/GatewayError.ts"
import type { MessagesBody } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import { readFinite, readModalities, readStop, readWhole } from "../shared/chat-request/amounts.ts"
import { invalid } from "../shared/fault.ts"
import type { ClaudeFacts } from "./claudeFacts.ts"

export interface Sampling {
  readonly fields: Pick<MessagesBody, "temperature" | "top_p" | "top_k">
  readonly unused: ReadonlyArray<string>
}

const int32 = 2 ** 31
/** Below it, top_p is refused beside thinking. Source: Anthropic, extended thinking, feature compatibility. */
const leastTopP = 0.95

export const sampling = (
  request: ChatRequest,
  facts: ClaudeFacts,
  thinks: boolean
): Result.Result<Sampling, RequestFault> => {
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
    ]
  })
}

export interface Stops {
  readonly fields: Pick<MessagesBody, "stop_sequences">
  readonly unused: ReadonlyArray<string>
}

/** Stop words of white space alone are refused upstream. */
export const stopSequences = (stop: ChatRequest["stop"], most: number): Result.Result<Stops, RequestFault> =>
  Result.map(readStop(stop, most), (all) => {
    const words = all.filter((word) => word.trim() !== "")
    return {
      fields: words.length === 0 ? {} : { stop_sequences: words },
      unused: words.length === 0 && all.length > 0 ? ["stop"] : []
    }
  })

/** Refuses answers this family cannot give: several, or none of text. Answers what else was asked for in vain. */
export const checkAnswers = (request: ChatRequest): Result.Result<ReadonlyArray<string>, RequestFault> => {
  const count = readWhole(request, "n", 1, 8)
  if (Result.isFailure(count)) return Result.fail(count.failure)
  if ((count.success ?? 1) > 1) {
    return Result.fail(
      new UnsupportedParameter({
        param: "n",
        message: "Claude gives one answer to a request; send n = 1, or several requests."
      })
    )
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
