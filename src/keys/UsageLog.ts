// The request log and usage sums of the admin API: in the memory of this process as a ring, or in the store.
// It must not know HTTP, tables, or how a request ran.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RecordRefused, type StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import { endedMillisOf, makeCountedNames, type RequestRow } from "../domain/RequestRow.ts"
import {
  groupUsage,
  type RecentRequests,
  type RequestDeletion,
  type RequestLookup,
  type RequestPage,
  type RequestQuery,
  takes,
  type UsageBucket,
  type UsagePage,
  type UsageQuery
} from "../domain/usage/usageSums.ts"
import {
  findPoints,
  findTop,
  RecentUsage,
  type SeriesPage,
  type SeriesPoints,
  type SeriesQuery,
  type TopEntry,
  type TopQuery
} from "../domain/usage/usageSeries.ts"
import { unlessFull } from "../store/database/BatchWriter.ts"
import { RequestTable } from "../store/RequestTable.ts"
import { type Backlog, makeRequestWriter } from "./RequestWriter.ts"

/** In memory, sums of so many minutes and kinds of requests wait to be added up. */
const recentEntries = 100

export class UsageLog extends Context.Service<
  UsageLog,
  {
    /**
     * `model` is the name the row is counted under. The call never waits; rows beyond the queue limit are dropped and
     * counted.
     */
    readonly append: (row: RequestRow, model: string) => void
    /**
     * The request with this unique id, else the latest with this client id. It is refused when several keys sent the
     * client id.
     */
    readonly request: (id: string) => Effect.Effect<RequestRow | undefined, StoreUnavailable | RecordRefused>
    readonly requests: (query: RequestQuery) => Effect.Effect<RequestPage, StoreUnavailable>
    /**
     * Each run of the effect has the requests that were listed since the run before, of all gateways on the store and
     * `most` at most.
     */
    readonly follow: (most: number) => Effect.Effect<Effect.Effect<RecentRequests, StoreUnavailable>, StoreUnavailable>
    readonly usage: (query: UsageQuery) => Effect.Effect<UsagePage, StoreUnavailable>
    /** Usage over time, in pages. */
    readonly series: (query: SeriesQuery) => Effect.Effect<SeriesPage, StoreUnavailable>
    /** The values of a dimension with the highest sums of a time, highest first. */
    readonly top: (query: TopQuery) => Effect.Effect<ReadonlyArray<TopEntry>, StoreUnavailable>
    /** The end of the key's latest stored request. */
    readonly lastUsed: (keyId: string) => Effect.Effect<number | undefined, StoreUnavailable>
    /** Deletes at least `removedRows` of these requests and returns their own ids; fewer: none was left. Sums stay. */
    readonly remove: (deletion: RequestDeletion) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
    /** The rows that wait for a store that lags; undefined while it keeps up. A read of memory. */
    readonly backlog?: () => Backlog | undefined
  }
