// Translates a unary OpenAI-compatible answer to a chat completion; fills in missing ids, reasons and counts.
// It must not depend on HTTP or strict mode; a message is read as the only delta of a stream.
import * as Result from "effect/Result"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { readEach } from "../../domain/faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { hasShape } from "../../wire/hasShape.ts"
import {
  Annotation,
  Audio,
  type ChatCompletion,
  type Choice,
  type ContentBlock,
  type ContentBlockDelta,
  type Delta,
  type FinishReason,
  Logprobs,
  type LogprobToken,
  type ReplyMessage,
  type ToolCall,
  type UpstreamChat,
  type UpstreamChoice,
  type Usage
} from "../../wire/openai/ChatReply.ts"
import { excessOf, malformedCall, tooManyChoices } from "../shared/reply/upstreamError.ts"
import { openAiFailureInside } from "../shared/reply/upstreamFailures.ts"
import { readCount } from "../shared/reply/usage.ts"
import type { TranslateContext } from "../Translator.ts"
import { fieldNames, hasNamelessCall, type MessageState, noMessage, readMessage, unreadFields } from "./message.ts"

/** Fails when the reply is an error in a 200, has no choice, or was broken off. */
export const responseFromOpenAi = (
  reply: UpstreamChat,
  context: TranslateContext
): Result.Result<ChatCompletion, Reason> => {
  const fault = openAiFailureInside(reply)
  if (fault !== undefined) return Result.fail(fault)
  const given = reply.choices ?? []
  if (given.length === 0) return Result.fail(empty)
  if (given.length > answerBounds.choices) return Result.fail(tooManyChoices)
  let made = 0
  const callId = () => context.callId(made++)
  const read = readEach(given, (choice, position) =>
    choice.finish_reason === "error" ? Result.fail(brokenOffChoice) : choiceOf(choice, position, callId)
  )
  const usage = reply["usage"]
  return Result.map(read, (choices) => ({
    ...envelopeRest(reply),
    ...readIdentity(reply, context),
    object: "chat.completion",
    choices,
    usage: openAiUsage(isJsonObject(usage) ? usage : undefined),
    provider: context.target.kind
  }))
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream answered without any choice. Try again."
}

/** Fails when the message has a nameless call, or too many calls. */
const choiceOf = (choice: UpstreamChoice, position: number, callId: () => string): Result.Result<Choice, Reason> => {
  const [state, delta] = readMessage(noMessage, choice.message ?? choice.delta ?? {}, true, callId)
  const fault = excessOf(0, state.calls.size) ?? (hasNamelessCall(state) ? malformedCall : undefined)
  if (fault !== undefined) return Result.fail(fault)
  return Result.succeed({
    ...choiceRest(choice),
    index: openAiChoiceIndex(choice, position),
    message: completeMessage(delta),
    logprobs: openAiLogprobs(choice["logprobs"]),
    finish_reason: openAiFinishReason(choice.finish_reason ?? "", state)
  })
}

const isAnnotation = hasShape(Annotation)
const isAudio = hasShape(Audio)

/** `content` is null only next to calls. Fields that OpenAI publishes are kept only with the published type. */
const completeMessage = ({
  content,
  refusal,
  tool_calls,
  function_call,
  content_blocks,
  annotations,
  ...given
}: Delta): ReplyMessage => {
  const calls = (tool_calls ?? []).map(
    ({ id = "", index: _index, function: { name = "", arguments: text, ...more }, ...rest }): ToolCall => ({
      ...rest,
      id,
      type: "function",
      function: { ...more, name, arguments: text || "{}" }
    })
  )
  const cited = Array.isArray(annotations) ? annotations.filter(isAnnotation) : []
  const { audio, ...others }: typeof given & { readonly audio?: unknown } = given
  return {
    ...others,
    role: "assistant",
    content: content ?? (calls.length > 0 || function_call !== undefined ? null : ""),
    refusal: refusal ?? null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(function_call === undefined
      ? {}
      : { function_call: { ...function_call, arguments: function_call.arguments || "{}" } }),
    ...(cited.length > 0 ? { annotations: cited } : {}),
    ...(isAudio(audio) ? { audio } : {}),
    ...(content_blocks === undefined ? {} : { content_blocks: content_blocks.flatMap(blockOf) })
  }
}

const blockOf = ({ delta: { thinking, text } }: ContentBlockDelta): ReadonlyArray<ContentBlock> =>
  thinking !== undefined ? [{ type: "thinking", thinking }] : text !== undefined ? [{ type: "text", text }] : []

// The envelope: id, time, model and unknown fields

/** Equal on every chunk of a stream. */
export interface Identity {
  readonly id: string
  readonly created: number
  readonly model: string
}

export const readIdentity = (given: UpstreamChat, context: TranslateContext): Identity => {
  const { id, created, model } = given
  return {
    id: typeof id === "string" && id !== "" ? id : context.id,
    created:
      typeof created === "number" && Number.isSafeInteger(created) && created > 0 ? created : context.createdSeconds,
    model: typeof model === "string" && model !== "" ? model : context.target.modelId
  }
}

const topFields = fieldNames("id", "object", "created", "model", "choices", "usage", "error", "provider")

/** Unread fields. A field that OpenAI publishes is kept only with the type OpenAI publishes. */
export const envelopeRest = (given: UpstreamChat): JsonObject | undefined => {
  const rest = unreadFields(given, topFields)
  if (rest === undefined) return undefined
  for (const name in rest) if (published.get(name)?.(rest[name]) === false) return wellFormed(rest)
  return rest
}

const isString = (value: Json | undefined): boolean => typeof value === "string"

const published: ReadonlyMap<string, (value: Json | undefined) => boolean> = new Map([
  ["service_tier", isString],
  ["system_fingerprint", isString],
  ["obfuscation", isString],
  ["metadata", (value) => isJsonObject(value) && Object.values(value).every(isString)],
  ["moderation", (value) => isJsonObject(value) && isJsonObject(value["input"]) && isJsonObject(value["output"])]
])

const wellFormed = (rest: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(rest).filter(([name, value]) => published.get(name)?.(value) !== false))

// Finish reason, log probabilities and unknown fields of a choice

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

const isLogprobs = hasShape(Logprobs)

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

// Usage

const usageFields = fieldNames(
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_tokens_details",
  "completion_tokens_details"
)

/** Zeros when the upstream sends no counts. The total is the sum of prompt and completion, as in every other family. */
export const openAiUsage = (given: JsonObject | undefined): Usage => {
  const prompt = readCount(given?.["prompt_tokens"])
  const completion = readCount(given?.["completion_tokens"])
  const promptDetails = detailsOf(given?.["prompt_tokens_details"], "cached_tokens", prompt)
  const completionDetails = detailsOf(given?.["completion_tokens_details"], "reasoning_tokens", completion)
  return {
    ...(given === undefined ? undefined : unreadFields(given, usageFields)),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, ...promptDetails },
    ...(completionDetails === undefined ? {} : { completion_tokens_details: completionDetails })
  }
}

/** Normalises all counts in details; the share never exceeds the whole. */
const detailsOf = (given: JsonObject[string], share: string, whole: number): JsonObject | undefined => {
  if (!isJsonObject(given)) return undefined
  const entries = Object.entries(given).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    if (!name.endsWith("_tokens")) return [[name, value] as const]
    return typeof value === "number"
      ? [[name, name === share ? Math.min(readCount(value), whole) : readCount(value)] as const]
      : []
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
