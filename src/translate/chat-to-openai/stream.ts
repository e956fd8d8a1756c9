// Translates a streamed OpenAI-compatible answer to chat chunks and fills in missing fields.
// Must not depend on bytes or frames; reads the JSON of each event.
import { hasShape } from "../../wire/hasShape.ts"
import { hasKeys, isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import {
  type ChatChunk,
  type ChunkChoice,
  type Delta,
  UpstreamChat,
  type UpstreamChoice
} from "../../wire/openai/ChatReply.ts"
import { cutAnswer, excessOf, malformedCall, tooManyChoices, unreadableEvent } from "../shared/reply/upstreamError.ts"
import { mergeUsage } from "../shared/reply/usage.ts"
import { openAiFailureInside } from "../shared/reply/upstreamFailures.ts"
import { type Fold, openContext, type StreamFailed, streamFailed, type TranslateContext } from "../Translator.ts"
import { closeCalls, hasNamelessCall, type MessageState, noMessage, readMessage } from "./message.ts"
import {
  brokenOffChoice,
  choiceRest,
  envelopeRest,
  type Identity,
  openAiChoiceIndex,
  openAiFinishReason,
  openAiLogprobs,
  openAiUsage,
  readIdentity
} from "./response.ts"

interface ChoiceState {
  readonly index: number
  readonly message: MessageState
  /** The upstream's finish reason, and the unread fields of the choice with it. */
  readonly end: { readonly word: string; readonly rest: JsonObject | undefined } | undefined
}

export interface OpenAiStreamState {
  /** Fixed by the first chunk. */
  readonly identity: Identity | undefined
  readonly choices: ReadonlyArray<ChoiceState>
  /** Number of generated call ids. */
  readonly made: number
  readonly usage: JsonObject | undefined
  /** Unread fields of the last event that ended a choice or counted tokens. */
  readonly rest: JsonObject | undefined
  readonly failed: boolean
}

const initial: OpenAiStreamState = {
  identity: undefined,
  choices: [],
  made: 0,
  usage: undefined,
  rest: undefined,
  failed: false
}

type Output = ChatChunk | StreamFailed
type Step = readonly [OpenAiStreamState, ReadonlyArray<Output>]

/** Unknown fields stay in place. */
const isEvent = hasShape(UpstreamChat)

/**
 * Finish reasons are held back to the end: some servers send more after them. The usage chunk is always last; the
 * caller filters it for clients that did not request it. A stream without a finish reason fails.
 */
export const streamFromOpenAi = (asked: TranslateContext): Fold<OpenAiStreamState, Json, Output> => {
  const context = openContext(asked)
  return {
    initial: () => initial,
    step: (state, event) => {
      if (state.failed) return [state, []]
      if (!isEvent(event)) return failStream(state, unreadableEvent)
      const fault = openAiFailureInside(event)
      return fault === undefined ? readEvent(state, event, context) : failStream(state, fault)
    },
    onHalt: (state) => (state.failed ? [] : finish(state, context)),
    usage: ({ usage }) => (usage === undefined ? undefined : openAiUsage(usage))
  }
}

const failStream = (state: OpenAiStreamState, reason: Reason): Step => [
  { ...state, failed: true },
  [streamFailed(reason)]
]

const readEvent = (state: OpenAiStreamState, event: UpstreamChat, context: TranslateContext): Step => {
  let { choices, made } = state
  const callId = () => context.callId(made++)
  const out: Array<ChunkChoice> = []
  let ended = false
  const given = event.choices ?? []
  for (let position = 0; position < given.length; position++) {
    const choice = given[position]
    if (choice === undefined) continue
    if (choice.finish_reason === "error") return failStream(state, brokenOffChoice)
    const index = openAiChoiceIndex(choice, position)
    const at = choices.findIndex((one) => one.index === index)
    const before = choices[at]
    const after = readChoice(before, index, choice, callId, out)
    ended ||= after?.end !== before?.end
    if (after === undefined || after === before) continue
    choices = before === undefined ? choices.concat(after) : choices.length === 1 ? [after] : choices.with(at, after)
    const excess = choices.length > answerBounds.choices ? tooManyChoices : excessOf(0, after.message.calls.size)
    if (excess !== undefined) return failStream(state, excess)
  }
  const counted = isJsonObject(event["usage"]) ? event["usage"] : undefined
  const rest = out.length > 0 || ended || counted !== undefined ? envelopeRest(event) : undefined
  const identity = state.identity ?? (out.length > 0 ? readIdentity(event, context) : undefined)
  const chunks = identity === undefined || out.length === 0 ? [] : [completeChunk(context, identity, rest, out)]
  if (choices === state.choices && made === state.made && counted === undefined && identity === state.identity)
    return [state, chunks]
  return [
    {
      identity,
      choices,
      made,
      usage: counted === undefined ? state.usage : mergeUsage(state.usage, counted),
      rest: ended || counted !== undefined ? rest : state.rest,
      failed: false
    },
    chunks
  ]
}

/** Appends the chunks of a choice to `out`; undefined while the choice has sent no content. */
const readChoice = (
  before: ChoiceState | undefined,
  index: number,
  choice: UpstreamChoice,
  callId: () => string,
  out: Array<ChunkChoice>
): ChoiceState | undefined => {
  const given = choice.delta ?? choice.message ?? {}
  const [message, said] = readMessage(before?.message ?? noMessage, given, given === choice.message, callId)
  const { finish_reason: word } = choice
  const rest = choiceRest(choice)
  const logprobs = openAiLogprobs(choice["logprobs"])
  const ending = word ? { word, rest } : undefined
  const beside = ending === undefined ? rest : undefined
  const speaks = hasKeys(said) || logprobs !== null || beside !== undefined
  if (before === undefined && !speaks && ending === undefined && typeof given["role"] !== "string") return undefined
  const delta: Delta = before === undefined ? { role: "assistant", content: "", ...said } : said
  if (before === undefined || speaks) {
    out.push({ ...beside, index, delta, ...(logprobs === null ? {} : { logprobs }), finish_reason: null })
  }
  const end = ending ?? before?.end
  return before !== undefined && message === before.message && end === before.end ? before : { index, message, end }
}

const completeChunk = (
  { target }: TranslateContext,
  { id, created, model }: Identity,
  rest: JsonObject | undefined,
  choices: ReadonlyArray<ChunkChoice>
): ChatChunk => ({ ...rest, id, object: "chat.completion.chunk", created, model, choices, provider: target.kind })

/** Emits the chunks due at the end, or one failure instead. */
const finish = (
  { identity, choices, usage, rest }: OpenAiStreamState,
  context: TranslateContext
): ReadonlyArray<Output> => {
  if (identity === undefined) return [streamFailed(empty)]
  const out: Array<ChatChunk> = []
  for (const { index, message, end } of choices) {
    if (end === undefined) return [streamFailed(cutAnswer)]
    if (hasNamelessCall(message)) return [streamFailed(malformedCall)]
    const closing = closeCalls(message.calls)
    if (closing.length > 0) {
      out.push(completeChunk(context, identity, rest, [{ index, delta: { tool_calls: closing }, finish_reason: null }]))
    }
    out.push(
      completeChunk(context, identity, rest, [
        { ...end.rest, index, delta: {}, finish_reason: openAiFinishReason(end.word, message) }
      ])
    )
  }
  out.push({ ...completeChunk(context, identity, rest, []), usage: openAiUsage(usage) })
  return out
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer without any choice. Try again."
}
