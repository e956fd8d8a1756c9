// Joins pieces of network bytes into one array.
// It must not know what the bytes mean.
import { grow, type GrownList, itemsOf } from "./grownList.ts"

/** A single piece is returned as it is, without a copy. */
export const joinBytes = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = pieces
  if (only !== undefined && pieces.length === 1) return only
  let size = 0
  for (const piece of pieces) size += piece.length
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Pieces of at least this size stay apart until the end; smaller ones are joined with the piece before. */
const smallPiece = 16 * 1024

/**
 * Appends to pieces that wait for more. Small pieces are joined in pairs of about the same size, so that a byte is copied
 * at most 15 times, and a view of a single byte, which takes 200 bytes, does not wait.
 */
export const appendBytes = (pieces: GrownList<Uint8Array>, more: Uint8Array): GrownList<Uint8Array> => {
  if (more.length === 0) return pieces
  let rest = pieces
  let last = more
  for (; rest !== undefined && isJoined(rest.last, last, smallPiece); rest = rest.before)
    last = joinBytes([rest.last, last])
  return grow(rest, last)
}

/** Most pieces of a network read are larger, and pass without a copy. */
const tinyPiece = 256

/** Adds to pieces that wait for their reader. A chunk of one byte takes a step of each stage, unless it is joined. */
export const pushBytes = (pieces: Array<Uint8Array>, more: Uint8Array): void => {
  let last = more
  for (let at = pieces.at(-1); at !== undefined && isJoined(at, last, tinyPiece); at = pieces.at(-1)) {
    last = joinBytes([at, last])
    pieces.pop()
  }
  pieces.push(last)
}

const isJoined = (before: Uint8Array, last: Uint8Array, most: number): boolean =>
  before.length <= last.length && last.length < most

/** The bytes of all pieces, and of `more` after them. */
export const wholeBytes = (pieces: GrownList<Uint8Array>, more?: Uint8Array): Uint8Array => {
  if (more === undefined) return joinBytes(itemsOf(pieces))
  return pieces === undefined ? more : joinBytes([...itemsOf(pieces), more])
}
