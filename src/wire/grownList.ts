// What grows while a stream is read, without copies: lists, texts of many small pieces, and network bytes.
// It must not know what the items mean.

/** Linked backwards. A fold keeps such lists in its state; a copy for each item would take quadratic time. */
export type GrownList<A> = Grown<A> | undefined

interface Grown<A> {
  readonly last: A
  readonly before: GrownList<A>
  readonly size: number
}

export const grow = <A>(list: GrownList<A>, item: A): GrownList<A> => ({
  last: item,
  before: list,
  size: sizeOf(list) + 1
})

export const growBy = <A>(list: GrownList<A>, items: Iterable<A>): GrownList<A> => {
  let grown = list
  for (const item of items) grown = grow(grown, item)
  return grown
}

/** The list with another last item. */
export const withLast = <A>(list: GrownList<A>, item: A): GrownList<A> => grow(list?.before, item)

export const sizeOf = (list: GrownList<unknown>): number => (list === undefined ? 0 : list.size)

/** All items, the first one first. Takes as many steps as there are items, so it is for the end of a reading. */
export const itemsOf = <A>(list: GrownList<A>): ReadonlyArray<A> => {
  if (list === undefined) return []
  const items: Array<A> = []
  for (let at: GrownList<A> = list; at !== undefined; at = at.before) items.push(at.last)
  return items.toReversed()
}

// Appends to a text that grows by many small pieces, with bounded memory in V8.

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

// Joins pieces of network bytes into one array.

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
