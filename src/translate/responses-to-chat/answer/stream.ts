// The chunks of a chat as the events of a response: a fold that ends in a whole answer, or in a failure.
// It must not know the network; the caller keeps a whole answer before it sends the last event. Rules: R501-R517.
import type { ChatChunk } from "../../../wire/openai/ChatReply.ts"
import type { ResponsesEvent } from "../../../wire/openai/responses/Events.ts"
import type { Fold } from "../../Translator.ts"
import { readChoices } from "./answer.ts"
import { type AnswerFinished, envelope, failedResponse, finished } from "./envelope.ts"
import type { AnswerFacts } from "../facts.ts"
import { type AnswerFailed, cutShort, errorEvent } from "./failure.ts"
import { type AnswerState, next, noAnswer, stateOf, type Work, workOn } from "./work.ts"

/** A chunk of the chat, or why there are no more. */
export type ChatInput = ChatChunk | AnswerFailed
/** An event, or the whole answer in the place of the last one. */
export type AnswerOutput = ResponsesEvent | AnswerFinished

export const isFinished = (output: AnswerOutput): output is AnswerFinished => "_tag" in output

const isFailed = (input: ChatInput): input is AnswerFailed => "_tag" in input

export const streamFromChat = (facts: AnswerFacts): Fold<AnswerState, ChatInput, AnswerOutput> => ({
  initial: () => noAnswer,
  step: (state, input) => {
    // A whole answer may still fail before its last event is sent.
    if (isFailed(input)) return state.hasFailed ? [state, []] : failing(workOn(state, facts), input)
    if (state.isOver) return [state, []]
    const work = workOn(state, facts)
    begin(work, input)
    readChoices(work, input)
    if (input.usage) work.usage = input.usage
    const isLast = work.finish !== undefined && input.choices.length === 0 && Boolean(input.usage)
    if (!isLast) return [stateOf(work), work.events]
    work.isOver = true
    return [stateOf(work), [...work.events, finished(work)]]
  },
  onHalt: (state) => {
    if (state.isOver) return []
    const work = workOn(state, facts)
    return state.finish === undefined ? failing(work, cutShort)[1] : [finished(work)]
  },
  usage: ({ usage }) => usage
})

const begin = (work: Work, { model }: ChatChunk): void => {
  if (work.model !== undefined) return
  work.model = model
  const response = envelope(work, {})
  work.events.push(
    { type: "response.created", sequence_number: next(work), response },
    { type: "response.in_progress", sequence_number: next(work), response }
  )
}

/** No item is closed for it: what was open is not whole. */
const failing = (work: Work, failure: AnswerFailed): readonly [AnswerState, ReadonlyArray<AnswerOutput>] => {
  work.isOver = true
  work.hasFailed = true
  work.events.push(errorEvent(failure, next(work)))
  work.events.push({
    type: "response.failed",
    sequence_number: next(work),
    response: failedResponse(work, failure)
  })
  return [stateOf(work), work.events]
}
