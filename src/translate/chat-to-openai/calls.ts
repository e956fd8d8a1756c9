// Reads tool calls of an OpenAI-compatible answer, whole or in pieces: sets indexes, ids, names and argument texts.
// Must not depend on frames or finish reasons.
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import { answerBounds } from "../../domain/Limits.ts"
import type { Json } from "../../domain/text/json.ts"
import type { ToolCallDelta } from "../../wire/openai/ChatReply.ts"
import type { UpstreamCall } from "../../wire/openai/UpstreamChat.ts"
import { fieldNames, unreadFields } from "./rest.ts"

/** An open call; its position in the list is its index. */
export interface CallState {
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
export interface CallsState {
  readonly size: number
  readonly byPlace: HashMap.HashMap<number, CallState>
  /** The place of the last call with this number of the upstream's. */
  readonly byNumber: HashMap.HashMap<number, number>
  readonly ids: HashMap.HashMap<string, true>
  /** Calls without a name so far. */
  readonly nameless: number
}

export const noCalls: CallsState = {
  size: 0,
  byPlace: HashMap.empty(),
  byNumber: HashMap.empty(),
  ids: HashMap.empty(),
  nameless: 0
}

const callAt = ({ byPlace }: CallsState, place: number): CallState | undefined =>
  Option.getOrUndefined(HashMap.get(byPlace, place))

const isNameless = (call: CallState | undefined): number => (call?.named === false ? 1 : 0)

const withCall = (calls: CallsState, place: number, known: CallState | undefined, call: CallState): CallsState => ({
  size: known === undefined ? calls.size + 1 : calls.size,
  byPlace: HashMap.set(calls.byPlace, place, call),
  byNumber:
    known === undefined && call.from !== undefined ? HashMap.set(calls.byNumber, call.from, place) : calls.byNumber,
  ids: known === undefined ? HashMap.set(calls.ids, call.id, true) : calls.ids,
  nameless: calls.nameless - isNameless(known) + isNameless(call)
})

/** Reads the calls of one message or delta; `callId` replaces missing and repeated ids. */
export const readCallDeltas = (
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
    const known = callAt(calls, at)
    const next = known === undefined ? opened(calls, piece, callId) : continued(known, piece)
    const delta = deltaOf(at, next, known, piece)
    if (delta !== undefined) deltas.push(delta)
    if (next !== known) calls = withCall(calls, at, known, next)
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
export const hasNameless = ({ nameless }: CallsState): boolean => nameless > 0

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
  const known = callAt(calls, at)
  if (known === undefined) return calls.size
  const id = idOf(piece)
  const isNew = nameOf(piece) !== "" && (id === "" ? index === undefined : id !== known.given)
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

const continued = (known: CallState, piece: UpstreamCall): CallState => {
  const named = known.named || nameOf(piece) !== ""
  const begun = known.begun || argumentsOf(piece) !== ""
  return named === known.named && begun === known.begun ? known : { ...known, named, begun }
}

/** Signatures are dropped: they are never sent back to these upstreams. */
const callFields = fieldNames("index", "id", "type", "function", "extra_content")
const functionFields = fieldNames("name", "arguments", "thought_signature")

/** Id, type and name are sent with the first piece only; undefined when a later piece adds nothing. */
const deltaOf = (
  index: number,
  call: CallState,
  known: CallState | undefined,
  piece: UpstreamCall
): ToolCallDelta | undefined => {
  const rest = unreadFields(piece, callFields)
  const restOfFunction = piece.function ? unreadFields(piece.function, functionFields) : undefined
  const text = argumentsOf(piece)
  const name = known?.named === true ? "" : nameOf(piece)
  if (known === undefined) {
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
export const textOfArguments = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
