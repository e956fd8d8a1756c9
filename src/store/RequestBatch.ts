// Requests that wait to be written together: their texts and their sums. Each is made ready as it ends, while its facts are at hand;
// requests that waited as objects would be moved by several collections and be put into words all at once.
// It must not know SQL.
import type { RequestRow } from "../domain/RequestRow.ts"
import { sumUp, type UsageBucket } from "../domain/usageSums.ts"
import { packed } from "./packedRow.ts"

/** No batch holds more. */
export const batchRows = 500

export class RequestBatch {
  private readonly texts: Array<string> = []
  private readonly buckets = new Map<string, UsageBucket>()

  /** `model` is the name the row is summed under. */
  add(row: RequestRow, model: string): void {
    this.texts.push(packed(row))
    sumUp(this.buckets, row, model)
  }

  get rows(): number {
    return this.texts.length
  }

  /** A JSON array of packed rows, the oldest first. */
  get text(): string {
    return `[${this.texts.join(",")}]`
  }

  /** In one order for all processes, so that none of them waits for another that waits for it. */
  get sums(): ReadonlyArray<UsageBucket> {
    return [...this.buckets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, bucket]) => bucket)
  }
}
