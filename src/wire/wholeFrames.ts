// Splits the bytes of an event stream after whole frames, for pass-through streams that keep their bytes.
// It must not know any dialect or what an event means.
import { ByteRange } from "./ByteRange.ts"
import { sseEvents } from "./frames.ts"
import type { GrownList } from "./grownList.ts"
import { appendBytes, wholeBytes } from "./joinBytes.ts"

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
  const own = more.subarray(start)
  return [{ parts: appendBytes(parts, own), size: size + own.length, lines, isLineStart, afterCr }, frames]
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
