// Cuts network bytes after whole frames of an event stream, or after whole elements of a JSON array, and keeps them as they are.
// It must not know any dialect, or what a frame or an element means.
import { sseEvents } from "./frames.ts"
import { appendBytes, type GrownList, wholeBytes } from "./grownList.ts"

/** A range of the bytes of one read. A view of them is made when it is asked for: most ranges pass as a part of a run. */
export class ByteRange {
  readonly source: Uint8Array
  readonly from: number
  readonly to: number

  constructor(source: Uint8Array, from: number = 0, to: number = source.length) {
    this.source = source
    this.from = from
    this.to = to
  }

  get length(): number {
    return this.to - this.from
  }

  get bytes(): Uint8Array {
    return this.length === this.source.length ? this.source : this.source.subarray(this.from, this.to)
  }
}

/** True where `next` begins in memory at the end of `last`. */
const follows = (last: ByteRange, next: ByteRange): boolean =>
  last.source === next.source
    ? last.to === next.from
    : last.source.buffer === next.source.buffer &&
      last.source.byteOffset + last.to === next.source.byteOffset + next.from

const viewOf = ({ source, from }: ByteRange, length: number): Uint8Array =>
  new Uint8Array(source.buffer, source.byteOffset + from, length)

/** The bytes of ranges in their order, in one piece for those that follow each other in memory. Nothing is copied. */
export const joinRanges = (ranges: ReadonlyArray<ByteRange>): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let [first] = ranges
  if (first === undefined) return pieces
  let last = first
  let length = 0
  for (const range of ranges) {
    if (length > 0 && !follows(last, range)) {
      pieces.push(viewOf(first, length))
      first = range
      length = 0
    }
    length += range.length
    last = range
  }
  pieces.push(viewOf(first, length))
  return pieces
}

// Splits the bytes of an event stream after whole frames, for pass-through streams that keep their bytes.

/** One frame with its closing blank line. */
export class WholeFrame extends ByteRange {
  /** The characters of `source`, one for each byte. */
  readonly text: string
  /** Such a frame has no `event:` line in front of its data. */
  readonly isOneLine: boolean
  /** The `event:` field, `""` when there is none. */
  readonly event: string

  constructor(source: Uint8Array, from: number, to: number, text: string, isOneLine: boolean) {
    super(source, from, to)
    this.text = text
    this.isOneLine = isOneLine
    this.event = eventIn(this)
  }
}

/** The state of an unfinished frame: its bytes so far, and the position within a line. */
export interface WholeFrameState {
  readonly parts: GrownList<Uint8Array>
  readonly size: number
  /** How many lines of the frame have a byte. */
  readonly lines: number
  /** No byte of a line has come since the last line end. */
  readonly isLineStart: boolean
  /** The last byte is a CR, which may be half of a line end. */
  readonly afterCr: boolean
}

export const noFrames: WholeFrameState = { parts: undefined, size: 0, lines: 0, isLineStart: true, afterCr: false }

const lf = 0x0a
const cr = 0x0d

/** V8 searches and compares text within itself; each search of bytes is a call into Node. */
const charactersOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")

/**
 * Returns all frames that end within `more`; lines end with LF, CRLF or CR. A frame closed by a CR at the end of `more`
 * waits for the next byte. Only a frame that came in several pieces is copied.
 */
export const wholeFrames = (
  state: WholeFrameState,
  more: Uint8Array
): readonly [WholeFrameState, ReadonlyArray<WholeFrame>] => {
  const text = charactersOf(more)
  const frames: Array<WholeFrame> = []
  let { isLineStart, lines, parts, size } = state
  let start = 0
  const close = (end: number) => {
    if (parts === undefined) frames.push(new WholeFrame(more, start, end, text, lines < 2))
    else {
      const bytes = wholeBytes(parts, more.subarray(start, end))
      frames.push(new WholeFrame(bytes, 0, bytes.length, charactersOf(bytes), lines < 2))
    }
    start = end
    parts = undefined
    size = 0
    lines = 0
  }
  if (state.afterCr && more.length > 0 && more[0] !== lf) {
    if (isLineStart) close(0)
    isLineStart = true
  }
  let afterCr = state.afterCr && more.length === 0
  let nextLf = text.indexOf("\n")
  let nextCr = text.indexOf("\r")
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === cr) {
      afterCr = at + 1 === text.length
      if (afterCr || text.charCodeAt(at + 1) === lf) continue
    }
    if (code !== lf && code !== cr) {
      if (isLineStart) lines++
      isLineStart = false
      // The rest of the line is skipped by a search, which is faster than a look at each byte.
      if (nextLf !== -1 && nextLf < at) nextLf = text.indexOf("\n", at)
      if (nextCr !== -1 && nextCr < at) nextCr = text.indexOf("\r", at)
      const end = nextLf === -1 ? nextCr : nextCr === -1 ? nextLf : Math.min(nextLf, nextCr)
      if (end === -1) break
      at = end - 1
      continue
    }
    if (isLineStart) close(at + 1)
    isLineStart = true
  }
  const rest = more.subarray(start)
  return [{ parts: appendBytes(parts, rest), size: size + rest.length, lines, isLineStart, afterCr }, frames]
}

