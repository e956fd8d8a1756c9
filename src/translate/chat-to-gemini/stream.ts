// Translates a streamed Gemini answer to chat chunks in full form.
// Must not depend on bytes or frames; reads the JSON of each event.
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../../domain/text/json.ts"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { type Candidate, GenerateContentReply } from "../../wire/google.ts"
import { hasShape } from "../../wire/hasShape.ts"
import type { ChatRequest } from "../../wire/openai/Chat.ts"
import type { ChatChunk, ChunkChoice, Delta, Usage } from "../../wire/openai/ChatReply.ts"
import { cutAnswer, tooManyChoices, unreadableEvent } from "../shared/reply/upstreamError.ts"
import {
  geminiUsage,
  mergeUsage,
  readGeminiTier,
  usageOfHops,
  searchesOf,
  withSearches,
  withTier
} from "../shared/reply/usage.ts"
import { buildChunk, buildUsageChunk } from "../shared/reply/completion.ts"
import { modelStatusField, modelStatusOf } from "../shared/gemini.ts"
import { googleFailureInside } from "../shared/reply/upstreamFailures.ts"
import {
  type Fold,
  noProgress,
  openContext,
  type StreamFailed,
  streamFailed,
  type TranslateContext
} from "../Translator.ts"
import {
  blockedEnd,
  blockedLate,
  continuationOf,
  type GeminiEnd,
  type GeminiEndState,
  geminiEnd,
  noGeminiEnd,
  readGeminiEnd
} from "./finish.ts"
import { geminiCandidateIndex, geminiLogprobs } from "./response.ts"
import { closeParts, noParts, type PartsFacts, type PartsState, partsFacts, readParts } from "./parts.ts"

interface ChoiceState {
  readonly index: number
  /** True after the delta with the role. */
  readonly opened: boolean
  readonly parts: PartsState
  readonly end: GeminiEndState
}

export interface GeminiStreamState {
  /** Fixed by the first chunk. */
  readonly model: string | undefined
  readonly choices: ReadonlyArray<ChoiceState>
  /** Number of calls of all choices. */
  readonly calls: number
  readonly usage: JsonObject | undefined
  /** The counts of the hops before this one. */
  readonly hops: ReadonlyArray<JsonObject>
  readonly feedback: NonNullable<GenerateContentReply["promptFeedback"]> | undefined
  /** Shown in the chunks that end a choice. */
  readonly status: GenerateContentReply["modelStatus"]
  readonly failed: boolean
}

const initial: GeminiStreamState = {
  model: undefined,
  choices: [],
  calls: 0,
  usage: undefined,
  hops: [],
  feedback: undefined,
  status: undefined,
  failed: false
}

/** Checks without decoding: a copy of every event would be garbage for the collector. */
const isEvent = hasShape(GenerateContentReply)

type Output = ChatChunk | StreamFailed
/** Constants of a whole stream. */
interface Facts {
  readonly context: TranslateContext
  readonly parts: PartsFacts
  readonly logprobs: boolean
  readonly tier: string | undefined
}

/**
 * Finish reasons are held back to the end: Gemini repeats them on call chunks. The usage chunk is always last; the
 * caller filters it for clients that did not request it. A stream without a finish reason fails.
 */
export const streamFromGemini = (
  context: TranslateContext,
  request: ChatRequest,
  headers?: Readonly<Record<string, string>>
): Fold<GeminiStreamState, Json, Output> => {
  const facts: Facts = {
    context: openContext(context),
    parts: partsFacts(context, request, false),
    logprobs: request.logprobs === true,
    tier: readGeminiTier(headers)
  }
  return {
    initial: () => initial,
    step: (state, event) => {
      if (state.failed) return [state, []]
      if (!isEvent(event)) return failStream(state, unreadableEvent)
      return event.error ? failStream(state, googleFailureInside(event.error)) : readEvent(state, event, facts)
    },
    onHalt: (state) => (state.failed ? [] : finish(state, facts)),
    usage: (state) => (state.usage === undefined && state.hops.length === 0 ? undefined : usageOf(state, facts)),
    progress: ({ status }) => (status ? { ...noProgress, modelStatus: modelStatusOf(status) } : noProgress),
    next: nextHop
  }
}

const usageOf = ({ choices, hops, usage }: GeminiStreamState, { tier }: Facts): Usage =>
  withSearches(
    withTier(hops.length === 0 ? geminiUsage(usage) : usageOfHops([...hops, usage ?? {}]), tier),
    searchesOf(choices.map((choice) => choice?.end.grounding))
  )

/** The finish reason of the hop is forgotten: the next hop has one of its own (M-603). */
const nextHop = (
  state: GeminiStreamState
): { readonly token: string; readonly state: GeminiStreamState } | undefined => {
  const [choice] = state.choices
  const token = choice === undefined || state.failed ? undefined : continuationOf(choice.end)
  if (choice === undefined || token === undefined || state.choices.length > 1) return undefined
  const open = { ...choice, end: { ...choice.end, reason: undefined, token: undefined } }
  return {
    token,
    state: { ...state, choices: [open], usage: undefined, hops: [...state.hops, state.usage ?? {}] }
  }
}

