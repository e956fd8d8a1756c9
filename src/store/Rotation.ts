// New keys for the secrets of the store while it is in use: write with the new, read with both, encrypt anew in batches, forget the old.
// It must not know what a secret is for.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { MasterKeys } from "./MasterKeys.ts"
import { durably, reasonOf, StoreUnusable } from "./Sql.ts"
import { lockStore, type SealedRow, Vault } from "./Vault.ts"

export interface Rotated {
  /** How many secrets of records were encrypted anew. */
  readonly records: number
  /** Records whose secrets do not open, as `kind id`; they stay as they are, and so do the keys they name. */
  readonly broken: ReadonlyArray<string>
  /** How many data keys were forgotten. */
  readonly keysRetired: number
}

type Row = SealedRow & { readonly kind: string; readonly id: string; readonly version: number }

/** Changes of others wait for a batch, so it is short. */
const batch = 50

/** Encrypts the next secrets anew that are behind this record; undefined when there are none. */
const nextBatch = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  vault: Vault["Service"],
  behind: Pick<Row, "kind" | "id">
) {
  yield* lockStore(sql)
  const rows = yield* sql<Row>`SELECT r.kind, r.id, r.version, r.secret, r.secret_key_id, k.wrapped, k.master_id
    FROM records r LEFT JOIN vault_keys k ON k.id = r.secret_key_id
    WHERE r.secret IS NOT NULL AND (k.is_current IS NULL OR k.is_current = 0)
      AND (r.kind > ${behind.kind} OR (r.kind = ${behind.kind} AND r.id > ${behind.id}))
    ORDER BY r.kind, r.id LIMIT ${batch}`
  const broken: Array<string> = []
  for (const row of rows) {
    const { id, kind } = row
    yield* Effect.flatMap(vault.open(row, row), (secret) => vault.seal(row, secret)).pipe(
      Effect.flatMap(
        ({ bytes, keyId }) =>
          sql`UPDATE records SET secret = ${bytes}, secret_key_id = ${keyId} WHERE kind = ${kind} AND id = ${id}`
      ),
      Effect.catchTag("SecretBroken", () => Effect.sync(() => broken.push(`${kind} ${id}`)))
    )
  }
  const last = rows.at(-1)
  return last === undefined ? undefined : { last, broken, done: rows.length - broken.length }
})

/** Forgets the data keys that nothing is encrypted with any more. */
const forget = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* lockStore(sql)
  const gone = yield* sql`DELETE FROM vault_keys WHERE is_current = 0
    AND id NOT IN (SELECT secret_key_id FROM records WHERE secret_key_id IS NOT NULL)
    AND id NOT IN (SELECT value_key_id FROM vault_values) RETURNING id`
  return gone.length
})

/** Forgets the master keys that nothing is encrypted with: those of another rotation, which has come less far, stay. */
const retire = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, masters: MasterKeys) {
  yield* lockStore(sql)
  const used = yield* sql<{ readonly master_id: string }>`SELECT DISTINCT master_id FROM vault_keys`
  yield* masters.retire(new Set(used.map(({ master_id: id }) => id)))
})

/**
 * Makes a new data key, and a new master key where that is a file of ours, and encrypts everything with them. The store can be
 * read and written all the while by any process that has the master keys, new and old. Stopped in the middle it leaves nothing
 * unreadable: run it again.
 */
export const rotateSecret = (masters: MasterKeys): Effect.Effect<Rotated, StoreUnusable, SqlClient.SqlClient | Vault> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const transaction = durably(sql)
    // The key file is written under the lock as well, for of two rotations at once neither may undo what the other one wrote.
    yield* transaction(Effect.andThen(lockStore(sql), Effect.andThen(masters.renew, vault.renew)))
    const broken: Array<string> = []
    let records = 0
    let behind: Pick<Row, "kind" | "id"> | undefined = { kind: "", id: "" }
    while (behind !== undefined) {
      const step: Effect.Success<ReturnType<typeof nextBatch>> = yield* transaction(nextBatch(sql, vault, behind))
      behind = step?.last
      records += step?.done ?? 0
      broken.push(...(step?.broken ?? []))
    }
    const keysRetired = yield* transaction(forget(sql))
    yield* transaction(retire(sql, masters))
    return { records, broken, keysRetired }
  }).pipe(
    Effect.catchTag(
      "SqlError",
      (error) => new StoreUnusable({ message: `the rotation stopped: ${reasonOf(error)}; run it again to finish it` })
    )
  )
