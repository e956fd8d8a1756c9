// Requests that wait to be written together: their texts and their sums. Each is made ready as it ends, while its facts are at hand;
// requests that waited as objects would be moved by several collections and be put into words all at once. Texts are bytes at once,
// which SQLite takes as they are, without the copies that a joined string costs.
// It must not know SQL.
import type { RequestRow } from "../domain/RequestRow.ts"
import { sumUp, type UsageBucket } from "../domain/usageSums.ts"
import { packed } from "./packedRow.ts"

/** No batch holds more. */
export const batchRows = 500

const opening = 0x5b
const comma = 0x2c
const closing = 0x5d

export class RequestBatch {
  private room = Buffer.alloc(0)
  private length = 0
  private count = 0
  private readonly buckets = new Map<string, UsageBucket>()

  /** `model` is the name the row is summed under. */
  add(row: RequestRow, model: string): void {
    const text = packed(row)
    // A character has at most three bytes; brackets and commas are one each.
    const needed = this.length + text.length * 3 + 2
    if (needed > this.room.length) this.room = Buffer.concat([this.room], Math.max(needed, this.room.length * 2))
    this.room[this.length++] = this.count++ === 0 ? opening : comma
    this.length += this.room.write(text, this.length)
    sumUp(this.buckets, row, model)
  }

  get rows(): number {
    return this.count
  }

  /** A JSON array of packed rows, the oldest first. */
  get text(): string {
    return this.bytes.toString()
  }

  /** The same in UTF-8. */
  get bytes(): Buffer {
    this.room[this.length] = closing
    return this.room.subarray(0, this.length + 1)
  }

  /** In one order for all processes, so that none of them waits for another that waits for it. */
  get sums(): ReadonlyArray<UsageBucket> {
    return [...this.buckets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, bucket]) => bucket)
  }
}
