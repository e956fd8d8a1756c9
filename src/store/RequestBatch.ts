// A batch of ended requests that wait to be written to the store: their rows as one JSON text, and their usage sums.
// Must not know SQL.
//
// Each row is printed as its request ends, while its facts are at hand. Waiting objects would be moved by several garbage
// collections and printed all in one go. The text is kept as bytes, which a thread takes without a conversion.
import { randomUUID } from "node:crypto"
import * as Result from "effect/Result"
import type { CountedNames, RequestRow } from "../domain/RequestRow.ts"
import { parseJsonText } from "../domain/text/json.ts"
import { RecentUsage, type SeriesPoint, type SeriesPoints } from "../domain/usage/usageSeries.ts"
import type { UsageBucket } from "../domain/usage/usageSums.ts"

/** The largest number of requests in one batch. */
export const batchRows = 500

const opening = 0x5b
const comma = 0x2c
const closing = 0x5d

const sorted = <A>(entries: ReadonlyMap<string, A>): ReadonlyArray<A> =>
  [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry)

export class RequestBatch {
  /** Unique. A batch that is written again keeps it, and so do its first rows when they are written alone. */
  readonly id: string
  private room = Buffer.alloc(0)
  private length = 0
  private count = 0
  private readonly usage = new RecentUsage()
  /** The names that each row is counted under. */
  private readonly counted: Array<CountedNames> = []
  /** Whether a row has metadata. */
  hasMetadata = false

  constructor(id: string = randomUUID()) {
    this.id = id
  }

  add(row: RequestRow, names: CountedNames): void {
    const text = JSON.stringify(row)
    // A UTF-16 unit takes at most three bytes in UTF-8; brackets and commas take one each.
    const needed = this.length + text.length * 3 + 2
    if (needed > this.room.length) this.room = Buffer.concat([this.room], Math.max(needed, this.room.length * 2))
    this.room[this.length++] = this.count++ === 0 ? opening : comma
    this.length += this.room.write(text, this.length)
    this.hasMetadata ||= row.metadata !== undefined
    this.counted.push(this.usage.add(row, names))
  }

  /** The rows from one place on and before another, as a batch. */
  part(from: number, to: number): RequestBatch {
    const part = new RequestBatch(from === 0 ? this.id : randomUUID())
    const names = this.counted.slice(from, to)
    // The text is of rows that were added here.
    const text: unknown = Result.getOrThrow(parseJsonText(this.bytes.toString()))
    const rows = text as ReadonlyArray<RequestRow>
    for (const [at, row] of rows.slice(from, to).entries()) {
      const counted = names[at]
      if (counted !== undefined) part.add(row, counted)
    }
    return part
  }

  get rows(): number {
    return this.count
  }

  /** A JSON array of the rows in UTF-8, the oldest first. */
  get bytes(): Buffer {
    this.room[this.length] = closing
    return this.room.subarray(0, this.length + 1)
  }

  /** Sorted by key: all processes lock the rows in one order, which prevents deadlocks. */
  get sums(): ReadonlyArray<UsageBucket> {
    const buckets = new Map<string, UsageBucket>()
    this.usage.addDays(buckets)
    return sorted(buckets)
  }

  /** The sums of minutes, hours and days, sorted by key as well. */
  get series(): ReadonlyArray<SeriesPoint> {
    const points: SeriesPoints = new Map()
    this.usage.addPoints(points)
    return sorted(points)
  }
}
