// Texts that grow piece by piece for as long as an answer does.
// It must not know whose text it is.

const leastStep = 4096
/** What is matched against a pattern is made one text first. This one looks at the first character alone. */
const none = /^\uffff/

/**
 * `text` and then `piece`. V8 keeps a text that was put together as all its pieces, at about 65 bytes each, until somebody
 * reads it; 8,000 short pieces took 500 KiB, and take 135 when it is read now and then. So it is, each time it
 * has grown by an eighth.
 */
export const grown = (text: string, piece: string): string => {
  const whole = text + piece
  const step = Math.max(leastStep, 2 ** (28 - Math.clz32(text.length)))
  if (Math.floor(text.length / step) !== Math.floor(whole.length / step)) none.test(whole)
  return whole
}
