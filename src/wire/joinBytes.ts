// Joins pieces of network bytes into one array.
// It must not know what the bytes mean.

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
