// Translates a unary Claude answer to a chat completion in full form.
// Must not depend on HTTP or strict mode; blocks are read as in a stream.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import type { MessageReply } from "../../wire/anthropic/Messages.ts"
import { itemsOf } from "../../wire/grownList.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatCompletion, Delta } from "../../wire/openai/ChatReply.ts"
import { excessOf, malformedCall } from "../shared/reply/badStream.ts"
import { claudeUsage } from "../shared/claude/claudeUsage.ts"
import { buildCompletion } from "../shared/reply/envelope.ts"
import { joinDeltas } from "../shared/reply/message.ts"
import type { TranslateContext } from "../Translator.ts"
import { blocksFacts, endBlocks, isMalformedCall, noBlocks, startBlock } from "./blocks.ts"
import { claudeFailureInside } from "./failure.ts"
import { claudeEnd, noClaudeEnd, readClaudeEnd } from "./finish.ts"

/** Fails when the reply is an error in a 200 or not a message. */
export const responseFromClaude = (
  reply: MessageReply,
  context: TranslateContext,
  request: ChatRequest
): Result.Result<ChatCompletion, Reason> => {
  if (reply.error) return Result.fail(claudeFailureInside(reply.error))
  const { content } = reply
  if (!content)
    return Result.fail({
      _tag: "BadReply",
      kind: "empty",
      message: "The upstream answered without any content. Try again."
    })
  const excess = excessOf(content.length, 0)
  if (excess !== undefined) return Result.fail(excess)
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
  const tooMany = excessOf(0, calls)
  if (tooMany !== undefined) return Result.fail(tooMany)
  const annotations = itemsOf(sources.annotations)
  const citations = itemsOf(sources.citations)
  const end = claudeEnd(
    readClaudeEnd(noClaudeEnd, reply.stop_reason ?? undefined, reply.stop_details ?? undefined),
    calls,
    facts.legacy
  )
  const choice = {
    index: 0,
    message: {
      ...joinDeltas([...deltas, ...last], end.refusal, context.ordered),
      ...(annotations.length > 0 ? { annotations } : {})
    },
    logprobs: null,
    finish_reason: end.finish_reason,
    ...(end.native === undefined ? {} : { native_finish_reason: end.native }),
    ...(citations.length > 0 ? { citations } : {})
  }
  return Result.succeed(
    buildCompletion(context, reply.model ?? context.target.modelId, [choice], claudeUsage(reply.usage ?? undefined))
  )
}
