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
/** Pause before the next write to a store that did not answer. */
const pauseMillis = 1000

export interface RequestWriter {
  /** Queues a row without waiting; rows beyond the queue limit are dropped and counted. */
  readonly append: (row: RequestRow, model: string) => void
  /** Writes every queued row. */
  readonly writeAll: Effect.Effect<void, StoreUnavailable>
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
  const writeFirst = (batch: RequestBatch): Effect.Effect<void, StoreUnavailable> =>
    Effect.map(table.write(batch), () => {
      sealed.shift()
      waiting -= batch.rows
    })
  const writeAll: Effect.Effect<void, StoreUnavailable> = writing.withPermit(
    Effect.suspend(() => {
      seal()
      return Effect.forEach([...sealed], writeFirst, { discard: true })
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
        Effect.catch(writeAll, () => Effect.sleep(pauseMillis))
      )
    )
  })
  yield* Effect.acquireRelease(Effect.forkScoped(Effect.forever(turn)), () => Effect.ignore(writeAll))
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
  return { append, writeAll }
})
