// Writes kept responses in groups: those that end while another group is written share one transaction.
// Must not know what a response holds.
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { makeBatchWriter } from "./database/BatchWriter.ts"
import { givenRows } from "./database/BulkRows.ts"
import { lazyTransaction, makeStoreWrite } from "./database/Sql.ts"
import { responseContext } from "./Encryption.ts"
import { type SecretBroken, Vault } from "./Vault.ts"

/** A response that waits to be written: its columns, and its content as JSON in UTF-8. */
interface WaitingResponse {
  readonly id: string
  readonly keyId: string
  readonly status: string
  readonly previousId: string | undefined
  readonly content: Buffer
}

/** A group of this size is written as it is; later responses begin the next one. */
const groupRows = 256
const groupBytes = 8 * 1024 * 1024
/** After so many of a key the oldest beyond its bound leave. */
const trimShare = 0.01
const minuteMillis = 60 * 1000

/** Responses that are written together, and fail together. */
class Group {
  readonly rows: Arr.NonEmptyArray<WaitingResponse>
  readonly done = Deferred.makeUnsafe<void, StoreUnavailable>()
  private bytes: number

  constructor(first: WaitingResponse) {
    this.rows = [first]
    this.bytes = first.content.length
  }

  add(row: WaitingResponse): void {
    this.rows.push(row)
    this.bytes += row.content.length
  }

  get isFull(): boolean {
    return this.rows.length >= groupRows || this.bytes >= groupBytes
  }
}

export const withoutVault = ({ why }: SecretBroken) =>
  Effect.andThen(
    Effect.logError(`store: a response cannot be encrypted or decrypted: ${why}`),
    new StoreUnavailable({ reason: "unreachable" })
  )

/** Removes what is too much of the keys of a group, each time that enough was written for a key. */
const trimming = (sql: SqlClient.SqlClient, { responsesPerKey }: LimitValues) => {
  const untrimmed = new Map<string, number>()
  const isDue = ({ keyId }: WaitingResponse): boolean => {
    const count = (untrimmed.get(keyId) ?? 0) + 1
    const due = count >= Math.max(1, responsesPerKey * trimShare)
    untrimmed.set(keyId, due ? 0 : count)
    return due
  }
  /** One statement for all keys, by the index on time alone: of responses of one millisecond all stay. */
  const trim = (keyIds: ReadonlyArray<string>): Effect.Effect<unknown, SqlError> =>
    sql`WITH cuts AS (SELECT given.value ->> 0 AS key_id, (SELECT r.created_millis FROM responses r
        WHERE r.key_id = given.value ->> 0 ORDER BY r.created_millis DESC LIMIT 1 OFFSET ${responsesPerKey - 1}) AS millis
      FROM ${givenRows(
        sql,
        keyIds.map((keyId) => [keyId])
      )})
      DELETE FROM responses WHERE id IN (SELECT old.id FROM cuts
        JOIN responses old ON old.key_id = cuts.key_id AND old.created_millis < cuts.millis)`
  return (rows: ReadonlyArray<WaitingResponse>): Effect.Effect<void, SqlError> =>
    Effect.suspend(() => {
      const due = new Set(rows.filter(isDue).map(({ keyId }) => keyId))
      return due.size === 0 ? Effect.void : Effect.asVoid(trim([...due]))
    })
}

/** Seals the rows with the current data key and writes them in one statement. */
const inserting = (sql: SqlClient.SqlClient, vault: Vault["Service"], { responseMinutes }: LimitValues) =>
  Effect.fnUntraced(function* (rows: Arr.NonEmptyReadonlyArray<WaitingResponse>) {
    const { keyId: sealedBy, seal } = yield* vault.sealer
    const now = yield* Clock.currentTimeMillis
    yield* sql`INSERT INTO responses ${sql.insert(
      Arr.map(rows, ({ content, id, keyId, previousId, status }) => ({
        id,
        key_id: keyId,
        created_millis: now,
        expires_millis: now + responseMinutes * minuteMillis,
        status,
        previous_id: previousId ?? null,
        bytes_number: content.length,
        sealed: seal(responseContext(id), content),
        sealed_key_id: sealedBy
      }))
    )}`
  })

/**
 * Returns once the response is written. One fiber writes group after group and waits for no timer. A group that fails
 * fails the waiting ones as well, so that none waits longer than two writes.
 */
export const makeResponseWriter: Effect.Effect<
  (response: WaitingResponse) => Effect.Effect<void, StoreUnavailable>,
  never,
  SqlClient.SqlClient | Vault | Scope.Scope
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const limits = yield* Limits
  const within = yield* makeStoreWrite
  const inTransaction = lazyTransaction(sql)
  const insert = inserting(sql, yield* Vault, limits)
  const trimmed = trimming(sql, limits)
  const waiting: Array<Group> = []

  const writeGroup = (group: Group): Effect.Effect<void> =>
    within(inTransaction(Effect.andThen(insert(group.rows), trimmed(group.rows)))).pipe(
      Effect.catchTag("SecretBroken", withoutVault),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          const ended = exit._tag === "Success" ? [group] : [group, ...waiting.splice(0)]
          for (const { done } of ended) Deferred.doneUnsafe(done, exit)
        })
      ),
      Effect.ignore
    )
  const write = Effect.gen(function* () {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) yield* writeGroup(group)
  })
  const { wake } = yield* makeBatchWriter({
    isEmpty: () => waiting.length === 0,
    write,
    pause: Effect.void,
    lost: Effect.void
  })

  return (response) =>
    Effect.suspend(() => {
      const last = waiting.at(-1)
      if (last !== undefined && !last.isFull) {
        last.add(response)
        return Deferred.await(last.done)
      }
      const group = new Group(response)
      waiting.push(group)
      wake()
      return Deferred.await(group.done)
    })
})
