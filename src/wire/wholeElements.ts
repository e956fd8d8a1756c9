// Network bytes of a JSON array, or of one object, cut after whole elements, for streams that pass byte by byte.
// It must not know any dialect or what an element means. SSE has `wholeFrames`.
import type { GrownList } from "./grownList.ts"
import { appendBytes, wholeBytes } from "./joinBytes.ts"

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
    const own = more.subarray(start, end)
    elements.push({ bytes: wholeBytes(parts, own), open })
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
  const own = more.subarray(start)
  const next = { open, depth, inArray, inString, escaped, closed }
  if (!closed || own.length === 0)
    return [{ ...next, parts: appendBytes(parts, own), size: size + own.length }, elements]
  cut(more.length)
  return [{ ...next, parts: undefined, size: 0, open: undefined }, elements]
}
