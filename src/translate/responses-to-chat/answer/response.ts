// A whole chat as a response: its message is read as the chunks that would have made it.
// It must not know events. Rules: R106, R605.
import type { ChatChunk, ChatCompletion, ChunkChoice, Delta } from "../../../wire/openai/ChatReply.ts"
import { deltasOf } from "../../shared/reply/messageDeltas.ts"
import { readChoices } from "./answer.ts"
import { type AnswerFinished, finished } from "./envelope.ts"
import type { AnswerFacts } from "../facts.ts"
import { noAnswer, workOn } from "./work.ts"

/** The answer, whole; an answer without a choice is empty, which a chat never is. */
export const responseFromChat = (completion: ChatCompletion, facts: AnswerFacts): AnswerFinished => {
  const work = workOn({ ...noAnswer, model: completion.model, usage: completion.usage }, facts)
  const choice = completion.choices.find(({ index }) => index === 0)
  if (choice === undefined) return finished(work)
  const { finish_reason, index, logprobs, message, ...extensions } = choice
  const chunk = (given: Omit<ChunkChoice, "index">): ChatChunk => ({
    id: completion.id,
    object: "chat.completion.chunk",
    created: completion.created,
    model: completion.model,
    choices: [{ index, ...given }]
  })
  const deltas = deltasOf(message)
  const first = deltas.findIndex(({ content }) => content !== undefined)
  for (const [position, delta] of deltas.entries())
    readChoices(work, chunk({ delta, finish_reason: null, ...(position === first ? { logprobs } : {}) }))
  const last: Delta = message.annotations === undefined ? {} : { annotations: message.annotations }
  readChoices(work, chunk({ delta: last, finish_reason, ...extensions }))
  return finished(work)
}
