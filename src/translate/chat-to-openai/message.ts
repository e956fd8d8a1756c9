// Reads a message or delta of an OpenAI-compatible upstream, and its tool calls, as a delta in full form.
// It must not depend on frames, envelopes or finish reasons.
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import type * as Types from "effect/Types"
import { answerBounds } from "../../domain/Limits.ts"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import type {
  ContentBlockDelta,
  Delta,
  ToolCallDelta,
  UpstreamCall,
  UpstreamMessage
} from "../../wire/openai/ChatReply.ts"

/** The fields of an object that are read elsewhere. `__proto__` is always excluded. */
export const fieldNames = (...names: ReadonlyArray<string>): ReadonlySet<string> => new Set([...names, "__proto__"])

/** All unread fields, undefined when there are none; null fields are dropped. */
export const unreadFields = (given: JsonObject, read: ReadonlySet<string>): JsonObject | undefined => {
  let rest: { [name: string]: JsonObject[string] } | undefined
  for (const name in given) {
    const value = given[name]
    if (value === null || value === undefined || read.has(name)) continue
    rest ??= {}
    rest[name] = value
  }
  return rest
}

// Tool calls, whole or in pieces

/** An open call; its position in the list is its index. */
interface CallState {
  /** The upstream's index; undefined when missing. */
  readonly from: number | undefined
  /** The upstream's id; empty when missing. */
  readonly given: string
  /** The id sent to the client. */
  readonly id: string
  readonly named: boolean
  /** True after some text of the arguments was sent. */
  readonly begun: boolean
}

/** The open calls of a message. Each lookup and each change is of one entry, however many calls there are. */
interface CallsState {
  readonly size: number
  readonly byPlace: HashMap.HashMap<number, CallState>
  /** The place of the last call with this number of the upstream's. */
  readonly byNumber: HashMap.HashMap<number, number>
  readonly ids: HashMap.HashMap<string, true>
  /** Calls without a name so far. */
  readonly nameless: number
}

const noCalls: CallsState = {
  size: 0,
  byPlace: HashMap.empty(),
  byNumber: HashMap.empty(),
  ids: HashMap.empty(),
  nameless: 0
}

const callAt = ({ byPlace }: CallsState, place: number): CallState | undefined =>
  Option.getOrUndefined(HashMap.get(byPlace, place))

const isNameless = (call: CallState | undefined): number => (call?.named === false ? 1 : 0)

const withCall = (calls: CallsState, place: number, earlier: CallState | undefined, call: CallState): CallsState => ({
  size: earlier === undefined ? calls.size + 1 : calls.size,
  byPlace: HashMap.set(calls.byPlace, place, call),
  byNumber:
    earlier === undefined && call.from !== undefined ? HashMap.set(calls.byNumber, call.from, place) : calls.byNumber,
  ids: earlier === undefined ? HashMap.set(calls.ids, call.id, true) : calls.ids,
  nameless: calls.nameless - isNameless(earlier) + isNameless(call)
})

/** Reads the calls of one message or delta; `callId` replaces missing and repeated ids. */
const readCallDeltas = (
  before: CallsState,
  pieces: ReadonlyArray<UpstreamCall>,
  whole: boolean,
  callId: () => string
): readonly [CallsState, ReadonlyArray<ToolCallDelta>] => {
  let calls = before
  const deltas: Array<ToolCallDelta> = []
  for (const piece of pieces) {
    // The caller fails such an answer.
    if (calls.size > answerBounds.calls) break
    const at = whole ? calls.size : placeOf(calls, piece)
    const earlier = callAt(calls, at)
    const next = earlier === undefined ? opened(calls, piece, callId) : continued(earlier, piece)
    const delta = deltaOf(at, next, earlier, piece)
    if (delta !== undefined) deltas.push(delta)
    if (next !== earlier) calls = withCall(calls, at, earlier, next)
  }
  return [calls, deltas]
}

/** Clients parse arguments: a call without any gets the text of an empty object. */
export const closeCalls = (calls: CallsState): ReadonlyArray<ToolCallDelta> => {
  const closing: Array<ToolCallDelta> = []
  for (let index = 0; index < calls.size; index++)
    if (callAt(calls, index)?.begun === false) closing.push({ index, function: { arguments: "{}" } })
  return closing
}

/** True when one of the finished calls has no name. */
const hasNameless = ({ nameless }: CallsState): boolean => nameless > 0

const idOf = ({ id }: UpstreamCall): string => (typeof id === "string" ? id : "")
const nameOf = (piece: UpstreamCall): string => piece.function?.name ?? ""

/**
 * Finds the call of a piece, or the position after the last call. Some servers number every call 0, others send no
 * numbers; then a named piece with another id starts a new call.
 */
const placeOf = (calls: CallsState, piece: UpstreamCall): number => {
  const index = piece.index ?? undefined
  const at =
    index === undefined ? calls.size - 1 : Option.getOrElse(HashMap.get(calls.byNumber, index), () => calls.size)
  const earlier = callAt(calls, at)
  if (earlier === undefined) return calls.size
  const id = idOf(piece)
  const isNew = nameOf(piece) !== "" && (id === "" ? index === undefined : id !== earlier.given)
  return isNew ? calls.size : at
}

