// Streams of Gemini as their own bytes, server-sent events or a JSON array, with counts and finish read while they pass.
// It must not know HTTP of our own side. Rules: N402-N407, N1103.
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import { answerBounds } from "../../domain/Limits.ts"
import type { Reason } from "../../domain/ProviderError.ts"
import { isJsonObject, type Json, type JsonObject, parseJsonText } from "../../domain/text/json.ts"
import type { Redaction } from "../../domain/text/redaction.ts"
import { grow, type GrownList, itemsOf, joinBytes } from "../../wire/grownList.ts"
import {
  ByteRange,
  joinRanges,
  noElements,
  noFrames,
  readFrame,
  restOfElements,
  unfinishedBytes,
  type WholeElement,
  wholeElements,
  type WholeElementState,
  type WholeFrame,
  wholeFrames,
  type WholeFrameState
} from "../../wire/wholeFrames.ts"
import { readModelStatus } from "../shared/gemini.ts"
import { cutAnswer, largeEvent, tooManyEvents, tooSilent, unreadableEvent } from "../shared/reply/upstreamError.ts"
import { geminiUsage, mergeUsage, withSearches } from "../shared/reply/usage.ts"
import { type Fold, type StreamFailed, streamFailed } from "../Translator.ts"
import { failureInsideNative, shownStatus } from "./nativeFailure.ts"
import { type NativeEvent, readNativeEvent } from "./nativeReply.ts"

export interface NativeStreamState {
  /** Undefined until the first byte that is no blank has come. */
  readonly framing: "sse" | "array" | undefined
  readonly frames: WholeFrameState
  readonly elements: WholeElementState
  /** The array's bracket has closed: no event counts after it. */
  readonly isClosed: boolean
  /** What has come before the first event, which may be an error and so an HTTP status; and what closes the array. */
  readonly waiting: GrownList<ByteRange>
  readonly waitingBytes: number
  readonly begun: boolean
  /** `ended` has seen the upstream's own error; nothing is owed after it. */
  readonly phase: "open" | "ended" | "failed"
  readonly usage: JsonObject | undefined
  /** The most that an event has counted: grounding is repeated whole. */
  readonly searches: number
  readonly modelStatus: JsonObject | undefined
  readonly isFinished: boolean
  /** Bytes of the answer without the JSON around them. */
  readonly written: number
  readonly hasMedia: boolean
  readonly events: number
  /** Bytes of comments since the last event. */
  readonly silentBytes: number
}

const start: NativeStreamState = {
  framing: undefined,
  frames: noFrames,
  elements: noElements,
  isClosed: false,
  waiting: undefined,
  waitingBytes: 0,
  begun: false,
  phase: "open",
  usage: undefined,
  searches: 0,
  modelStatus: undefined,
  isFinished: false,
  written: 0,
  hasMedia: false,
  events: 0,
  silentBytes: 0
}

