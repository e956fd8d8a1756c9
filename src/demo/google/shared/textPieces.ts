// Cuts text into the pieces that a stream sends.
// Must not depend on how a family frames its stream.

const charactersPerChunk = 24

/** Cuts text after white space into pieces of about six tokens; never inside a surrogate pair. */
export const textPieces = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece = ""
  for (const word of text.match(/\S*\s*/gu) ?? []) {
    if (piece !== "" && piece.length + word.length > charactersPerChunk) {
      pieces.push(piece)
      piece = ""
    }
    piece += word
  }
  return piece === "" ? pieces : [...pieces, piece]
}
