// A range of network bytes that passes unchanged, and the joining of ranges that stand next to each other.
// It must not know what the bytes mean.

/** A range of the bytes of one read. A view of them is made when it is asked for: most ranges pass as a part of a run. */
export class ByteRange {
  readonly source: Uint8Array
  readonly from: number
  readonly to: number

  constructor(source: Uint8Array, from: number = 0, to: number = source.length) {
    this.source = source
    this.from = from
    this.to = to
  }

  get length(): number {
    return this.to - this.from
  }

  get bytes(): Uint8Array {
    return this.length === this.source.length ? this.source : this.source.subarray(this.from, this.to)
  }
}

/** True where `next` begins in memory at the end of `last`. */
const follows = (last: ByteRange, next: ByteRange): boolean =>
  last.source === next.source
    ? last.to === next.from
    : last.source.buffer === next.source.buffer &&
      last.source.byteOffset + last.to === next.source.byteOffset + next.from

const viewOf = ({ source, from }: ByteRange, length: number): Uint8Array =>
  new Uint8Array(source.buffer, source.byteOffset + from, length)

/** The bytes of ranges in their order, in one piece for those that follow each other in memory. Nothing is copied. */
export const joinRanges = (ranges: ReadonlyArray<ByteRange>): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let [first] = ranges
  if (first === undefined) return pieces
  let last = first
  let length = 0
  for (const range of ranges) {
    if (length > 0 && !follows(last, range)) {
      pieces.push(viewOf(first, length))
      first = range
      length = 0
    }
    length += range.length
    last = range
  }
  pieces.push(viewOf(first, length))
  return pieces
}
