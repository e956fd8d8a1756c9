// The streamed answer of an OpenAI-compatible upstream: chunks passed on, with what they lack filled in.
// It must not know bytes or frames; it reads the JSON of each event.
import * as Schema from "effect/Schema"
import { hasKeys, isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import type { ChatChunk, ChunkChoice, Delta } from "../../wire/openai/ChatReply.ts"
import { UpstreamChat, type UpstreamChoice } from "../../wire/openai/UpstreamChat.ts"
import { cutAnswer, malformedCall, unreadableEvent } from "../shared/reply/badStream.ts"
import { mergeUsage } from "../shared/reply/counts.ts"
import { failureInside } from "../shared/reply/openAiFailure.ts"
import { type Fold, type StreamFailed, streamFailed, type TranslateContext } from "../Translator.ts"
import { closeCalls } from "./calls.ts"
import { brokenOff, choiceRest, finishOf, indexOf, logprobsOf } from "./choice.ts"
import { envelopeRest, type Identity, identityOf } from "./envelope.ts"
import { hasNamelessCall, type MessageState, noMessage, readMessage } from "./message.ts"
import { usageOf } from "./usage.ts"

interface ChoiceState {
  readonly index: number
  readonly message: MessageState
  /** The upstream's word for the end, and what else the choice said with it. */
  readonly end: { readonly word: string; readonly rest: JsonObject | undefined } | undefined
}

export interface StreamState {
  /** Fixed with the first chunk. */
  readonly identity: Identity | undefined
  readonly choices: ReadonlyArray<ChoiceState>
  /** Ids of calls made here. */
  readonly made: number
  readonly usage: JsonObject | undefined
  /** What stood beside the choices in the last event that ended one or counted tokens. */
  readonly rest: JsonObject | undefined
  readonly failed: boolean
}

const initial: StreamState = {
  identity: undefined,
  choices: [],
  made: 0,
  usage: undefined,
  rest: undefined,
  failed: false
}

type Output = ChatChunk | StreamFailed
type Step = readonly [StreamState, ReadonlyArray<Output>]

/** Looks without copying, so that fields we do not know stay where they are. */
const isEvent = Schema.is(UpstreamChat)

/**
 * Finish reasons are held back to the end: some servers send more after them. The usage chunk always comes last, the
 * caller shows it to those who asked. A stream that ends without a finish reason ends as failed.
 */
export const streamFromOpenAi = (context: TranslateContext): Fold<StreamState, Json, Output> => ({
  initial: () => initial,
  step: (state, event) => {
    if (state.failed) return [state, []]
    if (!isEvent(event)) return failed(state, unreadableEvent)
    const fault = failureInside(event)
    return fault === undefined ? readEvent(state, event, context) : failed(state, fault)
  },
  onHalt: (state) => (state.failed ? [] : finish(state, context)),
  usage: ({ usage }) => (usage === undefined ? undefined : usageOf(usage))
})

const failed = (state: StreamState, reason: Reason): Step => [{ ...state, failed: true }, [streamFailed(reason)]]

const readEvent = (state: StreamState, event: UpstreamChat, context: TranslateContext): Step => {
  let { choices, made } = state
  const callId = () => context.callId(made++)
  const out: Array<ChunkChoice> = []
  let ended = false
  const given = event.choices ?? []
  for (let position = 0; position < given.length; position++) {
    const choice = given[position]
    if (choice === undefined) continue
    if (choice.finish_reason === "error") return failed(state, brokenOff)
    const index = indexOf(choice, position)
    const before = choices.find((one) => one.index === index)
    const after = readChoice(before, index, choice, callId, out)
    ended ||= after?.end !== before?.end
    if (after === undefined || after === before) continue
    choices = before === undefined ? [...choices, after] : choices.map((one) => (one === before ? after : one))
  }
  const counted = isJsonObject(event["usage"]) ? event["usage"] : undefined
  const rest = out.length > 0 || ended || counted !== undefined ? envelopeRest(event) : undefined
  const identity = state.identity ?? (out.length > 0 ? identityOf(event, context) : undefined)
  const chunks = identity === undefined || out.length === 0 ? [] : [chunkOf(context, identity, rest, out)]
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

/** Adds what the choice says to `out`; undefined when a choice that is not open yet says nothing. */
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
  const logprobs = logprobsOf(choice["logprobs"])
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

const chunkOf = (
  { target }: TranslateContext,
  { id, created, model }: Identity,
  rest: JsonObject | undefined,
  choices: ReadonlyArray<ChunkChoice>
): ChatChunk => ({ ...rest, id, object: "chat.completion.chunk", created, model, choices, provider: target.kind })

/** Every chunk that is owed at the end, or the one failure that stands for all of them. */
const finish = ({ identity, choices, usage, rest }: StreamState, context: TranslateContext): ReadonlyArray<Output> => {
  if (identity === undefined) return [streamFailed(empty)]
  const out: Array<ChatChunk> = []
  for (const { index, message, end } of choices) {
    if (end === undefined) return [streamFailed(cutAnswer)]
    if (hasNamelessCall(message)) return [streamFailed(malformedCall)]
    const closing = closeCalls(message.calls)
    if (closing.length > 0) {
      out.push(chunkOf(context, identity, rest, [{ index, delta: { tool_calls: closing }, finish_reason: null }]))
    }
    out.push(
      chunkOf(context, identity, rest, [{ ...end.rest, index, delta: {}, finish_reason: finishOf(end.word, message) }])
    )
  }
  out.push({ ...chunkOf(context, identity, rest, []), usage: usageOf(usage) })
  return out
}

const empty: Reason = {
  _tag: "BadReply",
  kind: "empty",
  message: "The upstream ended its answer without any choice. Try again."
}
