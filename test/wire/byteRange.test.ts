// Tests the joining of ranges of network bytes, which copies nothing.
// Must not depend on what the bytes mean.
import { expect, it } from "vitest"
import { ByteRange, joinRanges } from "../../src/wire/wholeFrames.ts"

const read = new TextEncoder().encode("one two three")
const texts = (ranges: ReadonlyArray<ByteRange>) => joinRanges(ranges).map((bytes) => new TextDecoder().decode(bytes))

it("ranges: those that follow each other are one view of the read", () => {
  const pieces = joinRanges([new ByteRange(read, 0, 3), new ByteRange(read, 3, 4), new ByteRange(read, 4, 7)])
  expect(pieces.map((bytes) => [bytes.buffer === read.buffer, bytes.byteOffset, bytes.length])).toEqual([
    [true, read.byteOffset, 7]
  ])
})

it("ranges: views of one read that stand next to each other are joined", () => {
  expect(texts([new ByteRange(read.subarray(0, 3)), new ByteRange(read.subarray(2, 8), 1, 5)])).toEqual(["one two"])
})

it("ranges: a gap, an earlier place and another read begin a piece", () => {
  const other = new TextEncoder().encode("four")
  expect(
    texts([new ByteRange(read, 0, 3), new ByteRange(read, 4, 7), new ByteRange(read, 0, 3), new ByteRange(other)])
  ).toEqual(["one", "two", "one", "four"])
})

it("ranges: no range gives no piece", () => {
  expect(joinRanges([])).toEqual([])
})

it("ranges: a view is made of the range alone", () => {
  const range = new ByteRange(read, 4, 7)
  expect([range.length, new TextDecoder().decode(range.bytes), new ByteRange(read).bytes === read]).toEqual([
    3,
    "two",
    true
  ])
})
