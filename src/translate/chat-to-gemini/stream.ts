// The streamed answer of Gemini as chat chunks in full form.
// It must not know bytes or frames; it reads the JSON of each event.
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { type Candidate, GenerateContentReply } from "../../wire/google/GenerateContent.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChunkChoice, Delta } from "../../wire/openai/ChatReply.ts"
import { cutAnswer, malformedCall, unreadableEvent } from "../shared/reply/badStream.ts"
import { mergeUsage } from "../shared/reply/counts.ts"
import { chunkOf, usageChunkOf } from "../shared/reply/envelope.ts"
import { usageOf } from "../shared/google/geminiUsage.ts"
import { failureInside } from "../shared/google/googleFailure.ts"
import { type Fold, type StreamFailed, streamFailed, type TranslateContext } from "../Translator.ts"
import { blockedEnd, type End, type EndState, endOf, noEnd, readEnd } from "./finish.ts"
import { logprobsOf } from "./logprobs.ts"
import { closeParts, noParts, type PartsFacts, type PartsState, partsFacts, readParts } from "./parts.ts"
import { indexOf } from "./response.ts"

interface ChoiceState {
  readonly index: number
  /** The delta with the role is out. */
  readonly opened: boolean
  readonly parts: PartsState
  readonly end: EndState
}

export interface StreamState {
  /** Fixed with the first chunk. */
  readonly model: string | undefined
  readonly choices: ReadonlyArray<ChoiceState>
  /** Calls of all choices. */
  readonly calls: number
  readonly usage: JsonObject | undefined
  readonly feedback: NonNullable<GenerateContentReply["promptFeedback"]> | undefined
  readonly failed: boolean
}

const initial: StreamState = {
  model: undefined,
  choices: [],
  calls: 0,
  usage: undefined,
  feedback: undefined,
  failed: false
}

/** A look, not a decode: a copy of every event would be the garbage of the stream. */
const isEvent = Schema.is(GenerateContentReply)

type Output = ChatChunk | StreamFailed
/** What stays the same for a whole stream. */
interface Facts {
  readonly context: TranslateContext
  readonly parts: PartsFacts
  readonly logprobs: boolean
}

/**
 * Finish reasons are held back to the end: Gemini repeats them on call chunks. The usage chunk always comes last,
 * the caller shows it to those who asked. A stream that ends without a finish reason ends as failed.
 */
export const streamFromGemini = (context: TranslateContext, request: ChatRequest): Fold<StreamState, Json, Output> => {
  const facts: Facts = { context, parts: partsFacts(context, request, false), logprobs: request.logprobs === true }
  return {
    initial: () => initial,
    step: (state, event) => {
      if (state.failed) return [state, []]
      if (!isEvent(event)) return failed(state, unreadableEvent)
      return event.error ? failed(state, failureInside(event.error)) : readEvent(state, event, facts)
    },
    onHalt: (state) => (state.failed ? [] : finish(state, facts)),
    usage: ({ usage }) => (usage === undefined ? undefined : usageOf(usage))
  }
}

const failed = (state: StreamState, reason: Reason): readonly [StreamState, ReadonlyArray<Output>] => [
  { ...state, failed: true },
  [streamFailed(reason)]
]

const readEvent = (
  state: StreamState,
  event: GenerateContentReply,
  facts: Facts
): readonly [StreamState, ReadonlyArray<Output>] => {
  const out: Array<Output> = []
  const model = state.choices.some(isOpened) ? state.model : (event.modelVersion ?? state.model)
  let calls = state.calls
  const callId = () => facts.context.callId(calls++)
  let choices = state.choices
  const candidates = event.candidates ?? []
  for (let position = 0; position < candidates.length; position++) {
    const candidate = candidates[position]
    if (candidate === undefined) continue
    const index = indexOf(candidate, position)
    const at = choices.findIndex((choice) => choice.index === index)
    const before = choices[at] ?? { index, opened: false, parts: noParts, end: noEnd }
    const after = readCandidate(before, candidate, facts, callId, modelOf(model, facts), out)
    if (after.parts.malformed) return failed(state, malformedCall)
    choices = at < 0 ? [...choices, after] : choices.length === 1 ? [after] : choices.with(at, after)
  }
  const usage = event.usageMetadata ? mergeUsage(state.usage, event.usageMetadata) : state.usage
  return [{ model, choices, calls, usage, feedback: event.promptFeedback ?? state.feedback, failed: false }, out]
}

const isOpened = (choice: ChoiceState): boolean => choice.opened

const modelOf = (model: string | undefined, facts: Facts): string => model ?? facts.context.target.modelId

const readCandidate = (
  choice: ChoiceState,
  candidate: Candidate,
  facts: Facts,
  callId: () => string,
  model: string,
  out: Array<Output>
): ChoiceState => {
  const [parts, deltas] = readParts(choice.parts, candidate, facts.parts, callId)
  const logprobs = facts.logprobs ? logprobsOf(candidate) : undefined
  const given = deltas.length === 0 && logprobs !== undefined ? [{}] : deltas
  if (!choice.opened && given.length > 0) out.push(roleChunk(choice.index, facts, model))
  given.forEach((delta, position) => {
    const content: ChunkChoice = { index: choice.index, delta, finish_reason: null }
    out.push(
      chunkOf(facts.context, model, position === 0 && logprobs !== undefined ? { ...content, logprobs } : content)
    )
  })
  return { index: choice.index, opened: choice.opened || given.length > 0, parts, end: readEnd(choice.end, candidate) }
}

const roleChunk = (index: number, { context }: Facts, model: string): ChatChunk =>
  chunkOf(context, model, { index, delta: { role: "assistant", content: "" }, finish_reason: null })

/** Every chunk that is owed at the end, or the one failure that stands for all of them. */
const finish = (state: StreamState, facts: Facts): ReadonlyArray<Output> => {
  const model = modelOf(state.model, facts)
  const out: Array<Output> = []
  let calls = state.calls
  const callId = () => facts.context.callId(calls++)
  for (const choice of state.choices) {
    if (choice.end.reason === undefined) return [streamFailed(cutAnswer)]
    const [parts, deltas] = closeParts(choice.parts, facts.parts, callId)
    const end = endOf(choice.end, parts, facts.parts, state.feedback?.safetyRatings ?? undefined)
    if (Result.isFailure(end)) return [streamFailed(end.failure)]
    out.push(...endChunks(choice, deltas, end.success, facts, model))
  }
  if (state.choices.length === 0) {
    const end = blockedEnd(state.feedback)
    if (end === undefined) return [streamFailed(empty)]
    out.push(...endChunks({ index: 0, opened: false }, [], end, facts, model))
  }
  out.push(usageChunkOf(facts.context, model, usageOf(state.usage)))
  return out
}

const endChunks = (
  choice: Pick<ChoiceState, "index" | "opened">,
  deltas: ReadonlyArray<Delta>,
  { finish_reason, refusal, annotations, extensions }: End,
  facts: Facts,
  model: string
): ReadonlyArray<ChatChunk> => {
  const owed: ReadonlyArray<Delta> = refusal === undefined ? deltas : [...deltas, { refusal }]
  const last: Delta = annotations.length > 0 ? { annotations } : {}
  return [
    ...(choice.opened ? [] : [roleChunk(choice.index, facts, model)]),
    ...owed.map((delta) => chunkOf(facts.context, model, { index: choice.index, delta, finish_reason: null })),
    chunkOf(facts.context, model, { index: choice.index, delta: last, finish_reason, ...extensions })
  ]
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer without any candidate. Try again."
}
