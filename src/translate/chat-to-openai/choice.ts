// Reads finish reason, log probabilities and unknown fields of an OpenAI-compatible choice.
// Must not depend on messages or frames.
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { type FinishReason, Logprobs, type LogprobToken } from "../../wire/openai/ChatReply.ts"
import type { UpstreamChoice } from "../../wire/openai/UpstreamChat.ts"
import type { MessageState } from "./message.ts"
import { fieldNames, unreadFields } from "./rest.ts"

const finishes: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["tool_calls", "tool_calls"],
  ["content_filter", "content_filter"],
  ["function_call", "function_call"]
])

/** Words of other dialects, such as `eos` and `end_turn`, mean that the answer is complete. */
export const openAiFinishReason = (word: string, { calls, legacy }: MessageState): FinishReason => {
  const finish = finishes.get(word) ?? "stop"
  if (finish !== "stop") return finish
  return calls.size > 0 ? "tool_calls" : legacy ? "function_call" : "stop"
}

export const openAiChoiceIndex = ({ index }: UpstreamChoice, position: number): number =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 ? index : position

const choiceFields = fieldNames("index", "message", "delta", "finish_reason", "logprobs")

/** Unread fields of a choice, and the upstream's original finish reason. */
export const choiceRest = (choice: UpstreamChoice): JsonObject | undefined => {
  const rest = unreadFields(choice, choiceFields)
  const word = choice.finish_reason
  return word && typeof rest?.["native_finish_reason"] !== "string" ? { ...rest, native_finish_reason: word } : rest
}

const isLogprobs = Schema.is(Logprobs)

/** Completes log probabilities; some servers omit `refusal`, `bytes` or `top_logprobs`. */
export const openAiLogprobs = (value: Json | undefined): Logprobs | null => {
  if (!isJsonObject(value)) return null
  return isLogprobs(value) ? value : { content: tokensOf(value["content"]), refusal: tokensOf(value["refusal"]) }
}

type Token = (typeof LogprobToken)["Type"]

const tokensOf = (value: Json | undefined): ReadonlyArray<Token> | null =>
  Array.isArray(value)
    ? value.flatMap((one) =>
        tokenOf(one).map((token) => ({
          ...token,
          top_logprobs:
            isJsonObject(one) && Array.isArray(one["top_logprobs"]) ? one["top_logprobs"].flatMap(tokenOf) : []
        }))
      )
    : null

const tokenOf = (value: Json): ReadonlyArray<Omit<Token, "top_logprobs">> => {
  if (!isJsonObject(value)) return []
  const { token, logprob, bytes } = value
  if (typeof token !== "string" || typeof logprob !== "number") return []
  return [{ token, logprob, bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === "number") : null }]
}

/** Some servers end a failed choice with the finish reason `error`. */
export const brokenOffChoice: Reason = {
  _tag: "BadReply",
  kind: "truncated",
  message: "The upstream broke its answer off with an error; it is not complete."
}