>()("gateway/keys/UsageLog") {
  /** Keeps the latest requests in a ring, and sums by day; a full map drops its oldest sum. */
  static readonly layerMemory: Layer.Layer<UsageLog> = Layer.effect(
    UsageLog,
    Effect.map(Limits, ({ requestsKept, usageEntries, usageNames }) => {
      const countedNames = makeCountedNames(usageNames)
      const ring = new RequestRing(requestsKept)
      const recent = new RecentUsage()
      const buckets = new Map<string, UsageBucket>()
      const points: SeriesPoints = new Map()
      const bound = (entries: Map<string, unknown>): void => {
        for (const name of entries.keys()) {
          if (entries.size <= usageEntries) return
          entries.delete(name)
        }
      }
      /** Adds the recent requests to the sums. */
      const settle = (): void => {
        recent.addDays(buckets)
        recent.addPoints(points)
        recent.clear()
        bound(buckets)
        bound(points)
      }
      return {
        append: (row, model) => {
          ring.append(row)
          recent.add(row, countedNames(row, model))
          if (recent.size >= recentEntries) settle()
        },
        remove: (deletion) => Effect.sync(() => ring.remove(takes(deletion))),
        request: (id) => byId(id, (lookup) => Effect.sync(() => ring.latest(isMeant(lookup)))),
        requests: (query) => Effect.sync(() => ring.page(query)),
        follow: (most) => Effect.sync(() => Effect.sync(ring.follow(most))),
        usage: (query) =>
          Effect.sync(() => {
            settle()
            return groupUsage(buckets.values(), query)
          }),
        series: (query) =>
          Effect.sync(() => {
            settle()
            return findPoints(points.values(), query)
          }),
        top: (query) =>
          Effect.sync(() => {
            settle()
            return findTop(points.values(), query)
          }),
        lastUsed: (keyId) =>
          Effect.sync(() => {
            const row = ring.latest((one) => one.key_id === keyId)
            return row === undefined ? undefined : endedMillisOf(row)
          })
      }
    })
  )

  /**
   * Stores rows for all gateways on the store. One fiber writes; a read includes every request that ended in this
   * process.
   */
  static readonly layer: Layer.Layer<UsageLog, never, RequestTable> = Layer.effect(
    UsageLog,
    Effect.suspend(() => make)
  )
}

/** Whether a row is one of those that a look-up means. */
const isMeant =
  ({ id, isKeyed = false, isOwn, notKey }: RequestLookup) =>
  (row: RequestRow): boolean =>
    (isOwn ? row.id : row.request_id) === id &&
    (!isKeyed || row.key_id !== undefined) &&
    (notKey === undefined || row.key_id !== notKey)

/**
 * Clients choose their ids, so one key can repeat the id of another. An ambiguous id is refused; requests without a key
 * have the lowest precedence.
 */
const byId = Effect.fnUntraced(function* (
  id: string,
  latest: (lookup: RequestLookup) => Effect.Effect<RequestRow | undefined, StoreUnavailable>
) {
  const own = yield* latest({ id, isOwn: true })
  if (own !== undefined) return own
  const sent = yield* latest({ id, isOwn: false, isKeyed: true })
  if (sent === undefined) return yield* latest({ id, isOwn: false })
  const other = yield* latest({ id, isOwn: false, isKeyed: true, notKey: sent.key_id })
  if (other === undefined) return sent
  return yield* new RecordRefused({
    code: "request_id_ambiguous",
    message: `Several keys sent the x-request-id "${id}": list them by GET /admin/v1/requests?request_id=${id}, and read one by its id.`
  })
})

const make = Effect.gen(function* () {
  const table = yield* RequestTable
  const { append, backlog, writeAll } = yield* makeRequestWriter(table)
  const written = unlessFull(writeAll)
  const after = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.andThen(written, read)
  return UsageLog.of({
    append,
    backlog,
    request: (id) => after(byId(id, table.latest)),
    requests: (query) => after(table.requests(query)),
    // Rows of this process come with its next batch, 100 ms after the first of them.
    follow: table.follow,
    usage: (query) => after(table.usage(query)),
    series: (query) => after(table.series(query)),
    top: (query) => after(table.top(query)),
    lastUsed: (keyId) => after(table.lastUsed(keyId)),
    remove: (deletion) => Effect.andThen(writeAll, table.remove(deletion))
  })
})

// The latest requests in the memory of this process: a ring, whose oldest row gives its place to the next one.

class RequestRing {
  private readonly rows: Array<RequestRow | undefined> = []
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

  /** Removes the rows that fit, and returns their own ids. */
  remove(fit: (row: RequestRow) => boolean): ReadonlyArray<string> {
    const ids: Array<string> = []
    for (const [at, row] of this.rows.entries()) {
      if (row === undefined || !fit(row)) continue
      ids.push(row.id)
      this.rows[at] = undefined
    }
    return ids
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