/** The bytes of the unfinished frame. */
export const unfinishedBytes = ({ parts }: WholeFrameState): Uint8Array => wholeBytes(parts)

const field = "event:"
const blank = 0x20
const decoder = new TextDecoder()

/** The name of a frame's event. The `event:` line usually comes first, so the rest is not read. */
const eventIn = ({ from, isOneLine, source, text, to }: WholeFrame): string => {
  if (!text.startsWith(field, from)) return isOneLine ? "" : (readFrame(source.subarray(from, to))?.event ?? "")
  const start = from + (text.charCodeAt(from + field.length) === blank ? field.length + 1 : field.length)
  let end = start
  let bits = 0
  for (let code = text.charCodeAt(end); code !== lf && code !== cr; code = text.charCodeAt(++end)) bits |= code
  const isPlain = bits < 0x80 && text.charCodeAt(start) > blank && text.charCodeAt(end - 1) > blank
  return isPlain ? text.slice(start, end) : decoder.decode(source.subarray(start, end)).trim()
}

/** The event of a whole frame; undefined for a comment, an empty frame, or bytes that are not valid UTF-8. */
export const readFrame = (frame: Uint8Array): { readonly event: string; readonly data: string } | undefined => {
  const framing = sseEvents({ eventBytes: frame.length })
  const event = framing.step(framing.initial(), frame)[1][0]
  return event?._tag === "SseEvent" ? event : undefined
}

// Network bytes of a JSON array, or of one object, cut after whole elements, for streams that pass byte by byte.

/** The bytes up to the end of one element, what stands before it included. */
export interface WholeElement {
  readonly bytes: Uint8Array
  /** The position of the element's opening brace; undefined for the end of the array. */
  readonly open: number | undefined
}

/** An element that has not ended: its bytes, and where in the grammar they stop. */
export interface WholeElementState {
  readonly parts: GrownList<Uint8Array>
  readonly size: number
  /** The position of the element's opening brace in the parts; undefined before it. */
  readonly open: number | undefined
  /** Open braces and brackets, that of the array included. */
  readonly depth: number
  readonly inArray: boolean
  readonly inString: boolean
  readonly escaped: boolean
  /** The array's bracket, or the only object, has closed. */
  readonly closed: boolean
}

export const noElements: WholeElementState = {
  parts: undefined,
  size: 0,
  open: undefined,
  depth: 0,
  inArray: false,
  inString: false,
  escaped: false,
  closed: false
}

const quote = 0x22
const backslash = 0x5c

/** The bytes of what has not ended. */
export const restOfElements = ({ parts }: WholeElementState): Uint8Array => wholeBytes(parts)

/** The index of the byte that ends the string the walk is in, or the length; and whether an escape is open there. */
const stringEnd = (more: Uint8Array, from: number, escaped: boolean): readonly [at: number, escaped: boolean] => {
  let isEscaped = escaped
  let next = from - 1
  for (let at = from; at < more.length; at++) {
    if (isEscaped) isEscaped = false
    else if (more[at] === quote) return [at, false]
    else if (more[at] === backslash) isEscaped = true
    else {
      // Base64 of media has neither: skip to what may end the string.
      if (next < at) {
        next = more.indexOf(quote, at)
        if (next < 0) next = more.length
      }
      const slash = more.subarray(at, next).indexOf(backslash)
      at = (slash < 0 ? next : at + slash) - 1
    }
  }
  return [more.length, isEscaped]
}

/** All elements that end within `more`. Bytes after the end of the array come out with what closes it. */
export const wholeElements = (
  state: WholeElementState,
  more: Uint8Array
): readonly [WholeElementState, ReadonlyArray<WholeElement>] => {
  const elements: Array<WholeElement> = []
  let { closed, depth, escaped, inArray, inString, open, parts, size } = state
  let start = 0
  const cut = (end: number) => {
    const rest = more.subarray(start, end)
    elements.push({ bytes: wholeBytes(parts, rest), open })
    start = end
    parts = undefined
    size = 0
    open = undefined
  }
  for (let at = 0; at < more.length; at++) {
    if (inString) {
      ;[at, escaped] = stringEnd(more, at, escaped)
      inString = at >= more.length
      continue
    }
    const byte = more[at]
    if (byte === quote) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (depth === 0 && byte === 0x5b && !inArray && !closed) inArray = true
      else if (depth === (inArray ? 1 : 0)) open ??= size + at - start
      depth++
    } else if (byte === 0x7d || byte === 0x5d) {
      depth = Math.max(0, depth - 1)
      if (inArray && depth === 0) {
        closed = true
        inArray = false
        cut(at + 1)
      } else if (depth === (inArray ? 1 : 0) && open !== undefined) {
        closed = !inArray
        cut(at + 1)
      }
    }
  }
  const rest = more.subarray(start)
  const next = { open, depth, inArray, inString, escaped, closed }
  if (!closed || rest.length === 0)
    return [{ ...next, parts: appendBytes(parts, rest), size: size + rest.length }, elements]
  cut(more.length)
  return [{ ...next, parts: undefined, size: 0, open: undefined }, elements]
}
