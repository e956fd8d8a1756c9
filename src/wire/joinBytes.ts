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
  while (rest !== undefined && rest.last.length <= last.length && rest.last.length < smallPiece) {
    last = joinBytes([rest.last, last])
    rest = rest.before
  }
  return grow(rest, last)
}

/** The bytes of all pieces, and of `more` after them. */
export const wholeBytes = (pieces: GrownList<Uint8Array>, more?: Uint8Array): Uint8Array => {
  if (more === undefined) return joinBytes(itemsOf(pieces))
  return pieces === undefined ? more : joinBytes([...itemsOf(pieces), more])
}
