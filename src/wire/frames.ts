// Frames of server-sent events: parses network bytes into events, and renders events, pings and `[DONE]`.
// It must not know any dialect or what an event means.
import type * as Types from "effect/Types"

/** One dispatched event. `ended` is false when the input stopped before the blank line. */
export interface SseEvent {
  readonly _tag: "SseEvent"
  /** The `event:` field, `""` when there was none. */
  readonly event: string
  readonly data: string
  readonly ended: boolean
}

/**
 * The bytes are not valid UTF-8 (`unreadable`), or one event, the number of events, or what comes between two events
 * exceeds its limit. No event follows it.
 */
export interface FrameFault {
  readonly _tag: "FrameFault"
  readonly kind: "unreadable" | "too_large" | "too_many" | "silent"
}

export interface FrameLimits {
  /** Of one event, in UTF-16 units (never more than its bytes). */
  readonly eventBytes: number
  /** Events of the stream; without it any number. */
  readonly events?: number
  /** Comments, blank lines and fields without data between two events; without it any length. */
  readonly silentBytes?: number
}

export interface FrameState {
  /** `lines` reads SSE; `value` is inside bare JSON, which is an object or an array whose objects are events. */
  readonly mode: "start" | "lines" | "value" | "failed"
  /** The first bytes of an incomplete character, at most three. */
  readonly bytes: Uint8Array
  /**
   * The unfinished line or value. It grows by `+`, because V8 keeps such text as a rope and reads each character once.
   */
  readonly text: string
  /** A CR ended the last line; an LF right after it belongs to it. */
  readonly afterCr: boolean
  readonly event: string
  readonly data: string | undefined
  readonly inArray: boolean
  readonly depth: number
  readonly inString: boolean
  readonly escaped: boolean
  readonly events: number
  /** The length of what has come since the last event without being part of one. */
  readonly silent: number
}

type Output = SseEvent | FrameFault
/** A mutable copy of the state during one step, with the outputs of the step. */
interface Work extends Types.Mutable<FrameState> {
  readonly limits: FrameLimits
  readonly out: Array<Output>
}

const noBytes = new Uint8Array(0)

const start: FrameState = {
  mode: "start",
  bytes: noBytes,
  text: "",
  afterCr: false,
  event: "",
  data: undefined,
  inArray: false,
  depth: 0,
  inString: false,
  escaped: false,
  events: 0,
  silent: 0
}

/**
 * Parses network bytes into events, whatever the content type is. Lines are SSE (CRLF, LF or CR); a line that begins
 * with `{` or `[` where an event could begin is bare JSON. Google sends errors that way inside event streams, and a
 * JSON array where `alt=sse` was lost.
 */
export const sseEvents = (limits: FrameLimits): SseEvents => new SseEvents(limits)

/** A fold of bytes to events. A class: each open stream has one. */
class SseEvents {
  private readonly limits: FrameLimits

  constructor(limits: FrameLimits) {
    this.limits = limits
  }

  initial(): FrameState {
    return start
  }

  step(state: FrameState, chunk: Uint8Array): readonly [FrameState, ReadonlyArray<Output>] {
    if (state.mode === "failed") return [state, []]
    const work: Work = { ...state, limits: this.limits, out: [] }
    const text = decode(work, chunk)
    if (text !== undefined) read(work, text)
    return [stateOf(work), work.out]
  }

  onHalt(state: FrameState): ReadonlyArray<Output> {
    if (state.mode !== "lines") return []
    const work: Work = { ...state, limits: this.limits, out: [] }
    if (work.text !== "") readLine(work, work.text)
    dispatch(work, false)
    return work.out
  }
}

/** Copies field by field, because a rest pattern took 20 % of the CPU time of an event. */
const stateOf = ({
  afterCr,
  bytes,
  data,
  depth,
  escaped,
  event,
  events,
  inArray,
  inString,
  mode,
  silent,
  text
}: Work): FrameState => ({
  mode,
  bytes,
  text,
  afterCr,
  event,
  data,
  inArray,
  depth,
  inString,
  escaped,
  events,
  silent
})

/** Splits text of several JSON objects or arrays into the text of each; undefined for any other text. */
export const splitJson = (
  text: string
): { readonly values: ReadonlyArray<string>; readonly rest: boolean } | undefined => {
  const work: Work = { ...start, mode: "value", limits: { eventBytes: Number.MAX_SAFE_INTEGER }, out: [] }
  let at = 0
  for (; at < text.length;) {
    if (isBlank(text.charCodeAt(at))) {
      at++
      continue
    }
    work.mode = "value"
    at = readValue(work, text, at)
    if (work.out.at(-1)?._tag === "FrameFault") return undefined
  }
  const values: Array<string> = []
  for (const output of work.out) if (output._tag === "SseEvent") values.push(output.data)
  return { values, rest: work.mode === "value" }
}

