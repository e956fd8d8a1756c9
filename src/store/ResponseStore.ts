// Kept responses: written before the client learns the id, read by the key that made them, gone when they expire.
// It must not know what a response holds, or how one is made.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { inTurn } from "../batching/OwnTurn.ts"
import type { Busy, ConcurrencyReached, StoreUnavailable } from "../domain/GatewayError.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { bytesOfValues, noRoomFault, type Room } from "../domain/RequestContext.ts"
import { valuesIn } from "../domain/text/innerJson.ts"
import type { JsonObject } from "../domain/text/json.ts"
import { makeRetentionClock, type RetentionClock, sweepFairly } from "./database/Retention.ts"
import { databaseMemory } from "./database/Migrations.ts"
import { responseContext } from "./Encryption.ts"
import { makeStoreCall, makeStoreWrite, lazyTransaction } from "./database/Sql.ts"
import { makeResponseWriter, withoutVault } from "./ResponseWriter.ts"
import { type SealedRow, Vault } from "./Vault.ts"

/** A response as it is kept: `content` is sealed wherever it lies. */
export interface KeptResponse {
  readonly id: string
  readonly keyId: string
  readonly status: "completed" | "incomplete"
  readonly previousId: string | undefined
  readonly content: JsonObject
}

/** A chain of responses, the oldest first, or why there is none. */
export type Chain =
  | { readonly _tag: "Chain"; readonly turns: ReadonlyArray<KeptResponse> }
  | { readonly _tag: "Missing"; readonly id: string }
  | { readonly _tag: "TooLong" }

/** The store does not answer, or the bytes of what it has find no room in memory. */
type ReadFault = StoreUnavailable | Busy | ConcurrencyReached

/** `room` counts the bytes and values of what is read until the request ends; it is asked for the bytes before they are read. */
type ReadStored<Of, A> = (keyId: string, of: Of, room?: Room) => Effect.Effect<A, ReadFault>