const opened = (calls: CallsState, piece: UpstreamCall, callId: () => string): CallState => {
  const given = idOf(piece)
  const taken = given === "" || HashMap.has(calls.ids, given)
  return {
    from: piece.index ?? undefined,
    given,
    id: taken ? callId() : given,
    named: nameOf(piece) !== "",
    begun: argumentsOf(piece) !== ""
  }
}

const continued = (earlier: CallState, piece: UpstreamCall): CallState => {
  const named = earlier.named || nameOf(piece) !== ""
  const begun = earlier.begun || argumentsOf(piece) !== ""
  return named === earlier.named && begun === earlier.begun ? earlier : { ...earlier, named, begun }
}

/** Signatures are dropped: they are never sent back to these upstreams. */
const callFields = fieldNames("index", "id", "type", "function", "extra_content")
const functionFields = fieldNames("name", "arguments", "thought_signature")

/** Id, type and name are sent with the first piece only; undefined when a later piece adds nothing. */
const deltaOf = (
  index: number,
  call: CallState,
  earlier: CallState | undefined,
  piece: UpstreamCall
): ToolCallDelta | undefined => {
  const rest = unreadFields(piece, callFields)
  const restOfFunction = piece.function ? unreadFields(piece.function, functionFields) : undefined
  const text = argumentsOf(piece)
  const name = earlier?.named === true ? "" : nameOf(piece)
  if (earlier === undefined) {
    return {
      ...rest,
      index,
      id: call.id,
      type: "function",
      function: { ...restOfFunction, ...(name === "" ? {} : { name }), arguments: text }
    }
  }
  if (text === "" && name === "" && rest === undefined && restOfFunction === undefined) return undefined
  return { ...rest, index, function: { ...restOfFunction, ...(name === "" ? {} : { name }), arguments: text } }
}

const argumentsOf = (piece: UpstreamCall): string => textOfArguments(piece.function?.arguments)

/** The text of arguments; some servers send an object instead. */
const textOfArguments = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)

// Messages and deltas

/** State of one choice's message between its deltas. */
export interface MessageState {
  readonly calls: CallsState
  /** True after a legacy `function_call`. */
  readonly legacy: boolean
  /** True when the legacy call has a name. */
  readonly legacyNamed: boolean
  /** True after thinking: the text then needs a block. */
  readonly reasoned: boolean
}

export const noMessage: MessageState = { calls: noCalls, legacy: false, legacyNamed: false, reasoned: false }

/** True for a finished message with a nameless call. */
export const hasNamelessCall = ({ calls, legacy, legacyNamed }: MessageState): boolean =>
  hasNameless(calls) || (legacy && !legacyNamed)

const messageFields = fieldNames(
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "content_blocks"
)

/** Drops the role and empty fields; keeps unknown fields. `whole` marks a complete message. */
export const readMessage = (
  before: MessageState,
  given: UpstreamMessage,
  whole: boolean,
  callId: () => string
): readonly [MessageState, Delta] => {
  const delta: Types.Mutable<Delta> = unreadFields(given, messageFields) ?? {}
  const text = contentText(given.content)
  if (text !== "") delta.content = text
  const refusal = given["refusal"]
  if (typeof refusal === "string" && refusal !== "") delta.refusal = refusal
  const called = given["function_call"]
  const legacy = isJsonObject(called)
  if (legacy) delta.function_call = { name: stringOf(called["name"]), arguments: textOfArguments(called["arguments"]) }
  const thought = stringOf(given["reasoning_content"]) || stringOf(given["reasoning"])
  if (thought !== "") delta.reasoning_content = thought
  const reasoned = before.reasoned || thought !== ""
  if (thought !== "" || (reasoned && text !== "")) delta.content_blocks = blocksOf(thought, text)
  let calls = before.calls
  if (given.tool_calls) {
    const [next, pieces] = readCallDeltas(calls, given.tool_calls, whole, callId)
    if (pieces.length > 0) delta.tool_calls = pieces
    calls = next
  }
  const legacyNamed = before.legacyNamed || (delta.function_call?.name !== undefined && delta.function_call.name !== "")
  const isSame =
    calls === before.calls &&
    reasoned === before.reasoned &&
    (!legacy || before.legacy) &&
    legacyNamed === before.legacyNamed
  return [isSame ? before : { calls, legacy: legacy || before.legacy, legacyNamed, reasoned }, delta]
}

const stringOf = (value: Json | undefined): string => (typeof value === "string" ? value : "")

/** Some servers send content as a list of parts; parts without text are skipped. */
const contentText = (content: UpstreamMessage["content"]): string => {
  if (typeof content === "string") return content
  let text = ""
  for (const part of content ?? []) if (isJsonObject(part)) text += stringOf(part["text"])
  return text
}

/** Thinking is block 0, text is block 1; an answer without thinking has no blocks. */
const blocksOf = (thinking: string, text: string): ReadonlyArray<ContentBlockDelta> => [
  ...(thinking === "" ? [] : [{ index: 0, delta: { thinking } }]),
  ...(text === "" ? [] : [{ index: 1, delta: { text } }])
]
