// The latest requests and the sums of all, for those who ask by the admin API: in the memory of this process, or in the store.
// It must not know HTTP, tables, or how a request ran.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { RecordRefused, type StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { ownIdOf, type RequestRow } from "../domain/RequestRow.ts"
import {
  fits,
  grouped,
  type RequestPage,
  type RequestQuery,
  sumUp,
  type UsageBucket,
  type UsageGroup,
  type UsageQuery
} from "../domain/usageSums.ts"
import { batchRows, RequestBatch } from "../store/RequestBatch.ts"
import { RequestTable } from "../store/RequestTable.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

/** What has ended within this time is written together, in one go up to so many as a batch holds. */
const batchMillis = 100
/** A store that did not answer is tried again after this. */
const pauseMillis = 1000

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /** `model` is the name the row is summed under. Never waits: what cannot be kept is dropped and counted. */
    readonly append: (row: RequestRow, model: string) => void
    /** The request of this id of ours, else the latest whose client called it so; refused where several keys did. */
    readonly request: (id: string) => Effect.Effect<RequestRow | undefined, StoreUnavailable | RecordRefused>
    readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
    readonly usage: (query: UsageQuery) => Effect.Effect<ReadonlyArray<UsageGroup>, StoreUnavailable>
    /** When the latest request of a key ended, of those that are kept. */
    readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
  }
>()("gateway/keys/UsageLog") {
  /** So many of the latest requests, and sums per day, key, provider and model of as many as fit; the oldest go first. */
  static readonly layerMemory: Layer.Layer<UsageLog> = Layer.effect(
    UsageLog,
    Effect.map(Limits, ({ requestsKept, usageEntries }) => {
      const ring: Array<RequestRow> = []
      let count = 0
      const buckets = new Map<string, UsageBucket>()
      const at = (position: number): RequestRow | undefined => ring[position % requestsKept]
      const oldest = () => Math.max(0, count - requestsKept)
      const latest = (fit: (row: RequestRow) => boolean): RequestRow | undefined => {
        for (let position = count - 1; position >= oldest(); position--) {
          const row = at(position)
          if (row !== undefined && fit(row)) return row
        }
        return undefined
      }
      const page = (query: RequestQuery): RequestPage => {
        const rows: Array<RequestRow> = []
        for (let position = Math.min(query.cursor ?? count, count) - 1; position >= oldest(); position--) {
          const row = at(position)
          if (row === undefined || !fits(row, query)) continue
          if (rows.length === query.limit) return { rows, next: position + 1 }
          rows.push(row)
        }
        return { rows, next: undefined }
      }
      return {
        append: (row, model) => {
          ring[count++ % requestsKept] = row
          sumUp(buckets, row, model)
          const [first] = buckets.keys()
          if (buckets.size > usageEntries && first !== undefined) buckets.delete(first)
        },
        request: (id) => byId(id, (fit) => Effect.sync(() => latest(fit))),
        requests: (query) => Effect.sync(() => page(query)),
        usage: (query) => Effect.sync(() => grouped(buckets.values(), query)),
        lastUsed: (keyId) => Effect.sync(() => latest((row) => row.keyId === keyId)?.endedMillis)
      }
    })
  )

  /** In the store, for all gateways on it. One fiber writes; who reads sees all that has ended in this process. */
  static readonly layer: Layer.Layer<UsageLog, never, RequestTable> = Layer.effect(
    UsageLog,
    Effect.suspend(() => make)
  )
}

/** Clients choose their ids, so that one key can repeat another's: which request is meant is not guessed then. Requests without a key give way. */
const byId = Effect.fnUntraced(function* (
  id: string,
  latest: (fit: (row: RequestRow) => boolean) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
) {
  const own = yield* latest((row) => ownIdOf(row) === id)
  if (own !== undefined) return own
  const sent = yield* latest(({ keyId, requestId }) => requestId === id && keyId !== undefined)
  if (sent === undefined) return yield* latest(({ requestId }) => requestId === id)
  const other = yield* latest(({ keyId, requestId }) => requestId === id && keyId !== undefined && keyId !== sent.keyId)
  if (other === undefined) return sent
  return yield* new RecordRefused({
    code: "request_id_ambiguous",
    message: `Several keys sent the x-request-id "${id}": list them by GET /admin/v1/requests?request_id=${id}, and read one by its id.`
  })
})

const make = Effect.gen(function* () {
  const table = yield* RequestTable
  const { usageQueue } = yield* Limits
  /** The oldest first. */
  const sealed: Array<RequestBatch> = []
  let filling = new RequestBatch()
  /** Requests of them all. */
  let waiting = 0
  let dropped = 0
  const registry = SeriesRegistry.of(yield* Effect.context<never>())
  registry.read(metrics.usageQueue, {}, () => waiting)
  registry.read(metrics.usageDropped, {}, () => dropped)

  const some = yield* Latch.make(false)
  const many = yield* Latch.make(false)
  const one = yield* Semaphore.make(1)
  /** What comes while a batch is written belongs to the next one. */
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
  const writeAll: Effect.Effect<void, StoreUnavailable> = one.withPermit(
    Effect.suspend(() => {
      seal()
      return Effect.forEach([...sealed], writeFirst, { discard: true })
    })
  )
  const turn = Effect.suspend(() => {
    many.closeUnsafe()
    if (waiting === 0) some.closeUnsafe()
    const rest = Effect.raceFirst(many.await, Effect.sleep(batchMillis))
    return Effect.andThen(
      some.await,
      Effect.andThen(
        rest,
        Effect.catch(writeAll, () => Effect.sleep(pauseMillis))
      )
    )
  })
  yield* Effect.acquireRelease(Effect.forkScoped(Effect.forever(turn)), () => Effect.ignore(writeAll))

  const after = <A>(read: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    Effect.andThen(writeAll, read)
  return UsageLog.of({
    append: (row, model) => {
      if (waiting >= usageQueue) {
        dropped++
        return
      }
      filling.add(row, model)
      if (++waiting === 1) some.openUnsafe()
      if (filling.rows === batchRows) {
        seal()
        many.openUnsafe()
      }
    },
    request: (id) =>
      Effect.andThen(
        writeAll,
        byId(id, (fit) => table.latest(id, fit))
      ),
    requests: (query) => after(table.requests(query)),
    usage: (query) => after(table.usage(query)),
    lastUsed: (keyId) => after(table.lastUsed(keyId))
  })
})