export class ResponseStore extends Context.Service<
  ResponseStore,
  {
    /** False: the operator has no response kept. */
    readonly keeps: boolean
    /** The id works afterwards on any gateway of the store. False: the response is too large to be kept. */
    readonly keep: (response: KeptResponse) => Effect.Effect<boolean, StoreUnavailable>
    /** Undefined for what never was, has expired, was removed, or belongs to another key. */
    readonly get: ReadStored<string, KeptResponse | undefined>
    /** Some responses of a key; those that are not there are left out. Undefined: together they are too large to be read. */
    readonly some: ReadStored<ReadonlyArray<string>, ReadonlyMap<string, KeptResponse> | undefined>
    /** The response and all it continues, in two queries whatever its length. */
    readonly chain: ReadStored<string, Chain>
    /** Whether there was one. */
    readonly remove: (keyId: string, id: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Removes what has expired, and the oldest of the keys that hold the most; at most 1,000 rows of each. The number of rows that left. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("gateway/store/ResponseStore") {
  /** In the database, for all gateways on it. `keeps` is false where the operator has no response kept. */
  static readonly layerWith = (options: {
    readonly keeps: boolean
  }): Layer.Layer<ResponseStore, never, SqlClient.SqlClient | Vault> => Layer.effect(ResponseStore, make(options))

  static readonly layer: Layer.Layer<ResponseStore, never, SqlClient.SqlClient | Vault> = Layer.suspend(() =>
    ResponseStore.layerWith({ keeps: true })
  )

  /** The same in the memory of this process, gone when it ends. */
  static readonly layerMemory: Layer.Layer<ResponseStore> = ResponseStore.layer.pipe(
    Layer.provide(Vault.layerMemory),
    Layer.provide(databaseMemory)
  )
}

type Service = ResponseStore["Service"]

interface Row extends SealedRow {
  readonly id: string
  readonly key_id: string
  readonly status: KeptResponse["status"]
  readonly previous_id: string | null
  readonly bytes_number: number
}

/** Rows of one sweep: others write in between. */
const sweptRows = 1_000
const keptOf = (vault: Vault["Service"], row: Row) =>
  Effect.map(
    Effect.catchTag(vault.open(responseContext(row.id), row), "SecretBroken", withoutVault),
    (content): KeptResponse => ({
      id: row.id,
      keyId: row.key_id,
      status: row.status,
      previousId: row.previous_id ?? undefined,
      content: Redacted.value(content)
    })
  )

/** Values that one request may read, echoes of requests included, as a multiple of those that it may hold. */
const readTimes = 8

interface Sized {
  readonly id: string
  readonly bytes_number: number
}

/** A response of a chain, and the bytes of the chain down to it. */
interface Link {
  readonly id: string
  readonly previous_id: string | null
  readonly turn: number
  readonly total: number
}

/** Queries for the responses of one key that have not expired. */
const queries = (sql: SqlClient.SqlClient, { responseChain, responseHistoryBytes }: LimitValues) => {
  const columns = sql.literal(`r.id, r.key_id, r.status, r.previous_id, r.bytes_number, r.sealed AS secret,
    r.sealed_key_id AS secret_key_id, k.wrapped, k.master_id
    FROM responses r LEFT JOIN vault_keys k ON k.id = r.sealed_key_id`)
  const ofKey = (keyId: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => sql`r.key_id = ${keyId} AND r.expires_millis > ${now}`)
  return {
    rows: (keyId: string, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
      Effect.flatMap(ofKey(keyId), (isOwn) => sql<Row>`SELECT ${columns} WHERE ${sql.in("r.id", ids)} AND ${isOwn}`),
    sizes: (keyId: string, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Sized>, SqlError> =>
      Effect.flatMap(
        ofKey(keyId),
        (isOwn) => sql<Sized>`SELECT r.id, r.bytes_number FROM responses r WHERE ${sql.in("r.id", ids)} AND ${isOwn}`
      ),
    /** The newest first; the walk ends one link beyond a bound. */
    links: (keyId: string, id: string): Effect.Effect<ReadonlyArray<Link>, SqlError> =>
      Effect.flatMap(
        ofKey(keyId),
        (isOwn) => sql<Link>`WITH RECURSIVE chain (id, previous_id, turn, total) AS (
          SELECT r.id, r.previous_id, 1, r.bytes_number FROM responses r WHERE r.id = ${id} AND ${isOwn}
          UNION ALL
          SELECT r.id, r.previous_id, c.turn + 1, c.total + r.bytes_number
          FROM chain c JOIN responses r ON r.id = c.previous_id
          WHERE ${isOwn} AND c.turn <= ${responseChain} AND c.total <= ${responseHistoryBytes})
          SELECT id, previous_id, turn, total FROM chain ORDER BY turn`
      )
  }
}

const reads = (
  sql: SqlClient.SqlClient,
  vault: Vault["Service"],
  within: Effect.Success<typeof makeStoreCall>,
  limits: LimitValues
): Pick<Service, "get" | "some" | "chain"> => {
  const { responseChain, responseHistoryBytes } = limits
  const { links, rows, sizes } = queries(sql, limits)
  const mostValues = readTimes * limits.jsonValues
  /** Sizes are known before the rows are read: each may be as large as the largest response. */
  const load = Effect.fnUntraced(function* (
    keyId: string,
    ids: ReadonlyArray<string>,
    bytes: number,
    room: Room | undefined
  ) {
    const shortage = room?.take(bytes)
    if (shortage !== undefined) return yield* Effect.fail(noRoomFault(shortage))
    const responses = new Map<string, KeptResponse>()
    let values = 0
    for (const row of yield* within(rows(keyId, ids))) {
      const response = yield* inTurn(row.bytes_number, () => keptOf(vault, row))
      const rowValues = valuesIn(response.content)
      values += rowValues
      if (values > mostValues && ids.length > 1) return undefined
      const more = bytesOfValues(rowValues)
      const shortageOfValues = more === 0 ? undefined : room?.take(more)
      if (shortageOfValues !== undefined) return yield* Effect.fail(noRoomFault(shortageOfValues))
      responses.set(row.id, response)
    }
    return responses
  })
  const loadSized = Effect.fnUntraced(function* (
    keyId: string,
    ids: ReadonlyArray<string>,
    most: number | undefined,
    room: Room | undefined
  ) {
    const sized = ids.length === 0 ? [] : yield* within(sizes(keyId, ids))
    const bytes = sized.reduce((sum, { bytes_number: rowBytes }) => sum + rowBytes, 0)
    if (most !== undefined && bytes > most) return undefined
    return sized.length === 0 ? new Map<string, KeptResponse>() : yield* load(keyId, ids, bytes, room)
  })
  return {
    some: (keyId, ids, room) => loadSized(keyId, ids, responseHistoryBytes, room),
    get: (keyId, id, room) => Effect.map(loadSized(keyId, [id], undefined, room), (responses) => responses?.get(id)),
    chain: Effect.fnUntraced(function* (keyId, id, room) {
      const walked = yield* within(links(keyId, id))
      const last = walked.at(-1)
      if (last === undefined) return { _tag: "Missing", id }
      if (last.turn > responseChain || last.total > responseHistoryBytes) return { _tag: "TooLong" }
      if (last.previous_id !== null) return { _tag: "Missing", id: last.previous_id }
      const ids = walked.map((link) => link.id).toReversed()
      const responses = yield* load(keyId, ids, last.total, room)
      if (responses === undefined) return { _tag: "TooLong" }
      const turns: Array<KeptResponse> = []
      for (const one of ids) {
        const turn = responses.get(one)
        if (turn === undefined) return { _tag: "Missing", id: one }
        turns.push(turn)
      }
      return { _tag: "Chain", turns }
    })
  }
}

const minuteMillis = 60 * 1000

/** The life of each response is the same, so the last that expires is the newest. */
const newestMillis = (sql: SqlClient.SqlClient, { responseMinutes }: LimitValues) =>
  Effect.map(sql<{ readonly millis: number | null }>`SELECT MAX(expires_millis) AS millis FROM responses`, ([row]) => {
    const expires = row?.millis ?? undefined
    return expires === undefined ? undefined : expires - responseMinutes * minuteMillis
  })

const sweeping = (sql: SqlClient.SqlClient, { responsesTotalBytes }: LimitValues, retention: RetentionClock) =>
  Effect.gen(function* () {
    const now = yield* retention
    const expired = yield* sql`DELETE FROM responses WHERE id IN
      (SELECT id FROM responses WHERE expires_millis <= ${now} ORDER BY expires_millis LIMIT ${sweptRows}) RETURNING id`
    const gone = yield* sweepFairly(
      sql,
      { name: "responses", since: "created_millis" },
      { most: responsesTotalBytes, mostRows: sweptRows }
    )
    return expired.length + gone
  })

const make = Effect.fnUntraced(function* ({
  keeps
}: {
  readonly keeps: boolean
}): Effect.fn.Return<Service, never, SqlClient.SqlClient | Vault | Scope.Scope> {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const limits = yield* Limits
  const within = yield* makeStoreCall
  const write = yield* makeResponseWriter
  const written = yield* makeStoreWrite
  const sweep = written(lazyTransaction(sql)(sweeping(sql, limits, makeRetentionClock(sql, newestMillis(sql, limits)))))
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sweep), Schedule.spaced(limits.responseSweepMillis)))
  return {
    keeps,
    ...reads(sql, vault, within, limits),
    keep: ({ content: value, ...row }) => {
      const content = Buffer.from(JSON.stringify(value))
      return content.length > limits.responseBytes ? Effect.succeed(false) : Effect.as(write({ ...row, content }), true)
    },
    remove: (keyId, id) =>
      Effect.map(
        written(sql`DELETE FROM responses WHERE id = ${id} AND key_id = ${keyId} RETURNING id`),
        (gone) => gone.length > 0
      ),
    sweep
  }
})
