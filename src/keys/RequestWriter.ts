// Writes ended requests to the store in batches: a bounded queue, one writing fiber, retries while the store is down.
// It must not know tables, or how requests are listed or added up.
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { type CountedNames, makeCountedNames, type RequestRow } from "../domain/RequestRow.ts"
import { makeBatchWriter } from "../store/database/BatchWriter.ts"
import { batchRows, RequestBatch } from "../store/RequestBatch.ts"
import type { RequestTable } from "../store/RequestTable.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

/** Requests that end within this time are written together, up to the size of a batch. */
const batchMillis = 100
/** The pause before the next write to a store that did not answer; it doubles up to the longest. */
const pauseMillis = 1000
const longestPauseMillis = 8 * pauseMillis
/** A batch that failed is halved down to this number. Fewer rows cost the store the same. */
const leastRows = 25

/** The rows that wait for the store while it lags. */
export interface Backlog {
  readonly rows: number
  /** Beyond so many, rows are dropped. */
  readonly most: number
  /** The store did not take the last batch; else it takes batches more slowly than requests end. */
  readonly isFailing: boolean
}

export interface RequestWriter {
  /** Queues a row without waiting; rows beyond the queue limit are dropped and counted. */
  readonly append: (row: RequestRow, model: string) => void
  /** Writes every queued row. */
  readonly writeAll: Effect.Effect<void, StoreUnavailable>
  /** Undefined while the store keeps up. */
  readonly backlog: () => Backlog | undefined
}

/** The rows that wait, in batches, and how many of them are tried together. */
class WaitingRows {
  /** Full batches, oldest first. */
  private readonly sealed: Array<RequestBatch> = []
  private filling = new RequestBatch()
  /** The rows of the oldest batch that are tried together; fewer after a failure, more again after each success. */
  private together = batchRows
  /** Rows that the store refused since the last line about them, and why it refused the last. */
  private refused: { readonly rows: number; readonly reason: string } | undefined
  /** Number of rows in all batches. */
  waiting = 0
  /** Rows that the store has taken or refused. */
  settled = 0
  /** Failures since the last success. */
  failures = 0
  dropped = 0

  /** Returns whether a batch is full. */
  add(row: RequestRow, names: CountedNames): boolean {
    this.waiting++
    this.filling.add(row, names)
    if (this.filling.rows < batchRows) return false
    this.seal()
    return true
  }

  /** Rows that arrive during a write belong to the next batch. */
  seal(): void {
    if (this.filling.rows === 0) return
    this.sealed.push(this.filling)
    this.filling = new RequestBatch()
  }

  /** The oldest rows that are tried together. */
  get first(): RequestBatch | undefined {
    const [batch] = this.sealed
    return batch === undefined || this.together >= batch.rows ? batch : batch.part(0, this.together)
  }

  /** So many rows of the oldest batch are settled. */
  private settle(rows: number): void {
    const [batch] = this.sealed
    if (batch === undefined) return
    if (rows < batch.rows) this.sealed[0] = batch.part(rows, batch.rows)
    else this.sealed.shift()
    const gone = Math.min(rows, batch.rows)
    this.waiting -= gone
    this.settled += gone
  }

  stored(rows: number): void {
    this.failures = 0
    this.together = Math.min(batchRows, 2 * this.together)
    this.settle(rows)
  }

  failed(rows: number): void {
    this.failures++
    this.together = Math.max(Math.min(leastRows, this.together), Math.ceil(rows / 2))
  }

  /** The database does not take one of these rows: it is looked for, and then left out. */
  refuse(rows: number, reason: string): void {
    if (rows > 1) {
      this.together = Math.ceil(rows / 2)
      return
    }
    this.dropped++
    this.refused = { rows: (this.refused?.rows ?? 0) + 1, reason }
    this.settle(1)
  }

  readonly reportRefused: Effect.Effect<void> = Effect.suspend(() => {
    if (this.refused === undefined) return Effect.void
    const { reason, rows } = this.refused
    this.refused = undefined
    return Effect.logError(
      `store: ${rows} ended requests are in no list and no sum, because the database refuses them: ${reason}`
    )
  })
}

/** Writes all rows that wait when the effect starts, and fails with the first failure. */
const writingAll = (table: RequestTable["Service"], rows: WaitingRows): Effect.Effect<void, StoreUnavailable> => {
  const write = (part: RequestBatch): Effect.Effect<void, StoreUnavailable> =>
    Effect.catchTags(
      Effect.map(table.write(part), (stored) => rows.stored(stored)),
      {
        RowsRefused: ({ reason }) => Effect.sync(() => rows.refuse(part.rows, reason)),
        StoreUnavailable: (error) =>
          Effect.suspend(() => {
            rows.failed(part.rows)
            return Effect.fail(error)
          })
      }
    )
  return Effect.suspend(() => {
    rows.seal()
    const goal = rows.settled + rows.waiting
    const next: Effect.Effect<void, StoreUnavailable> = Effect.suspend(() => {
      const { first } = rows
      return first === undefined || rows.settled >= goal ? Effect.void : Effect.andThen(write(first), next)
    })
    return Effect.ensuring(next, rows.reportRefused)
  })
}

/** Writes the rest of the queue when the scope closes. */
export const makeRequestWriter = Effect.fnUntraced(function* (
  table: RequestTable["Service"]
): Effect.fn.Return<RequestWriter, never, Scope.Scope> {
  const { usageNames, usageQueue } = yield* Limits
  const countedNames = makeCountedNames(usageNames)
  const rows = new WaitingRows()
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  registry.read(metrics.usageQueue, {}, () => rows.waiting)
  registry.read(metrics.usageDropped, {}, () => rows.dropped)

  const hasFullBatch = yield* Latch.make(false)
  const { wake, writeAll } = yield* makeBatchWriter({
    isEmpty: () => rows.waiting === 0,
    rest: Effect.raceFirst(hasFullBatch.await, Effect.sleep(batchMillis)),
    write: Effect.suspend(() => {
      hasFullBatch.closeUnsafe()
      return writingAll(table, rows)
    }),
    pause: Effect.suspend(() => Effect.sleep(Math.min(longestPauseMillis, pauseMillis * 2 ** (rows.failures - 1)))),
    lost: Effect.suspend(() =>
      Effect.logError(
        `store: ${rows.waiting} ended requests are lost: the store did not take them before the process ended`
      )
    )
  })
  return {
    append: (row, model) => {
      if (rows.waiting >= usageQueue) {
        rows.dropped++
        return
      }
      const isFull = rows.add(row, countedNames(row, model))
      wake()
      if (isFull) hasFullBatch.openUnsafe()
    },
    writeAll,
    backlog: () => {
      const { failures, waiting } = rows
      return waiting > 0 && (failures > 0 || waiting > usageQueue / 2)
        ? { rows: waiting, most: usageQueue, isFailing: failures > 0 }
        : undefined
    }
  }
})