/** Renders one SSE frame. `data` is usually one line of JSON; each line end in it becomes a further `data:` line. */
export const frame = (data: string, event?: string): string => {
  const lines = data.includes("\n") || data.includes("\r") ? data.split(/\r\n|\r|\n/).join("\ndata: ") : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event.replace(/[\r\n]/g, " ")}\ndata: ${lines}\n\n`
}

/** The end of every OpenAI stream that did not fail. */
export const doneFrame = "data: [DONE]\n\n"

/** An SSE comment. It keeps proxies from closing a silent connection, and clients skip it. */
export const pingFrame = ": ping\n\n"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Decodes all complete characters. The decoder keeps no state of its own, so the same state may be stepped twice. */
const decode = (work: Work, chunk: Uint8Array): string | undefined => {
  let bytes = chunk
  if (work.bytes.length > 0) {
    bytes = new Uint8Array(work.bytes.length + chunk.length)
    bytes.set(work.bytes)
    bytes.set(chunk, work.bytes.length)
  }
  const whole = bytes.length - unfinished(bytes)
  try {
    const text = decoder.decode(whole === bytes.length ? bytes : bytes.subarray(0, whole))
    work.bytes = whole === bytes.length ? noBytes : bytes.slice(whole)
    return text
  } catch {
    fail(work, "unreadable")
    return undefined
  }
}

/** How many bytes at the end belong to an incomplete character. */
const unfinished = (bytes: Uint8Array): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return size > back ? back : 0
  }
  return 0
}

const fail = (work: Work, kind: FrameFault["kind"]): void => {
  if (work.mode === "failed") return
  work.mode = "failed"
  work.text = ""
  work.data = undefined
  work.out.push({ _tag: "FrameFault", kind })
}

const read = (work: Work, text: string): void => {
  let at = 0
  if (work.mode === "start" && text !== "") {
    work.mode = "lines"
    if (text.charCodeAt(0) === 0xfeff) at = 1
  }
  while (at < text.length && work.mode !== "failed") {
    at = work.mode === "value" ? readValue(work, text, at) : readLines(work, text, at)
  }
}

/** Reads lines up to the end of the text or the beginning of bare JSON. */
const readLines = (work: Work, text: string, from: number): number => {
  let at = from
  let lf = text.indexOf("\n", at)
  let cr = text.indexOf("\r", at)
  while (at < text.length) {
    if (work.afterCr) {
      work.afterCr = false
      if (text.charCodeAt(at) === 0x0a) {
        at++
        continue
      }
    }
    if (work.text === "" && work.data === undefined) {
      const first = at
      while (isBlank(text.charCodeAt(at)) && at !== lf && at !== cr) at++
      if (at > first) skip(work, at - first)
      if (work.mode === "failed") return at
      if (isOpening(text.charCodeAt(at))) {
        work.mode = "value"
        return at
      }
    }
    if (lf !== -1 && lf < at) lf = text.indexOf("\n", at)
    if (cr !== -1 && cr < at) cr = text.indexOf("\r", at)
    const end = lf === -1 ? cr : cr === -1 ? lf : Math.min(lf, cr)
    if (end === -1) {
      keep(work, text.slice(at), work.data?.length ?? 0)
      return text.length
    }
    const line = work.text === "" ? text.slice(at, end) : work.text + text.slice(at, end)
    work.text = ""
    work.afterCr = end === cr
    at = end + 1
    readLine(work, line)
    if (work.mode === "failed") return at
  }
  return at
}

const keep = (work: Work, text: string, beside: number): void => {
  work.text = work.text === "" ? text : work.text + text
  if (work.text.length + beside > work.limits.eventBytes) fail(work, "too_large")
}

const readLine = (work: Work, line: string): void => {
  if (line === "") return dispatch(work, true)
  if (line.length + (work.data?.length ?? 0) > work.limits.eventBytes) return fail(work, "too_large")
  if (line.startsWith("data:")) {
    const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5)
    work.data = work.data === undefined ? value : `${work.data}\n${value}`
  } else if (line === "data") {
    work.data = work.data === undefined ? "" : `${work.data}\n`
  } else {
    skip(work, line.length + 1)
    if (line.startsWith("event:")) work.event = line.slice(line.charCodeAt(6) === 0x20 ? 7 : 6)
  }
}

/** Counts what is no part of an event. */
const skip = (work: Work, length: number): void => {
  work.silent += length
  if (work.silent > (work.limits.silentBytes ?? work.silent)) fail(work, "silent")
}

const emit = (work: Work, event: string, data: string, ended: boolean): void => {
  work.silent = 0
  if (++work.events > (work.limits.events ?? work.events)) fail(work, "too_many")
  else work.out.push({ _tag: "SseEvent", event, data, ended })
}

const dispatch = (work: Work, ended: boolean): void => {
  if (work.data === undefined) skip(work, 1)
  else emit(work, work.event, work.data, ended)
  work.data = undefined
  work.event = ""
}

const quote = 0x22
const backslash = 0x5c

/** Reads bare JSON by depth up to the end of the text, of the object, or of the array of objects. */
const readValue = (work: Work, text: string, from: number): number => {
  let begin = from
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (work.inString) {
      if (work.escaped) work.escaped = false
      else if (code === backslash) work.escaped = true
      else if (code === quote) work.inString = false
    } else if (work.depth === 0) {
      begin = at + 1
      if (work.inArray && code === 0x5d) return leave(work, at + 1)
      if (work.inArray && (code === 0x2c || isBlank(code))) {
        skip(work, 1)
        if (work.mode === "failed") return text.length
        continue
      }
      if (code === 0x5b && !work.inArray) work.inArray = true
      else if (isOpening(code)) {
        begin = at
        work.depth = 1
      } else {
        fail(work, "unreadable")
        return text.length
      }
    } else if (code === quote) work.inString = true
    else if (isOpening(code)) work.depth++
    else if (code === 0x7d || code === 0x5d) {
      if (--work.depth > 0) continue
      const data = work.text + text.slice(begin, at + 1)
      work.text = ""
      if (data.length > work.limits.eventBytes) {
        fail(work, "too_large")
        return text.length
      }
      emit(work, "", data, true)
      if (work.mode === "failed") return text.length
      begin = at + 1
      if (!work.inArray) return leave(work, at + 1)
    }
  }
  if (begin < text.length) keep(work, text.slice(begin), 0)
  return text.length
}

const leave = (work: Work, at: number): number => {
  work.mode = "lines"
  work.inArray = false
  return at
}

const isOpening = (code: number): boolean => code === 0x7b || code === 0x5b
const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
