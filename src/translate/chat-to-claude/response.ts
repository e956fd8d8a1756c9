// Translates a unary Claude answer to a chat completion, stop reasons to finish reasons, and errors to reasons.
// It must not depend on HTTP or strict mode; blocks are read as in a stream.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { MessageReply } from "../../wire/anthropic.ts"
import { itemsOf } from "../../wire/grownList.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatCompletion, Delta, FinishReason } from "../../wire/openai/ChatReply.ts"
import { buildCompletion, joinDeltas } from "../shared/reply/completion.ts"
import {
  excessOf,
  malformedCall,
  type ReadFailure,
  readUpstreamError,
  statusInside
} from "../shared/reply/upstreamError.ts"
import { failureFromGoogle, retentionRefusal } from "../shared/reply/upstreamFailures.ts"
import { claudeUsage } from "../shared/reply/usage.ts"
import type { TranslateContext } from "../Translator.ts"
import { blocksFacts, endBlocks, isMalformedCall, noBlocks, startBlock } from "./blocks.ts"

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

// Stop reasons

/** The end of an answer as reported by its events; the last value wins. */
export interface ClaudeEndState {
  readonly reason: string | undefined
  readonly explanation: string | undefined
  /** The subject of a refusal, such as `cyber`. */
  readonly category: string | undefined
}

export const noClaudeEnd: ClaudeEndState = { reason: undefined, explanation: undefined, category: undefined }

const noDetails: JsonObject = {}

export const readClaudeEnd = (
  state: ClaudeEndState,
  reason: Json | undefined,
  details: Json | undefined
): ClaudeEndState => {
  const { category, explanation } = isJsonObject(details) ? details : noDetails
  return {
    reason: typeof reason === "string" ? reason : state.reason,
    explanation: typeof explanation === "string" ? explanation : state.explanation,
    category: typeof category === "string" ? category : state.category
  }
}

interface ClaudeEnd {
  readonly finish_reason: FinishReason
  readonly refusal: string | undefined
  readonly native: string | undefined
}

/** `calls` counts the calls of client tools. */
export const claudeEnd = (
  { category, reason, explanation }: ClaudeEndState,
  calls: number,
  legacy: boolean
): ClaudeEnd => {
  const finish = claudeFinishReason(reason, calls)
  return {
    finish_reason: legacy && finish === "tool_calls" ? "function_call" : finish,
    refusal: finish === "content_filter" ? explanation : undefined,
    // The category goes with the reason in one word (M-702).
    native: reason === "refusal" && category !== undefined ? `${reason}:${category}` : reason
  }
}

const claudeFinishReason = (reason: string | undefined, calls: number): FinishReason => {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
    case "compaction":
      return "stop"
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case "refusal":
      return "content_filter"
    default:
      // The gateway's own tool for structured output is not a client's call.
      return calls > 0 ? "tool_calls" : "stop"
  }
}

// Errors

export const failureFromClaude: ReadFailure = (status, headers, body, origin) => {
  if (status !== 400 && status !== 413) return failureFromGoogle(status, headers, body, origin)
  const error = readUpstreamError(status, headers, body)
  const { text, message } = error
  if (status === 413) return { _tag: "PayloadTooLarge", message: `${message} ${sizeHint}` }
  const retention = retentionRefusal(error)
  if (retention !== undefined) return retention
  if (thinkingTexts.test(text)) return { _tag: "SignatureRejected", message: `${message} ${thinkingHint}` }
  return contextTexts.test(text)
    ? { _tag: "ContextTooLong", message }
    : failureFromGoogle(status, headers, body, origin)
}

/** Maps an error inside a 200 response. Its origin is unknown there; "stored" blames no caller's credential. */
export const claudeFailureInside = (error: Json): Reason =>
  failureFromClaude(statusInside(error), {}, { error }, "stored")

/** Claude names the block: "messages.1.content.0: Invalid `signature` in `thinking` block". */
const thinkingTexts =
  /invalid .?signature.? in .?thinking.? block|thinking.{0,30}blocks? in the latest assistant message cannot be modified|expected .?thinking.?.{0,30}but found/i
const contextTexts = /exceed context limit/i

const sizeHint = "Send fewer or smaller media."
const thinkingHint =
  "Send back content_blocks, or function.thought_signature of the calls, as they came, or start a new turn."
