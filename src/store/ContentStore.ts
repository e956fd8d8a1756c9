// Captured content of requests in the store: sealed, written in groups, bounded by size and age, read by the gateway's own id of a request.
// Must not know how content is captured, or who may read it.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { type KeptContent, RequestContent } from "../domain/RequestRow.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits } from "../domain/Limits.ts"
import type { RequestDeletion } from "../domain/usage/usageSums.ts"
import { makeRetentionClock, removedRows, type RetentionClock, sweepFairly } from "./database/Retention.ts"
import { databaseMemory } from "./database/Migrations.ts"
import { durableTransaction, lazyTransaction, makeStoreCall, makeStoreWrite } from "./database/Sql.ts"
import { contentContext } from "./Encryption.ts"
import { type SealedRow, type SecretBroken, Vault } from "./Vault.ts"
import * as Arr from "effect/Array"
import type * as Scope from "effect/Scope"
import { FairEntries } from "../domain/collections.ts"
import { makeBatchWriter, unlessFull } from "./database/BatchWriter.ts"

// Writes captured content to the store in groups: a bounded queue, one writing fiber, retries while the store is down.

/** Content that waits to be written. */
interface WaitingContent {
  /** The gateway's own id of the request. */
  readonly id: string
  readonly keyId: string
  readonly endedMillis: number
  /** What it takes of memory until it is read. */
  readonly bytes: number
  /** Makes the content; called once, before it is written. */
  readonly read: () => RequestContent
}

const groupRows = 16
const groupBytes = 8 * 1024 * 1024
/** Pause before the next write to a store that did not answer. */
const contentPauseMillis = 1000
const minuteMillis = 60 * 1000

/** The oldest contents that are written together; one that is larger than a group is one by itself. */
const firstGroup = (waiting: Iterable<WaitingContent>): ReadonlyArray<WaitingContent> => {
  const group: Array<WaitingContent> = []
  let bytes = 0
  for (const one of waiting) {
    bytes += one.bytes
    if (group.length === groupRows || (group.length > 0 && bytes > groupBytes)) break
    group.push(one)
  }
  return group
}

interface ContentWriter {
  /** Queues content without waiting. Where the queue is full, the oldest of the key with the most is dropped and counted. */
  readonly append: (content: WaitingContent) => void
  readonly writeAll: Effect.Effect<void, StoreUnavailable>
  /** The number of contents that were dropped. */
  readonly dropped: () => number
}

/** Seals and inserts a group. Content that another process wrote under the same id stays. */
const inserting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const { contentMinutes } = yield* Limits
  return Effect.fnUntraced(function* (rows: Arr.NonEmptyReadonlyArray<readonly [WaitingContent, Buffer]>) {
    const { keyId, seal } = yield* vault.sealer
    yield* sql`INSERT INTO request_contents ${sql.insert(
      Arr.map(rows, ([{ endedMillis, id, keyId: owner }, plain]) => ({
        id,
        key_id: owner,
        ended_millis: endedMillis,
        expires_millis: endedMillis + contentMinutes * minuteMillis,
        bytes_number: plain.length,
        sealed: seal(contentContext(id), plain),
        sealed_key_id: keyId
      }))
    )} ON CONFLICT (id) DO NOTHING`
  })
})

/** Writes the rest of the queue when the scope closes. */
const makeContentWriter: Effect.Effect<ContentWriter, never, SqlClient.SqlClient | Vault | Scope.Scope> = Effect.gen(
  function* () {
    const { contentQueueBytes } = yield* Limits
    const within = yield* makeStoreWrite
    const inTransaction = lazyTransaction(yield* SqlClient.SqlClient)
    const insert = yield* inserting
    const waiting = new FairEntries<WaitingContent>(contentQueueBytes, contentQueueBytes)
    /** What is written now; it left the queue, and is written again after a failure. */
    let group: ReadonlyArray<WaitingContent> = []
    let dropped = 0

    const broken =
      (count: number) =>
      ({ why }: SecretBroken) => {
        dropped += count
        return Effect.logError(`store: captured content cannot be encrypted: ${why}`)
      }
    const writeGroup = Effect.fnUntraced(function* (contents: ReadonlyArray<WaitingContent>) {
      const rows: Array<readonly [WaitingContent, Buffer]> = []
      for (const one of contents) {
        rows.push([one, Buffer.from(JSON.stringify(one.read()))])
        // Requests go on between two large contents.
        yield* Effect.yieldNow
      }
      if (!Arr.isReadonlyArrayNonEmpty(rows)) return
      yield* Effect.catchTag(within(inTransaction(insert(rows))), "SecretBroken", broken(rows.length))
    })
    const write = Effect.gen(function* () {
      while (group.length > 0 || waiting.size > 0) {
        if (group.length === 0) {
          group = firstGroup(waiting.values())
          for (const { id } of group) waiting.delete(id)
        }
        yield* writeGroup(group)
        group = []
      }
    })
    const { wake, writeAll } = yield* makeBatchWriter({
      isEmpty: () => group.length === 0 && waiting.size === 0,
      write,
      pause: Effect.sleep(contentPauseMillis),
      lost: Effect.suspend(() =>
        Effect.logError(
          `store: captured contents of ${group.length + waiting.size} requests are lost: the store did not take them before the process ended`
        )
      )
    })
    return {
      append: (content) => {
        if (content.bytes > contentQueueBytes) {
          dropped++
          return
        }
        const before = waiting.size
        waiting.set(content.keyId, content.id, content, content.bytes)
        dropped += before + 1 - waiting.size
        wake()
      },
      writeAll,
      dropped: () => dropped
    }
  }
)

