// Appends to a text that grows by many small pieces, with bounded memory in V8.
// It must not know what the text contains.

const leastStep = 4096
/** Matching a pattern makes V8 flatten the text first. This pattern stops at the first character. */
const none = /^\uffff/

/**
 * Returns `text + piece`. V8 stores a concatenated text as its pieces, about 65 bytes each, until the text is read.
 * 8,000 short pieces took 500 KiB; they take 135 KiB when the text is read each time it has grown by an eighth.
 */
export const appendPiece = (text: string, piece: string): string => {
  const whole = text + piece
  const step = Math.max(leastStep, 2 ** (28 - Math.clz32(text.length)))
  if (Math.floor(text.length / step) !== Math.floor(whole.length / step)) none.test(whole)
  return whole
}
