// The latest requests in the memory of this process: a ring, whose oldest row gives its place to the next one.
// It must not know HTTP, sums, or how a request ran.
import type { RequestRow } from "../domain/RequestRow.ts"
import { type RecentRequests, type RequestPage, type RequestQuery, takes } from "../domain/usage/usageSums.ts"

export class RequestRing {
  private readonly rows: Array<RequestRow> = []
  /** Rows so far. The position of a row is its number, from 0. */
  private count = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  append(row: RequestRow): void {
    this.rows[this.count++ % this.most] = row
  }

  private at(position: number): RequestRow | undefined {
    return this.rows[position % this.most]
  }

  private get oldest(): number {
    return Math.max(0, this.count - this.most)
  }

  latest(fit: (row: RequestRow) => boolean): RequestRow | undefined {
    for (let position = this.count - 1; position >= this.oldest; position--) {
      const row = this.at(position)
      if (row !== undefined && fit(row)) return row
    }
    return undefined
  }

  page(query: RequestQuery): RequestPage {
    const rows: Array<RequestRow> = []
    const fit = takes(query)
    for (let position = Math.min(query.cursor ?? this.count, this.count) - 1; position >= this.oldest; position--) {
      const row = this.at(position)
      if (row === undefined || !fit(row)) continue
      if (rows.length === query.limit) return { rows, next: position + 1 }
      rows.push(row)
    }
    return { rows, next: undefined }
  }

  /** Each call has the rows since the one before, `most` at most. */
  follow(most: number): () => RecentRequests {
    let seen = this.count
    return () => {
      const rows: Array<RequestRow> = []
      const first = Math.max(seen, this.oldest, this.count - most)
      for (let position = this.count - 1; position >= first; position--) {
        const row = this.at(position)
        if (row !== undefined) rows.push(row)
      }
      const skipped = this.count - seen - rows.length
      seen = this.count
      return { rows, skipped }
    }
  }
}