const failStream = (state: GeminiStreamState, reason: Reason): readonly [GeminiStreamState, ReadonlyArray<Output>] => [
  { ...state, failed: true },
  [streamFailed(reason)]
]

const readEvent = (
  state: GeminiStreamState,
  event: GenerateContentReply,
  facts: Facts
): readonly [GeminiStreamState, ReadonlyArray<Output>] => {
  const out: Array<Output> = []
  const model = state.choices.some(isOpened) ? state.model : (event.modelVersion ?? state.model)
  let calls = state.calls
  const callId = () => facts.context.callId(calls++)
  let choices = state.choices
  const candidates = event.candidates ?? []
  for (let position = 0; position < candidates.length; position++) {
    const candidate = candidates[position]
    if (candidate === undefined) continue
    const index = geminiCandidateIndex(candidate, position)
    const at = choices.findIndex((choice) => choice.index === index)
    const before = choices[at] ?? { index, opened: false, parts: noParts, end: noGeminiEnd }
    const after = readCandidate(before, candidate, facts, callId, modelOf(model, facts), out)
    if (after.parts.fault !== undefined) return failStream(state, after.parts.fault)
    choices = at < 0 ? choices.concat(after) : choices.length === 1 ? [after] : choices.with(at, after)
    if (choices.length > answerBounds.choices) return failStream(state, tooManyChoices)
  }
  const usage = event.usageMetadata ? mergeUsage(state.usage, event.usageMetadata) : state.usage
  const feedback = event.promptFeedback ?? state.feedback
  const status = event.modelStatus ?? state.status
  return [{ model, choices, calls, usage, hops: state.hops, status, feedback, failed: false }, out]
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
  const logprobs = facts.logprobs ? geminiLogprobs(candidate) : undefined
  const given = deltas.length === 0 && logprobs !== undefined ? [{}] : deltas
  if (!choice.opened && given.length > 0) out.push(roleChunk(choice.index, facts, model))
  given.forEach((delta, position) => {
    const content: ChunkChoice = { index: choice.index, delta, finish_reason: null }
    out.push(
      buildChunk(facts.context, model, position === 0 && logprobs !== undefined ? { ...content, logprobs } : content)
    )
  })
  return {
    index: choice.index,
    opened: choice.opened || given.length > 0,
    parts,
    end: readGeminiEnd(choice.end, candidate)
  }
}

const roleChunk = (index: number, { context }: Facts, model: string): ChatChunk =>
  buildChunk(context, model, { index, delta: { role: "assistant", content: "" }, finish_reason: null })

/** Emits the chunks due at the end, or one failure instead. */
const finish = (state: GeminiStreamState, facts: Facts): ReadonlyArray<Output> => {
  const model = modelOf(state.model, facts)
  const out: Array<Output> = []
  let calls = state.calls
  const callId = () => facts.context.callId(calls++)
  for (const choice of state.choices) {
    const [parts, deltas] = closeParts(choice.parts, facts.parts, callId)
    const blocked = blockedLate(choice.end, parts, state.feedback, facts.context.strict)
    if (blocked !== undefined) {
      out.push(...endChunks(choice, deltas, blocked, facts, model, state.status))
      continue
    }
    if (choice.end.reason === undefined) return [streamFailed(cutAnswer)]
    const end = geminiEnd(choice.end, parts, facts.parts, state.feedback?.safetyRatings ?? undefined)
    if (Result.isFailure(end)) return [streamFailed(end.failure)]
    out.push(...endChunks(choice, deltas, end.success, facts, model, state.status))
  }
  if (state.choices.length === 0) {
    const end = blockedEnd(state.feedback, facts.context.strict)
    if (end === undefined) return [streamFailed(empty)]
    out.push(...endChunks({ index: 0, opened: false }, [], end, facts, model, state.status))
  }
  out.push(buildUsageChunk(facts.context, model, usageOf(state, facts)))
  return out
}

const endChunks = (
  choice: Pick<ChoiceState, "index" | "opened">,
  deltas: ReadonlyArray<Delta>,
  { finish_reason, refusal, annotations, extensions }: GeminiEnd,
  facts: Facts,
  model: string,
  status: GeminiStreamState["status"]
): ReadonlyArray<ChatChunk> => {
  const owed: ReadonlyArray<Delta> = refusal === undefined ? deltas : [...deltas, { refusal }]
  const last: Delta = annotations.length > 0 ? { annotations } : {}
  const end = buildChunk(facts.context, model, { index: choice.index, delta: last, finish_reason, ...extensions })
  return [
    ...(choice.opened ? [] : [roleChunk(choice.index, facts, model)]),
    ...owed.map((delta) => buildChunk(facts.context, model, { index: choice.index, delta, finish_reason: null })),
    { ...end, ...modelStatusField(status) }
  ]
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer without any candidate. Try again."
}