/** A piece that goes on as it came, with what it means. */
interface Piece {
  readonly range: ByteRange
  /** Undefined for comments, marks and what closes an array. */
  readonly event: NativeEvent | undefined
  readonly isClosing: boolean
  /** An element that is no object, or that does not follow the bracket or a comma: no client could read it. */
  readonly isStray?: boolean
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

const arrayEnd = new ByteRange(encoder.encode("]"))
const comma = encoder.encode(",")

const lf = 0x0a
const cr = 0x0d
const brace = 0x7b
const bracket = 0x5b

/** Where the JSON of a frame's only data line begins; undefined for a frame of another form. */
const openingOf = ({ from, isOneLine, text, to }: WholeFrame): number | undefined => {
  if (!isOneLine || !text.startsWith("data:", from)) return undefined
  const open = text.indexOf("{", from)
  return open < 0 || open >= to ? undefined : open
}

/** The text of several data lines is put together first. */
const frameEvent = (frame: WholeFrame): NativeEvent | undefined => {
  const open = openingOf(frame)
  const { bytes } = frame
  if (open !== undefined) return readNativeEvent(bytes, open - frame.from)
  if (!bytes.includes(brace)) return undefined
  const data = readFrame(bytes)?.data
  if (data === undefined || !data.trimStart().startsWith("{")) return undefined
  const text = encoder.encode(data)
  return readNativeEvent(text, text.indexOf(brace))
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === lf || byte === cr

/** The framing by the first byte that is no blank, whatever the content type is: a proxy may lose `alt=sse`. */
const framingOf = (bytes: Uint8Array): NativeStreamState["framing"] => {
  for (const byte of bytes) {
    if (!isBlank(byte)) return byte === bracket || byte === brace ? "array" : "sse"
  }
  return undefined
}

const framePiece = (frame: WholeFrame): Piece => ({ range: frame, event: frameEvent(frame), isClosing: false })

/** Whether nothing but this byte and blanks stands before an element. */
const follows = (bytes: Uint8Array, open: number, separator: number | undefined): boolean => {
  let count = 0
  for (let at = 0; at < open; at++) {
    if (isBlank(bytes[at])) continue
    if (bytes[at] !== separator) return false
    count++
  }
  return count === 1
}

const elementPiece = ({ bytes, open }: WholeElement, isFirst: boolean): Piece => {
  if (open === undefined) return { range: new ByteRange(bytes), event: undefined, isClosing: true }
  const event = readNativeEvent(bytes, open)
  const isStray = bytes[open] !== brace || !follows(bytes, open, isFirst ? bracket : comma[0])
  // An error counts wherever it stands, and is put in its place.
  return isStray && event.error !== undefined
    ? { range: new ByteRange(joinBytes([comma, bytes.subarray(open)])), event, isClosing: false }
    : { range: new ByteRange(bytes), event, isClosing: false, isStray }
}

/** The elements of one read. What follows the end of the array is dropped, but for blanks. */
const elementPieces = (
  { begun, isClosed: wasClosed }: NativeStreamState,
  elements: ReadonlyArray<WholeElement>
): readonly [isClosed: boolean, ReadonlyArray<Piece>] => {
  let isClosed = wasClosed
  let isFirst = !begun
  const out: Array<Piece> = []
  for (const element of elements) {
    if (isClosed && !element.bytes.every(isBlank)) continue
    const piece = elementPiece(element, isFirst)
    isClosed ||= piece.isClosing
    isFirst = false
    out.push(piece)
  }
  return [isClosed, out]
}

type Cut = readonly [Pick<NativeStreamState, "framing" | "frames" | "elements" | "isClosed">, ReadonlyArray<Piece>]

const pieces = (state: NativeStreamState, chunk: Uint8Array): Cut => {
  const framing = state.framing ?? framingOf(chunk)
  if (framing === "array") {
    const [elements, whole] = wholeElements(state.elements, chunk)
    const [isClosed, read] = elementPieces(state, whole)
    return [{ framing, frames: state.frames, elements, isClosed }, read]
  }
  const [frames, whole] = wholeFrames(state.frames, chunk)
  return [{ framing, frames, elements: state.elements, isClosed: state.isClosed }, whole.map(framePiece)]
}

/** The upstream's error without what must not be shown; the same bytes where nothing of that is in it. */
const shownError = (range: ByteRange, error: JsonObject, framing: "sse" | "array", redaction: Redaction): ByteRange => {
  const shown = shownStatus(error, redaction)
  if (JSON.stringify(shown) === JSON.stringify(error)) return range
  const text = JSON.stringify({ error: shown })
  const { bytes } = range
  const before = framing === "sse" ? "data: " : decoder.decode(bytes.subarray(0, bytes.indexOf(brace)))
  return new ByteRange(encoder.encode(before + text + (framing === "sse" ? "\r\n\r\n" : "")))
}

/** What never became a whole frame: the last event without its blank line, or an error as bare JSON between frames. */
const restEvent = ({ framing, frames }: NativeStreamState): { bytes: Uint8Array; event: NativeEvent | undefined } => {
  const none = { bytes: encoder.encode(""), event: undefined }
  if (framing !== "sse" || frames.size === 0) return none
  const bytes = unfinishedBytes(frames)
  const text = decoder.decode(bytes)
  const isData = text.startsWith("data:")
  if (!isJsonObject(Result.getOrElse(parseJsonText(text.slice(isData ? 5 : 0).trim()), () => null))) return none
  const event = readNativeEvent(bytes, bytes.indexOf(brace))
  return isData || event.error !== undefined ? { bytes, event } : none
}

/** Bytes that have not gone out yet are bounded. */
const bytesWaiting = ({ elements, frames, waitingBytes }: NativeStreamState): number =>
  frames.size + elements.size + waitingBytes

const excess = (state: NativeStreamState, eventBytes: number): Reason | undefined =>
  bytesWaiting(state) > eventBytes
    ? largeEvent
    : state.events > answerBounds.events
      ? tooManyEvents
      : state.silentBytes > answerBounds.silentBytes
        ? tooSilent
        : undefined

/** What is kept of an event that has passed. */
const readInto = (state: Types.Mutable<NativeStreamState>, event: NativeEvent): void => {
  state.begun = true
  state.isFinished ||= event.isFinished
  if (event.modelStatus !== undefined) state.modelStatus = event.modelStatus
  if (event.usage !== undefined) state.usage = mergeUsage(state.usage, event.usage)
  state.searches = Math.max(state.searches, event.searches)
  state.written += event.output.bytes
  state.hasMedia ||= event.output.hasMedia
}

export const nativeStream = (
  limits: { readonly eventBytes: number },
  redaction: Redaction
): Fold<NativeStreamState, Uint8Array, Uint8Array | StreamFailed> => ({
  initial: () => start,
  step: (before, chunk) => {
    if (before.phase !== "open") return [before, []]
    const [cut, read] = pieces(before, chunk)
    const state: Types.Mutable<NativeStreamState> = { ...before, ...cut }
    const run: Array<ByteRange> = []
    for (const { event, isClosing, isStray, range } of read) {
      const error = event?.error
      if (error !== undefined && !state.begun)
        return [
          { ...state, waiting: undefined, phase: "failed" },
          [streamFailed(failureInsideNative(error, redaction))]
        ]
      if (isStray === true)
        return [{ ...state, waiting: undefined, phase: "failed" }, [...joinRanges(run), streamFailed(unreadableEvent)]]
      if (event === undefined) state.silentBytes += range.length
      else {
        state.silentBytes = 0
        state.events++
      }
      // What closes the array waits for the upstream's end, so that an error until then is an element too.
      if (isClosing || (event === undefined && !state.begun)) {
        state.waiting = grow(state.waiting, range)
        state.waitingBytes += range.length
        continue
      }
      if (event !== undefined) readInto(state, event)
      if (state.waiting !== undefined) {
        for (const before of itemsOf(state.waiting)) run.push(before)
        state.waiting = undefined
        state.waitingBytes = 0
      }
      run.push(error === undefined ? range : shownError(range, error, cut.framing ?? "sse", redaction))
      // Nothing is read after an error, so what closes its array does not come.
      if (error !== undefined)
        return [{ ...state, phase: "ended" }, joinRanges(cut.framing === "array" ? [...run, arrayEnd] : run)]
    }
    const fault = excess(state, limits.eventBytes)
    return fault === undefined
      ? [state, joinRanges(run)]
      : [
          { ...state, frames: noFrames, elements: noElements, phase: "failed" },
          [...joinRanges(run), streamFailed(fault)]
        ]
  },
  onHalt: (state) => haltOf(state, redaction),
  usage: (state) => {
    const { event } = state.phase === "open" ? restEvent(state) : { event: undefined }
    const usage = event?.usage === undefined ? state.usage : mergeUsage(state.usage, event.usage)
    const searches = Math.max(state.searches, event?.searches ?? 0)
    return usage === undefined ? undefined : withSearches(geminiUsage(usage), searches)
  },
  progress: ({ hasMedia, isFinished, modelStatus, written }) => ({
    isCounted: isFinished,
    characters: written,
    ...(hasMedia ? { hasMedia } : {}),
    ...(modelStatus === undefined ? {} : { modelStatus: readModelStatus(modelStatus) })
  })
})

/** What is left to send when the upstream has ended. */
const haltOf = (state: NativeStreamState, redaction: Redaction): ReadonlyArray<Uint8Array | StreamFailed> => {
  if (state.phase !== "open") return []
  const { bytes, event } = restEvent(state)
  const array = state.framing === "array" ? bareError(restOfElements(state.elements)) : undefined
  const error = event?.error ?? array
  if (error !== undefined) return [streamFailed(failureInsideNative(error, redaction))]
  const isWhole = state.framing === "array" ? state.isFinished && state.isClosed : state.isFinished
  // An event without its blank line would take the error's line into itself, so it does not pass before one.
  if (!isWhole && event?.isFinished !== true) return [streamFailed(cutAnswer)]
  const waiting = itemsOf(state.waiting).map((range) => range.bytes)
  return bytes.length === 0 ? waiting : [...waiting, bytes]
}

/** An error that is the whole of an answer without an array around it. */
const bareError = (bytes: Uint8Array): JsonObject | undefined => {
  const value: Json = Result.getOrElse(parseJsonText(decoder.decode(bytes)), () => null)
  const holder: Json | undefined = Array.isArray(value) ? value[0] : value
  return isJsonObject(holder) && isJsonObject(holder["error"]) ? holder["error"] : undefined
}

/** Whether the next line begins an event of its own. */
const endsEvent = (bytes: Uint8Array): boolean =>
  /[\r\n]{2}$/.test(decoder.decode(bytes.subarray(-4)).replaceAll("\r\n", "\n"))

/** The text that ends a stream with an error of the gateway's; `last` is the end of what has gone out. */
export const failureText = (framing: "sse" | "array", status: string, last: Uint8Array | undefined): string => {
  if (framing === "array") return `${last === undefined ? "[" : ","}${status}]`
  return `${last === undefined || endsEvent(last) ? "" : "\r\n\r\n"}data: ${status}\r\n\r\n`
}
