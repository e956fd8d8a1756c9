// Writes ended requests to the store in batches: a bounded queue, one writing fiber, retries while the store is down.
// It must not know tables, or how requests are listed or added up.
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import type { RequestRow } from "../domain/RequestRow.ts"
import { makeCountedNames } from "../domain/usage/countedNames.ts"
import { batchRows, RequestBatch } from "../store/RequestBatch.ts"
import type { RequestTable } from "../store/RequestTable.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

/** Requests that end within this time are written together, up to the size of a batch. */
const batchMillis = 100
/** The pause before the next write to a store that did not answer; it doubles up to the longest. */
const pauseMillis = 1000
const longestPauseMillis = 8000
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

/** Writes the rest of the queue when the scope closes. */
export const makeRequestWriter = Effect.fnUntraced(function* (
  table: RequestTable["Service"]
): Effect.fn.Return<RequestWriter, never, Scope.Scope> {
  const { usageNames, usageQueue } = yield* Limits
  const countedNames = makeCountedNames(usageNames)
  /** Full batches, oldest first. */
  const sealed: Array<RequestBatch> = []
  let filling = new RequestBatch()
  /** Number of rows in all batches. */
  let waiting = 0
  let dropped = 0
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  registry.read(metrics.usageQueue, {}, () => waiting)
  registry.read(metrics.usageDropped, {}, () => dropped)

  const hasRows = yield* Latch.make(false)
  const hasFullBatch = yield* Latch.make(false)
  const writing = yield* Semaphore.make(1)
  /** Rows that arrive during a write belong to the next batch. */
  const seal = (): void => {
    if (filling.rows === 0) return
    sealed.push(filling)
    filling = new RequestBatch()
  }
  /** The rows of the oldest batch that are tried together; fewer after a failure, more again after each success. */
  let together = batchRows
  /** Failures since the last success. */
  let failures = 0
  /** Rows that the store has taken or refused. */
  let settled = 0
  /** Rows that the store refused since the last line about them, and why it refused the last. */
  let refused: { readonly rows: number; readonly reason: string } | undefined
  /** The first rows of the oldest batch are settled. */
  const settle = (batch: RequestBatch, rows: number): void => {
    if (rows < batch.rows) sealed[0] = batch.part(rows, batch.rows)
    else sealed.shift()
    const gone = Math.min(rows, batch.rows)
    waiting -= gone
    settled += gone
  }
  const writeFirst = (batch: RequestBatch): Effect.Effect<void, StoreUnavailable> => {
    const part = together < batch.rows ? batch.part(0, together) : batch
    const written = Effect.map(table.write(part), (stored) => {
      failures = 0
      together = Math.min(batchRows, 2 * together)
      settle(batch, stored)
    })
    return Effect.catchTags(written, {
      RowsRefused: ({ reason }) =>
        Effect.sync(() => {
          if (part.rows > 1) together = Math.ceil(part.rows / 2)
          else {
            dropped++
            refused = { rows: (refused?.rows ?? 0) + 1, reason }
            settle(batch, 1)
          }
        }),
      StoreUnavailable: (error) =>
        Effect.suspend(() => {
          failures++
          together = Math.max(Math.min(leastRows, together), Math.ceil(part.rows / 2))
          return Effect.fail(error)
        })
    })
  }
  const reportRefused = Effect.suspend(() => {
    if (refused === undefined) return Effect.void
    const { reason, rows } = refused
    refused = undefined
    return Effect.logError(
      `store: ${rows} ended requests are in no list and no sum, because the database refuses them: ${reason}`
    )
  })
  const writeAll: Effect.Effect<void, StoreUnavailable> = writing.withPermit(
    Effect.suspend(() => {
      seal()
      const goal = settled + waiting
      const next: Effect.Effect<void, StoreUnavailable> = Effect.suspend(() => {
        const [batch] = sealed
        return batch === undefined || settled >= goal ? Effect.void : Effect.andThen(writeFirst(batch), next)
      })
      return Effect.ensuring(next, reportRefused)
    })
  )
  const turn = Effect.suspend(() => {
    hasFullBatch.closeUnsafe()
    if (waiting === 0) hasRows.closeUnsafe()
    const rest = Effect.raceFirst(hasFullBatch.await, Effect.sleep(batchMillis))
    return Effect.andThen(
      hasRows.await,
      Effect.andThen(
        rest,
        Effect.catch(writeAll, () => Effect.sleep(Math.min(longestPauseMillis, pauseMillis * 2 ** (failures - 1))))
      )
    )
  })
  const last = Effect.catch(writeAll, () =>
    Effect.logError(`store: ${waiting} ended requests are lost: the store did not take them before the process ended`)
  )
  yield* Effect.acquireRelease(Effect.forkScoped(Effect.forever(turn)), () => last)
  const append = (row: RequestRow, model: string): void => {
    if (waiting >= usageQueue) {
      dropped++
      return
    }
    filling.add(row, countedNames(row, model))
    if (++waiting === 1) hasRows.openUnsafe()
    if (filling.rows === batchRows) {
      seal()
      hasFullBatch.openUnsafe()
    }
  }
  const backlog = (): Backlog | undefined => {
    const isFailing = failures > 0
    return waiting > 0 && (isFailing || waiting > usageQueue / 2)
      ? { rows: waiting, most: usageQueue, isFailing }
      : undefined
  }
  return { append, writeAll, backlog }
})
