// The chunks of a chat as the events of a message: a fold that begins with message_start and ends with message_stop.
// It must not know the network or the form of frames. Rules: D410-D417.
import type { AnswerEnd, AnswerEvent, StopReason } from "../../../wire/anthropic/MessageAnswer.ts"
import type { ChatChunk } from "../../../wire/openai/ChatReply.ts"
import type { FinishReason } from "../../../wire/openai/ChatReply.ts"
import { type Fold, noProgress, type StreamFailed, streamFailed } from "../../Translator.ts"
import { cutAnswer } from "../../shared/reply/badStream.ts"
import type { AnswerFacts } from "../facts.ts"
import { readChoices } from "./answer.ts"
import { estimatedUsage, usageOf } from "./usage.ts"
import { type AnswerState, noAnswer, stateOf, type Work, workOn } from "./work.ts"

export const streamFromChat = (facts: AnswerFacts): Fold<AnswerState, ChatChunk, AnswerEvent | StreamFailed> => ({
  initial: () => noAnswer,
  step: (state, chunk) => {
    if (state.isOver) return [state, []]
    const work = workOn(state, facts)
    begin(work, chunk)
    readChoices(work, chunk)
    if (chunk.usage) work.usage = chunk.usage
    if (work.finish !== undefined && chunk.choices.length === 0 && chunk.usage) finish(work)
    return [stateOf(work), work.events]
  },
  onHalt: (state) => {
    if (state.isOver) return []
    if (state.finish === undefined) return [streamFailed(cutAnswer)]
    const work = workOn(state, facts)
    finish(work)
    return work.events
  },
  usage: ({ usage }) => usage,
  progress: ({ written }) => ({ ...noProgress, characters: written })
})

const begin = (work: Work, { model }: ChatChunk): void => {
  if (work.model !== undefined) return
  work.model = model
  work.events.push({
    type: "message_start",
    message: {
      id: work.facts.id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: estimatedUsage(work.facts.inputTokens)
    }
  })
}

const finish = (work: Work): void => {
  work.isOver = true
  work.events.push({ type: "message_delta", delta: endOf(work), usage: usageOf(work.usage) }, { type: "message_stop" })
}

const stopOf = (finish: FinishReason | undefined, hasCalls: boolean): StopReason => {
  if (finish === "length") return "max_tokens"
  if (finish === "content_filter") return "refusal"
  return hasCalls ? "tool_use" : "end_turn"
}

const endOf = ({ calls, finish, refusal }: Work): AnswerEnd => {
  const reason = refusal === "" ? stopOf(finish, calls > 0) : "refusal"
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details:
      reason === "refusal" ? { type: "refusal", category: null, explanation: refusal === "" ? null : refusal } : null
  }
}
