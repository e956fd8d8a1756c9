// Key rotation of the store while it is in use: makes new keys, encrypts the secrets again in batches, forgets the old keys.
// Must not know what a secret is for.
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { contentContext, type MasterKeys, responseContext, type SealContext } from "./Encryption.ts"
import { durableTransaction, reasonOf, StoreUnusable } from "./database/Sql.ts"
import { lockStore, type SealedRow, Vault } from "./Vault.ts"

interface Rotated {
  /** Number of record secrets that were encrypted again. */
  readonly records: number
  /** Records whose secrets do not open, as `kind id`. They stay as they are, and so do the keys they name. */
  readonly broken: ReadonlyArray<string>
  /** Number of data keys that were deleted. */
  readonly keysRetired: number
}

type Row = SealedRow & { readonly kind: string; readonly id: string; readonly version: number }

/** Changes by other processes wait for a batch, so it is short. */
const batch = 50

/** Encrypts the secrets of the next batch after this record; undefined when there are none. */
const nextBatch = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  vault: Vault["Service"],
  after: Pick<Row, "kind" | "id">
) {
  yield* lockStore(sql)
  const rows = yield* sql<Row>`SELECT r.kind, r.id, r.version, r.secret, r.secret_key_id, k.wrapped, k.master_id
    FROM records r LEFT JOIN vault_keys k ON k.id = r.secret_key_id
    WHERE r.secret IS NOT NULL AND (k.is_current IS NULL OR k.is_current = 0)
      AND (r.kind > ${after.kind} OR (r.kind = ${after.kind} AND r.id > ${after.id}))
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

type TextRow = SealedRow & { readonly id: string }

/** Tables of sealed texts that may be lost, and the context of each text. */
const textTables: ReadonlyArray<readonly [table: string, contextOf: (id: string) => SealContext]> = [
  ["responses", responseContext],
  ["request_contents", contentContext]
]

/** The texts are large. */
const textBatch = 10

/** Encrypts the next texts of a table with the new key and removes those that do not open. The last id; undefined at the end. */
const nextTexts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  vault: Vault["Service"],
  [name, contextOf]: (typeof textTables)[number],
  behind: string
) {
  yield* lockStore(sql)
  const table = sql.literal(name)
  const rows =
    yield* sql<TextRow>`SELECT r.id, r.sealed AS secret, r.sealed_key_id AS secret_key_id, k.wrapped, k.master_id
    FROM ${table} r LEFT JOIN vault_keys k ON k.id = r.sealed_key_id
    WHERE (k.is_current IS NULL OR k.is_current = 0) AND r.id > ${behind} ORDER BY r.id LIMIT ${textBatch}`
  for (const row of rows) {
    const context = contextOf(row.id)
    yield* Effect.flatMap(vault.open(context, row), (content) => vault.seal(context, content)).pipe(
      Effect.flatMap(
        ({ bytes, keyId }) => sql`UPDATE ${table} SET sealed = ${bytes}, sealed_key_id = ${keyId} WHERE id = ${row.id}`
      ),
      Effect.catchTag("SecretBroken", () => sql`DELETE FROM ${table} WHERE id = ${row.id}`)
    )
  }
  return rows.at(-1)?.id
})

/** Deletes the data keys that encrypt nothing any more. */
const deleteUnusedKeys = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* lockStore(sql)
  const gone = yield* sql`DELETE FROM vault_keys WHERE is_current = 0
    AND id NOT IN (SELECT secret_key_id FROM records WHERE secret_key_id IS NOT NULL)
    AND id NOT IN (SELECT sealed_key_id FROM responses)
    AND id NOT IN (SELECT sealed_key_id FROM request_contents)
    AND id NOT IN (SELECT value_key_id FROM vault_values) RETURNING id`
  return gone.length
})

/** Removes the master keys that encrypt nothing. Keys that another, unfinished rotation needs stay. */
const retire = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, masters: MasterKeys) {
  yield* lockStore(sql)
  const used = yield* sql<{ readonly master_id: string }>`SELECT DISTINCT master_id FROM vault_keys`
  yield* masters.retire(new Set(used.map(({ master_id: id }) => id)))
})

/**
 * Makes a new data key, a new master key where the gateway keeps the key file, and encrypts everything with them. Any
 * process that has the old and new master keys can read and write the store meanwhile. A rotation that stops in the middle
 * leaves everything readable: run it again.
 */
export const rotateSecret = (masters: MasterKeys): Effect.Effect<Rotated, StoreUnusable, SqlClient.SqlClient | Vault> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const transaction = durableTransaction(sql)
    // The lock covers the key file too: two concurrent rotations must not overwrite each other's file.
    yield* transaction(Effect.andThen(lockStore(sql), Effect.andThen(masters.renew, vault.renew)))
    const broken: Array<string> = []
    let records = 0
    let after: Pick<Row, "kind" | "id"> | undefined = { kind: "", id: "" }
    while (after !== undefined) {
      const step: Effect.Success<ReturnType<typeof nextBatch>> = yield* transaction(nextBatch(sql, vault, after))
      after = step?.last
      records += step?.done ?? 0
      broken.push(...(step?.broken ?? []))
    }
    for (const table of textTables) {
      let text: string | undefined = ""
      while (text !== undefined) {
        const last: string | undefined = yield* transaction(nextTexts(sql, vault, table, text))
        text = last
      }
    }
    const keysRetired = yield* transaction(deleteUnusedKeys(sql))
    yield* transaction(retire(sql, masters))
    return { records, broken, keysRetired }
  }).pipe(
    Effect.catchTag(
      "SqlError",
      (error) => new StoreUnusable({ message: `the rotation stopped: ${reasonOf(error)}; run it again to finish it` })
    )
  )
