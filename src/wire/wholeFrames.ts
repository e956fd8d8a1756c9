// Splits the bytes of an event stream after whole frames, for pass-through streams that keep their bytes.
// It must not know any dialect or what an event means.
import { joinBytes } from "./joinBytes.ts"
import { sseEvents } from "./frames.ts"

/** The bytes of one frame with its closing blank line, and the name of its event. */
export interface WholeFrame {
  readonly bytes: Uint8Array
  /** The `event:` field, `""` when there is none. */
  readonly event: string
}

/** The state of an unfinished frame: its bytes so far, and the position within a line. */
export interface WholeFrameState {
  readonly parts: ReadonlyArray<Uint8Array>
  readonly size: number
  /** No byte of a line has come since the last line end. */
  readonly isLineStart: boolean
  /** The last byte is a CR, which may be half of a line end. */
  readonly afterCr: boolean
}

export const noFrames: WholeFrameState = { parts: [], size: 0, isLineStart: true, afterCr: false }

const lf = 0x0a
const cr = 0x0d

/**
 * Returns all frames that end within `more`; lines end with LF, CRLF or CR. A frame closed by a CR at the end of `more`
 * waits for the next byte. Only a frame that came in several pieces is copied.
 */
export const wholeFrames = (
  state: WholeFrameState,
  more: Uint8Array
): readonly [WholeFrameState, ReadonlyArray<WholeFrame>] => {
  const frames: Array<WholeFrame> = []
  let { isLineStart, parts, size } = state
  let start = 0
  const close = (end: number) => {
    const own = more.subarray(start, end)
    const bytes = parts.length === 0 ? own : joinBytes([...parts, own])
    frames.push({ bytes, event: eventOf(bytes) })
    start = end
    parts = []
    size = 0
  }
  if (state.afterCr && more.length > 0 && more[0] !== lf) {
    if (isLineStart) close(0)
    isLineStart = true
  }
  let afterCr = state.afterCr && more.length === 0
  let nextLf = more.indexOf(lf)
  let nextCr = more.indexOf(cr)
  for (let at = 0; at < more.length; at++) {
    const byte = more[at]
    if (byte === cr) {
      afterCr = at + 1 === more.length
      if (afterCr || more[at + 1] === lf) continue
    }
    if (byte !== lf && byte !== cr) {
      isLineStart = false
      // The rest of the line is skipped by a search, which is faster than a look at each byte.
      if (nextLf !== -1 && nextLf < at) nextLf = more.indexOf(lf, at)
      if (nextCr !== -1 && nextCr < at) nextCr = more.indexOf(cr, at)
      const end = nextLf === -1 ? nextCr : nextCr === -1 ? nextLf : Math.min(nextLf, nextCr)
      if (end === -1) break
      at = end - 1
      continue
    }
    if (isLineStart) close(at + 1)
    isLineStart = true
  }
  const own = more.subarray(start)
  return [{ parts: own.length === 0 ? parts : [...parts, own], size: size + own.length, isLineStart, afterCr }, frames]
}

/** The bytes of the unfinished frame. */
export const unfinishedBytes = ({ parts }: WholeFrameState): Uint8Array => joinBytes(parts)

const field = new TextEncoder().encode("event:")
const decoder = new TextDecoder()

/** True for a frame of one line; such a frame has no `event:` line. */
const isOneLine = (frame: Uint8Array): boolean => {
  const firstLf = frame.indexOf(lf)
  const firstCr = frame.indexOf(cr)
  return firstLf >= frame.length - 3 && (firstCr === -1 || firstCr >= frame.length - 4)
}

/** The name of a frame's event. The `event:` line usually comes first, so the rest is not decoded. */
const eventOf = (frame: Uint8Array): string => {
  for (let at = 0; at < field.length; at++)
    if (frame[at] !== field[at]) return isOneLine(frame) ? "" : (readFrame(frame)?.event ?? "")
  let end = field.length
  while (frame[end] !== lf && frame[end] !== cr) end++
  return decoder.decode(frame.subarray(field.length, end)).trim()
}

/** The event of a whole frame; undefined for a comment, an empty frame, or bytes that are not valid UTF-8. */
export const readFrame = (frame: Uint8Array): { readonly event: string; readonly data: string } | undefined => {
  const framing = sseEvents({ eventBytes: frame.length })
  const event = framing.step(framing.initial(), frame)[1][0]
  return event?._tag === "SseEvent" ? event : undefined
}
