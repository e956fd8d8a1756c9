// Translates a unary OpenAI-compatible answer to a chat completion and fills in missing fields.
// Must not depend on HTTP or strict mode; a message is read as the only delta of a stream.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject } from "../../domain/text/json.ts"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  Annotation,
  Audio,
  type ChatCompletion,
  type Choice,
  type Delta,
  type ReplyMessage,
  type ToolCall
} from "../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta } from "../../wire/openai/Extensions.ts"
import type { UpstreamChat, UpstreamChoice } from "../../wire/openai/UpstreamChat.ts"
import { excessOf, malformedCall, tooManyChoices } from "../shared/reply/badStream.ts"
import { openAiFailureInside } from "../shared/reply/openAiFailure.ts"
import type { TranslateContext } from "../Translator.ts"
import { brokenOffChoice, choiceRest, openAiFinishReason, openAiChoiceIndex, openAiLogprobs } from "./choice.ts"
import { envelopeRest, readIdentity } from "./envelope.ts"
import { hasNamelessCall, noMessage, readMessage } from "./message.ts"
import { openAiUsage } from "./usage.ts"

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
  const choices: Array<Choice> = []
  for (const [position, one] of given.entries()) {
    if (one.finish_reason === "error") return Result.fail(brokenOffChoice)
    const choice = choiceOf(one, position, callId)
    if (Result.isFailure(choice)) return Result.fail(choice.failure)
    choices.push(choice.success)
  }
  const usage = reply["usage"]
  return Result.succeed({
    ...envelopeRest(reply),
    ...readIdentity(reply, context),
    object: "chat.completion",
    choices,
    usage: openAiUsage(isJsonObject(usage) ? usage : undefined),
    provider: context.target.kind
  })
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

const isAnnotation = Schema.is(Annotation)
const isAudio = Schema.is(Audio)

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
