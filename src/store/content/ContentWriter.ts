// Writes captured content to the store in groups: a bounded queue, one writing fiber, retries while the store is down.
// Must not know how content is captured or read.
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { RequestContent } from "../../domain/RequestRow.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { FairEntries } from "../../domain/collections.ts"
import { Limits } from "../../domain/Limits.ts"
import { makeBatchWriter } from "../database/BatchWriter.ts"
import { lazyTransaction, makeStoreWrite } from "../database/Sql.ts"
import { contentContext } from "../Encryption.ts"
import { type SecretBroken, Vault } from "../Vault.ts"

/** Content that waits to be written. */
export interface WaitingContent {
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
const pauseMillis = 1000
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

export interface ContentWriter {
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
export const makeContentWriter: Effect.Effect<ContentWriter, never, SqlClient.SqlClient | Vault | Scope.Scope> =
  Effect.gen(function* () {
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
      pause: Effect.sleep(pauseMillis),
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
  })
