// Writes what waits for the store in batches: one fiber, which pauses after a failure, and a last write when it ends.
// Must not know what waits, how much of it, or how it is written.
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"

/** What waits to be written. */
interface BatchSource {
  readonly isEmpty: () => boolean
  /** Writes all that waits when it begins, batch by batch. What a failure leaves is tried again. */
  readonly write: Effect.Effect<void, StoreUnavailable>
  /** The time in which more may come before a write. */
  readonly rest?: Effect.Effect<void>
  /** The time before the next write after a failure. */
  readonly pause: Effect.Effect<void>
  /** Reports what the last write did not take. */
  readonly lost: Effect.Effect<void>
}

/** A store that refuses writes answers reads: they are without what waits. */
export const unlessFull = (writeAll: Effect.Effect<void, StoreUnavailable>): Effect.Effect<void, StoreUnavailable> =>
  Effect.catchIf(
    writeAll,
    ({ reason }) => reason === "full",
    () => Effect.void
  )

export interface BatchWriter {
  /** Something waits. */
  readonly wake: () => void
  /** Writes what waits now; one write runs at a time. */
  readonly writeAll: Effect.Effect<void, StoreUnavailable>
}

/** Writes for as long as the scope, and the rest when it closes. */
export const makeBatchWriter = Effect.fnUntraced(function* ({
  isEmpty,
  lost,
  pause,
  rest = Effect.void,
  write
}: BatchSource): Effect.fn.Return<BatchWriter, never, Scope.Scope> {
  const isWaiting = yield* Latch.make(false)
  const writeAll = Semaphore.makeUnsafe(1).withPermit(write)
  const turn = Effect.gen(function* () {
    if (isEmpty()) isWaiting.closeUnsafe()
    yield* isWaiting.await
    yield* rest
    yield* Effect.catch(writeAll, () => pause)
  })
  yield* Effect.acquireRelease(Effect.forkScoped(Effect.forever(turn)), () => Effect.catch(writeAll, () => lost))
  return { wake: () => isWaiting.openUnsafe(), writeAll }
})
