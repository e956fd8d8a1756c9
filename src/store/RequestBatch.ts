// Requests that wait to be written: their rows and their sums. Each is made ready as it ends, while its facts are at hand;
// rows that waited as objects would be moved by several collections and be put into words all at once.
// It must not know SQL.
import type { RequestRow } from "../domain/RequestRow.ts"
import { sumUp, type UsageBucket } from "../domain/usageSums.ts"
import { packed } from "./packedRow.ts"

/** The columns of a row, in the order of `values`. */
export const columns = ["ended_millis", "request_id", "status", "provider", "model", "key_id", "row"] as const

export class RequestBatch {
  rows = 0
  /** Row behind row. */
  readonly values: Array<string | number | null> = []
  private readonly buckets = new Map<string, UsageBucket>()

  /** `model` is the name the row is summed under. */
  add(row: RequestRow, model: string): void {
    this.rows++
    this.values.push(row.endedMillis, row.requestId, row.status, row.provider ?? null, row.model ?? null, row.keyId ?? null, packed(row))
    sumUp(this.buckets, row, model)
  }

  /** In one order for all processes, so that none of them waits for another that waits for it. */
  get sums(): ReadonlyArray<UsageBucket> {
    return [...this.buckets].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, bucket]) => bucket)
  }
}
