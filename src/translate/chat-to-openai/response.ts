// The unary answer of an OpenAI-compatible upstream: passed on, with what it lacks filled in.
// It must not know HTTP or strict mode; a message is read as a stream's only delta.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  Annotation,
  Audio,
  type ChatCompletion,
  type Choice,
  type Delta,
  type Message,
  type ToolCall
} from "../../wire/openai/ChatReply.ts"
import type { ContentBlock, ContentBlockDelta } from "../../wire/openai/Extensions.ts"
import type { UpstreamChat, UpstreamChoice } from "../../wire/openai/UpstreamChat.ts"
import { malformedCall } from "../shared/reply/badStream.ts"
import { failureInside } from "../shared/reply/openAiFailure.ts"
import type { TranslateContext } from "../Translator.ts"
import { brokenOff, choiceRest, finishOf, indexOf, logprobsOf } from "./choice.ts"
import { envelopeRest, identityOf } from "./envelope.ts"
import { hasNamelessCall, noMessage, readMessage } from "./message.ts"
import { usageOf } from "./usage.ts"

/** Fails when the reply is an error in disguise, holds no choice, or was broken off. */
export const responseFromOpenAi = (
  reply: UpstreamChat,
  context: TranslateContext
): Result.Result<ChatCompletion, Reason> => {
  const fault = failureInside(reply)
  if (fault !== undefined) return Result.fail(fault)
  const given = reply.choices ?? []
  if (given.length === 0) return Result.fail(empty)
  let made = 0
  const callId = () => context.callId(made++)
  const choices: Array<Choice> = []
  for (const [position, one] of given.entries()) {
    if (one.finish_reason === "error") return Result.fail(brokenOff)
    const choice = choiceOf(one, position, callId)
    if (choice === undefined) return Result.fail(malformedCall)
    choices.push(choice)
  }
  const usage = reply["usage"]
  return Result.succeed({
    ...envelopeRest(reply),
    ...identityOf(reply, context),
    object: "chat.completion",
    choices,
    usage: usageOf(isJsonObject(usage) ? usage : undefined),
    provider: context.target.kind
  })
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream answered without any choice. Try again."
}

/** Undefined when its message calls something without a name. */
const choiceOf = (choice: UpstreamChoice, position: number, callId: () => string): Choice | undefined => {
  const [state, delta] = readMessage(noMessage, choice.message ?? choice.delta ?? {}, true, callId)
  return hasNamelessCall(state)
    ? undefined
    : {
        ...choiceRest(choice),
        index: indexOf(choice, position),
        message: messageOf(delta),
        logprobs: logprobsOf(choice["logprobs"]),
        finish_reason: finishOf(choice.finish_reason ?? "", state)
      }
}

const isAnnotation = Schema.is(Annotation)
const isAudio = Schema.is(Audio)

/** `content` is null only beside calls; fields that OpenAI publishes are what OpenAI says they are. */
const messageOf = ({
  content,
  refusal,
  tool_calls,
  function_call,
  content_blocks,
  annotations,
  ...given
}: Delta): Message => {
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
