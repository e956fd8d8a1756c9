// The unary answer of Claude as a chat completion in full form.
// It must not know HTTP or strict mode; the blocks of a unary answer are read as those of a stream.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import type { MessageReply } from "../../wire/anthropic/Messages.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatCompletion, Delta } from "../../wire/openai/ChatReply.ts"
import { malformedCall } from "../shared/reply/badStream.ts"
import { usageOf } from "../shared/claude/claudeUsage.ts"
import { completionOf } from "../shared/reply/envelope.ts"
import { messageOf } from "../shared/reply/message.ts"
import type { TranslateContext } from "../Translator.ts"
import { blocksFacts, endBlocks, isMalformedCall, noBlocks, startBlock } from "./blocks.ts"
import { failureInside } from "./failure.ts"
import { endOf, noEnd, readEnd } from "./finish.ts"

/** Fails when the reply is an error in disguise or no message at all. */
export const responseFromClaude = (
  reply: MessageReply,
  context: TranslateContext,
  request: ChatRequest
): Result.Result<ChatCompletion, Reason> => {
  if (reply.error) return Result.fail(failureInside(reply.error))
  const { content } = reply
  if (!content)
    return Result.fail({
      _tag: "BadReply",
      kind: "empty",
      message: "The upstream answered without any content. Try again."
    })
  const facts = blocksFacts(context, request)
  const deltas: Array<Delta> = []
  let state = noBlocks
  for (const [index, block] of content.entries()) {
    if (isMalformedCall(block)) return Result.fail(malformedCall)
    const [next, some] = startBlock(state, index, block, facts)
    state = next
    for (const delta of some) deltas.push(delta)
  }
  const [{ calls, sources }, last] = endBlocks(state, facts)
  const end = endOf(
    readEnd(noEnd, reply.stop_reason ?? undefined, reply.stop_details ?? undefined),
    calls,
    facts.legacy
  )
  const choice = {
    index: 0,
    message: {
      ...messageOf([...deltas, ...last], end.refusal),
      ...(sources.annotations.length > 0 ? { annotations: sources.annotations } : {})
    },
    logprobs: null,
    finish_reason: end.finish_reason,
    ...(end.native === undefined ? {} : { native_finish_reason: end.native }),
    ...(sources.citations.length > 0 ? { citations: sources.citations } : {})
  }
  return Result.succeed(
    completionOf(context, reply.model ?? context.target.modelId, [choice], usageOf(reply.usage ?? undefined))
  )
}