export class ContentStore extends Context.Service<
  ContentStore,
  {
    /** Queues content without waiting; what finds no room is dropped and counted. */
    readonly append: (content: WaitingContent) => void
    /** Undefined for what was not captured, has expired, was removed as too much, or does not open any more. */
    readonly find: (id: string) => Effect.Effect<KeptContent | undefined, StoreUnavailable>
    /** Removes the contents of these requests, and returns how many there were. */
    readonly remove: (ids: ReadonlyArray<string>) => Effect.Effect<number, StoreUnavailable>
    /** Removes `removedRows` of the contents of a key, or of requests that ended before a moment, and returns how many; fewer: none was left. */
    readonly removeOlder: (of: Pick<RequestDeletion, "key" | "until">) => Effect.Effect<number, StoreUnavailable>
    /** The number of contents that were dropped by this process. */
    readonly dropped: () => number
    /** Removes what has expired, and the oldest of the keys that hold the most where it is too much. */
    readonly sweep: Effect.Effect<void, StoreUnavailable>
  }
>()("gateway/store/ContentStore") {
  /** In the database, for all gateways on it. `isKept` is false for a database in memory, which has a smaller bound. */
  static readonly layerWith = (options: {
    readonly isKept: boolean
  }): Layer.Layer<ContentStore, never, SqlClient.SqlClient | Vault> => Layer.effect(ContentStore, make(options))

  /** In the memory of this process, gone when it ends. */
  static readonly layerMemory: Layer.Layer<ContentStore> = Layer.suspend(() =>
    ContentStore.layerWith({ isKept: false })
  ).pipe(Layer.provide(Vault.layerMemory), Layer.provide(databaseMemory))
}

interface Row extends SealedRow {
  readonly expires_millis: number
}

const decode = Schema.decodeUnknownOption(RequestContent)

const finding = (sql: SqlClient.SqlClient, vault: Vault["Service"], within: Effect.Success<typeof makeStoreCall>) =>
  Effect.fnUntraced(function* (id: string) {
    const now = yield* Clock.currentTimeMillis
    const [row] = yield* within(sql<Row>`SELECT c.expires_millis, c.sealed AS secret, c.sealed_key_id AS secret_key_id,
      k.wrapped, k.master_id FROM request_contents c LEFT JOIN vault_keys k ON k.id = c.sealed_key_id
      WHERE c.id = ${id} AND c.expires_millis > ${now}`)
    if (row === undefined) return undefined
    const opened = yield* Effect.catchTag(vault.open(contentContext(id), row), "SecretBroken", ({ why }) =>
      Effect.as(Effect.logError(`store: the content of request ${id} cannot be decrypted: ${why}`), undefined)
    )
    const read = opened === undefined ? undefined : decode(Redacted.value(opened))
    return read?._tag === "Some" ? { id, expiresMillis: row.expires_millis, content: read.value } : undefined
  })

const newestMillis = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly millis: number | null }>`SELECT MAX(ended_millis) AS millis FROM request_contents`,
    ([row]) => row?.millis ?? undefined
  )

const sweeping = (sql: SqlClient.SqlClient, most: number, retention: RetentionClock) =>
  Effect.gen(function* () {
    const now = yield* retention
    yield* sql`DELETE FROM request_contents WHERE id IN (SELECT id FROM request_contents
      WHERE expires_millis <= ${now} ORDER BY expires_millis LIMIT ${removedRows})`
    const table = { name: "request_contents", since: "ended_millis" } as const
    while ((yield* sweepFairly(sql, table, { most, mostRows: removedRows })) === removedRows);
  })

const make = Effect.fnUntraced(function* ({ isKept }: { readonly isKept: boolean }) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const { contentMemoryBytes, contentSweepMillis, contentTotalBytes } = yield* Limits
  const within = yield* makeStoreCall
  const { append, dropped, writeAll } = yield* makeContentWriter
  const most = isKept ? contentTotalBytes : Math.min(contentTotalBytes, contentMemoryBytes)
  const written = yield* makeStoreWrite
  const sweep = written(lazyTransaction(sql)(sweeping(sql, most, makeRetentionClock(sql, newestMillis(sql)))))
  const removing = (condition: Fragment) =>
    Effect.andThen(
      writeAll,
      Effect.map(
        written(
          durableTransaction(sql)(sql`DELETE FROM request_contents WHERE id IN
            (SELECT id FROM request_contents WHERE ${condition} LIMIT ${removedRows}) RETURNING id`)
        ),
        (gone) => gone.length
      )
    )
  const find = finding(sql, vault, within)
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sweep), Schedule.spaced(contentSweepMillis)))
  return ContentStore.of({
    append,
    dropped,
    find: (id) => Effect.andThen(unlessFull(writeAll), find(id)),
    remove: (ids) => (ids.length === 0 ? Effect.succeed(0) : removing(sql.in("id", ids))),
    removeOlder: ({ key, until }) =>
      removing(
        sql.and([
          ...(key === undefined ? [] : [sql`key_id = ${key}`]),
          ...(until === undefined ? [] : [sql`ended_millis < ${until}`])
        ])
      ),
    sweep
  })
})
