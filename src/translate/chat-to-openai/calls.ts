// Reads tool calls of an OpenAI-compatible answer, whole or in pieces: sets indexes, ids, names and argument texts.
// Must not depend on frames or finish reasons.
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

export const noCalls: ReadonlyArray<CallState> = []

/** Reads the calls of one message or delta; `callId` replaces missing and repeated ids. */
export const readCallDeltas = (
  before: ReadonlyArray<CallState>,
  pieces: ReadonlyArray<UpstreamCall>,
  whole: boolean,
  callId: () => string
): readonly [ReadonlyArray<CallState>, ReadonlyArray<ToolCallDelta>] => {
  let calls = before
  const deltas: Array<ToolCallDelta> = []
  for (const piece of pieces) {
    const at = whole ? calls.length : placeOf(calls, piece)
    const known = calls[at]
    const next = known === undefined ? opened(calls, piece, callId) : continued(known, piece)
    const delta = deltaOf(at, next, known, piece)
    if (delta !== undefined) deltas.push(delta)
    if (next !== known) calls = known === undefined ? [...calls, next] : calls.with(at, next)
  }
  return [calls, deltas]
}

/** Clients parse arguments: a call without any gets the text of an empty object. */
export const closeCalls = (calls: ReadonlyArray<CallState>): ReadonlyArray<ToolCallDelta> =>
  calls.flatMap((call, index) => (call.begun ? [] : [{ index, function: { arguments: "{}" } }]))

/** True when one of the finished calls has no name. */
export const hasNameless = (calls: ReadonlyArray<CallState>): boolean => calls.some(({ named }) => !named)

const idOf = ({ id }: UpstreamCall): string => (typeof id === "string" ? id : "")
const nameOf = (piece: UpstreamCall): string => piece.function?.name ?? ""

/**
 * Finds the call of a piece, or the position after the last call. Some servers number every call 0, others send no
 * numbers; then a named piece with another id starts a new call.
 */
const placeOf = (calls: ReadonlyArray<CallState>, piece: UpstreamCall): number => {
  const index = piece.index ?? undefined
  const at = index === undefined ? calls.length - 1 : calls.findLastIndex(({ from }) => from === index)
  const known = calls[at]
  if (known === undefined) return calls.length
  const id = idOf(piece)
  const isNew = nameOf(piece) !== "" && (id === "" ? index === undefined : id !== known.given)
  return isNew ? calls.length : at
}

const opened = (calls: ReadonlyArray<CallState>, piece: UpstreamCall, callId: () => string): CallState => {
  const given = idOf(piece)
  const taken = given === "" || calls.some(({ id }) => id === given)
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
