// The unary answer of Gemini as a chat completion in full form.
// It must not know HTTP or strict mode; a unary answer is read as a stream of one event.
import * as Result from "effect/Result"
import type { Reason } from "../../domain/ProviderError.ts"
import type { Candidate, GenerateContentReply, Part } from "../../wire/google/GenerateContent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatCompletion, Choice } from "../../wire/openai/ChatReply.ts"
import { malformedCall } from "../shared/reply/badStream.ts"
import { completionOf } from "../shared/reply/envelope.ts"
import { usageOf } from "../shared/google/geminiUsage.ts"
import { failureInside } from "../shared/google/googleFailure.ts"
import { messageOf } from "../shared/reply/message.ts"
import type { TranslateContext } from "../Translator.ts"
import { audioOf, wantsAudio } from "./audio.ts"
import { blockedEnd, endOf, noEnd, readEnd } from "./finish.ts"
import { logprobsOf } from "./logprobs.ts"
import { closeParts, noParts, type PartsFacts, partsFacts, readParts } from "./parts.ts"

/** Fails when the reply is an error in disguise, holds no candidate, or ended in a fault of the model. */
export const responseFromGemini = (
  reply: GenerateContentReply,
  context: TranslateContext,
  request: ChatRequest
): Result.Result<ChatCompletion, Reason> => {
  if (reply.error) return Result.fail(failureInside(reply.error))
  const candidates = reply.candidates ?? []
  const model = reply.modelVersion ?? context.target.modelId
  const usage = usageOf(reply.usageMetadata ?? undefined)
  if (candidates.length === 0) {
    const choice = blockedChoice(reply)
    return choice === undefined
      ? Result.fail({
          _tag: "BadReply",
          kind: "empty",
          message: "The upstream answered without any candidate. Try again."
        })
      : Result.succeed(completionOf(context, model, [choice], usage))
  }
  const facts = partsFacts(context, request, true)
  let calls = 0
  const callId = () => context.callId(calls++)
  const choices: Array<Choice> = []
  for (const [position, candidate] of candidates.entries()) {
    const read = context.target.facts.joinsThoughts ? withThought(candidate) : candidate
    const choice = choiceOf(read, position, { reply, context, request, facts, callId })
    if (Result.isFailure(choice)) return Result.fail(choice.failure)
    choices.push(choice.success)
  }
  return Result.succeed(completionOf(context, model, choices, usage))
}

const blockedChoice = (reply: GenerateContentReply): Choice | undefined => {
  const end = blockedEnd(reply.promptFeedback)
  return end === undefined
    ? undefined
    : {
        index: 0,
        message: messageOf([], end.refusal),
        logprobs: null,
        finish_reason: end.finish_reason,
        ...end.extensions
      }
}

interface Around {
  readonly reply: GenerateContentReply
  readonly context: TranslateContext
  readonly request: ChatRequest
  readonly facts: PartsFacts
  readonly callId: () => string
}

const choiceOf = (candidate: Candidate, position: number, around: Around): Result.Result<Choice, Reason> => {
  const { reply, context, request, facts, callId } = around
  const [read, deltas] = readParts(noParts, candidate, facts, callId)
  if (read.malformed) return Result.fail(malformedCall)
  const [closed, last] = closeParts(read, facts, callId)
  const audio = wantsAudio(request) ? audioOf(candidate.content?.parts ?? [], context, request) : undefined
  const parts = audio === undefined ? closed : { ...closed, media: true }
  const end = endOf(readEnd(noEnd, candidate), parts, facts, reply.promptFeedback?.safetyRatings ?? undefined)
  return Result.map(end, ({ finish_reason, refusal, annotations, extensions }) => ({
    index: indexOf(candidate, position),
    message: {
      ...messageOf([...deltas, ...last], refusal),
      ...(annotations.length > 0 ? { annotations } : {}),
      ...(audio === undefined ? {} : { audio })
    },
    logprobs: (request.logprobs === true ? logprobsOf(candidate) : undefined) ?? null,
    finish_reason,
    ...extensions
  }))
}

/** Vertex AI never sends an index. */
export const indexOf = (candidate: Candidate, position: number): number =>
  typeof candidate.index === "number" && Number.isInteger(candidate.index) && candidate.index >= 0
    ? candidate.index
    : position

/** The experimental thinking models may flag nothing: of exactly two texts the first is the thought. */
const withThought = (candidate: Candidate): Candidate => {
  const parts = candidate.content?.parts ?? []
  const texts = parts.filter((part) => typeof part.text === "string")
  if (texts.length !== 2 || parts.some((part) => part.thought === true)) return candidate
  const flagged: ReadonlyArray<Part> = parts.map((part) => (part === texts[0] ? { ...part, thought: true } : part))
  return { ...candidate, content: { ...candidate.content, parts: flagged } }
}
