// Secrets of the store: sealed with data keys, which the database holds wrapped by a master key.
// Must not know what a secret is for.
import type { KeyObject } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { isJsonObject, type JsonObject, parseExactJsonText } from "../domain/text/json.ts"
import {
  keyFingerprint,
  keyOf,
  type MasterKeys,
  masterKeysGiven,
  openBytes,
  randomKey,
  randomMasterText,
  sealBytes,
  type SealContext
} from "./Encryption.ts"
import { durableTransaction, onSqlite, reasonOf, StoreUnusable } from "./database/Sql.ts"

interface Sealed {
  readonly bytes: Uint8Array
  readonly keyId: string
}

/** Sealed bytes and the wrapped key that sealed them, read in one query, so that no rotation happens in between. */
export interface SealedRow {
  readonly secret: Uint8Array
  readonly secret_key_id: string
  readonly wrapped: Uint8Array | null
  readonly master_id: string | null
}

/** A secret does not open; `why` completes "cannot be decrypted: ". */
export class SecretBroken extends Schema.TaggedError<SecretBroken>()("SecretBroken", { why: Schema.String }) {}

interface MasterKey {
  readonly id: string
  readonly key: KeyObject
}

const keyContext = (id: string): SealContext => ({ kind: "vault-key", id, version: 1 })
const pepperContext: SealContext = { kind: "vault", id: "pepper", version: 1 }
const dataKeysKept = 100

/** Takes the lock of all changes to the store. Call it first in a transaction. */
export const lockStore = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`UPDATE revision SET number = number`)

export class Vault extends Context.Service<
  Vault,
  {
    /**
     * The current data key, which no rotation forgets before the transaction ends that it is asked in: its id, and what
     * seals the UTF-8 text of a JSON object with it.
     */
    readonly sealer: Effect.Effect<
      { readonly keyId: string; readonly seal: (context: SealContext, secret: Uint8Array) => Uint8Array },
      SecretBroken | SqlError
    >
    /** Seals with the current data key. Call it in a transaction that holds the lock of changes. */
    readonly seal: (
      context: SealContext,
      secret: Redacted.Redacted<JsonObject>
    ) => Effect.Effect<Sealed, SecretBroken | SqlError>
    readonly open: (context: SealContext, row: SealedRow) => Effect.Effect<Redacted.Redacted<JsonObject>, SecretBroken>
    /** A random text, made once and the same for every process on the store. */
    readonly pepper: Redacted.Redacted<string>
    /**
     * Makes a new current data key, wraps every data key with the first master key and seals the pepper again. Call it in a
     * transaction that holds the lock of changes.
     */
    readonly renew: Effect.Effect<void, SqlError | StoreUnusable>
  }
>()("gateway/store/Vault") {
  /**
   * Makes the data key and the pepper of a new store. Fails when the master keys are malformed or those of another
   * store.
   */
  static readonly layer = (masters: MasterKeys): Layer.Layer<Vault, StoreUnusable, SqlClient.SqlClient> =>
    Layer.effect(
      Vault,
      Effect.catchTag(
        make(masters),
        "SqlError",
        (error) => new StoreUnusable({ message: `the keys of the store cannot be read: ${reasonOf(error)}` })
      )
    )

  /** For a store in memory: its master key ends with the process. */
  static readonly layerMemory: Layer.Layer<Vault, never, SqlClient.SqlClient> = Layer.orDie(
    Layer.suspend(() => Vault.layer(masterKeysGiven([Redacted.make(randomMasterText())], "the key of this process")))
  )
}

/** The master keys in order; each must be 32 bytes in base64. */
const readMasters = Effect.fnUntraced(function* (masters: MasterKeys) {
  const keys: Array<MasterKey> = []
  for (const text of yield* masters.read) {
    const key = keyOf(Buffer.from(Redacted.value(text), "base64"))
    if (key === undefined)
      return yield* new StoreUnusable({
        message: `${masters.where} must hold 32 bytes in base64, as \`openssl rand -base64 32\` makes them`
      })
    keys.push({ id: keyFingerprint(key), key })
  }
  const [first] = keys
  return first === undefined ? yield* new StoreUnusable({ message: `${masters.where} holds no key` }) : { first, keys }
})

/** Unwraps each data key once and keeps it. */
const makeKeyring = Effect.fnUntraced(function* (masters: MasterKeys) {
  let masterKeys = yield* readMasters(masters)
  const opened = new Map<string, KeyObject>()
  const masterOf = (id: string) => masterKeys.keys.find((one) => one.id === id)?.key
  const unwrap = Effect.fnUntraced(function* (id: string, wrapped: Uint8Array | null, masterId: string | null) {
    const secret = opened.get(id)
    if (secret !== undefined) return secret
    if (wrapped === null || masterId === null)
      return yield* new SecretBroken({ why: `its data key ${id} is gone from the store` })
    if (masterOf(masterId) === undefined) {
      masterKeys = yield* Effect.mapError(readMasters(masters), ({ message }) => new SecretBroken({ why: message }))
    }
    const master = masterOf(masterId)
    if (master === undefined)
      return yield* new SecretBroken({
        why: `its data key is wrapped by the master key ${masterId}, which is not in ${masters.where}`
      })
    const bytes = openBytes(master, keyContext(id), wrapped)
    const key = bytes === undefined ? undefined : keyOf(bytes)
    bytes?.fill(0)
    if (key === undefined) return yield* new SecretBroken({ why: `its data key ${id} was changed in the store` })
    if (opened.size >= dataKeysKept) opened.clear()
    opened.set(id, key)
    return key
  })
  return {
    unwrap,
    /** Reads the master keys again and returns the first one. */
    first: Effect.map(readMasters(masters), (read) => {
      masterKeys = read
      return read.first
    })
  }
})

const opening = (
  key: KeyObject,
  context: SealContext,
  bytes: Uint8Array
): Effect.Effect<Redacted.Redacted<JsonObject>, SecretBroken> => {
  const plain = openBytes(key, context, bytes)
  if (plain === undefined) return Effect.fail(new SecretBroken({ why: "it was changed in the store" }))
  const parsed = parseExactJsonText(plain.toString("utf8"))
  plain.fill(0)
  return Result.isSuccess(parsed) && isJsonObject(parsed.success)
    ? Effect.succeed(Redacted.make(parsed.success))
    : Effect.fail(new SecretBroken({ why: "it is no JSON object" }))
}

type KeyRow = { readonly id: string; readonly wrapped: Uint8Array; readonly master_id: string }

type Keyring = Effect.Success<ReturnType<typeof makeKeyring>>

const keyFault = ({ why }: SecretBroken): StoreUnusable =>
  new StoreUnusable({ message: `the secrets of the store cannot be decrypted: ${why}` })

/** The data keys in the database, each wrapped by a master key. */
const dataKeys = (sql: SqlClient.SqlClient, ring: Keyring) => {
  /** Makes a new data key, which becomes the current one. */
  const add = Effect.fnUntraced(function* (master: MasterKey) {
    const bytes = randomKey()
    const id = randomKey().toString("hex").slice(0, 16)
    const wrapped = sealBytes(master.key, keyContext(id), bytes)
    const made = yield* Clock.currentTimeMillis
    yield* sql`UPDATE vault_keys SET is_current = 0`
    yield* sql`INSERT INTO vault_keys ${sql.insert({ id, master_id: master.id, wrapped, made_millis: made, is_current: 1 })}`
    bytes.fill(0)
  })

  /** Wraps every data key with this master key. */
  const rewrap = Effect.fnUntraced(function* (master: MasterKey) {
    for (const row of yield* sql<KeyRow>`SELECT id, wrapped, master_id FROM vault_keys WHERE master_id <> ${master.id}`) {
      const key = yield* Effect.mapError(ring.unwrap(row.id, row.wrapped, row.master_id), keyFault)
      const bytes = key.export()
      yield* sql`UPDATE vault_keys SET master_id = ${master.id}, wrapped = ${sealBytes(master.key, keyContext(row.id), bytes)} WHERE id = ${row.id}`
      bytes.fill(0)
    }
  })

  const shared = sql.literal(onSqlite(sql) ? "" : "FOR SHARE")
  const read = Effect.map(
    sql<KeyRow>`SELECT id, wrapped, master_id FROM vault_keys WHERE is_current = 1 ${shared}`,
    ([row]) => row
  )
  /** PostgreSQL finds no row where a rotation ended while the lock was waited for; the new key is there afterwards. */
  const current = Effect.flatMap(read, (row) => (row === undefined ? read : Effect.succeed(row)))
  return { add, rewrap, current }
}

/** Sealing with the current data key. */
const sealing = (keys: ReturnType<typeof dataKeys>, ring: Keyring): Pick<Vault["Service"], "seal" | "sealer"> => {
  const sealer: Vault["Service"]["sealer"] = Effect.gen(function* () {
    const row = yield* keys.current
    if (row === undefined) return yield* new SecretBroken({ why: "the store has no current data key" })
    const key = yield* ring.unwrap(row.id, row.wrapped, row.master_id)
    return { keyId: row.id, seal: (context, secret) => sealBytes(key, context, secret) }
  })

  const seal: Vault["Service"]["seal"] = (context, secret) =>
    Effect.map(sealer, ({ keyId, seal: sealed }) => {
      const plain = Buffer.from(JSON.stringify(Redacted.value(secret)), "utf8")
      const bytes = sealed(context, plain)
      plain.fill(0)
      return { bytes, keyId }
    })
  return { seal, sealer }
}

const make = Effect.fnUntraced(function* (masters: MasterKeys) {
  const sql = yield* SqlClient.SqlClient
  const [sealed] = yield* sql`SELECT id FROM vault_keys LIMIT 1`
  if (sealed === undefined) yield* masters.prepare
  const ring = yield* makeKeyring(masters)
  const keys = dataKeys(sql, ring)

  const { seal, sealer } = sealing(keys, ring)

  const open: Vault["Service"]["open"] = (context, row) =>
    Effect.flatMap(ring.unwrap(row.secret_key_id, row.wrapped, row.master_id), (key) =>
      opening(key, context, row.secret)
    )

  const readPepper = Effect.gen(function* () {
    const [row] =
      yield* sql<SealedRow>`SELECT v.value AS secret, v.value_key_id AS secret_key_id, k.wrapped, k.master_id
      FROM vault_values v LEFT JOIN vault_keys k ON k.id = v.value_key_id WHERE v.name = 'pepper'`
    if (row === undefined) return undefined
    const { pepper } = Redacted.value(yield* Effect.mapError(open(pepperContext, row), keyFault))
    return typeof pepper === "string" ? Redacted.make(pepper) : undefined
  })

  const writePepper = Effect.fnUntraced(function* (pepper: Redacted.Redacted<string>) {
    const { bytes, keyId } = yield* Effect.catchTag(
      seal(pepperContext, Redacted.make({ pepper: Redacted.value(pepper) })),
      "SecretBroken",
      keyFault
    )
    yield* sql`DELETE FROM vault_values WHERE name = 'pepper'`
    yield* sql`INSERT INTO vault_values ${sql.insert({ name: "pepper", value: bytes, value_key_id: keyId })}`
  })

  /** The first process on a new store makes its keys. */
  const readOrMakePepper = durableTransaction(sql)(
    Effect.gen(function* () {
      yield* lockStore(sql)
      const stored = yield* readPepper
      if (stored !== undefined) return stored
      if ((yield* keys.current) === undefined) yield* keys.add(yield* ring.first)
      const pepper = Redacted.make(randomKey().toString("base64url"))
      yield* writePepper(pepper)
      return pepper
    })
  )
  const pepper = (yield* readPepper) ?? (yield* readOrMakePepper)

  return Vault.of({
    sealer,
    seal,
    open,
    pepper,
    renew: Effect.gen(function* () {
      const master = yield* ring.first
      yield* keys.rewrap(master)
      yield* keys.add(master)
      yield* writePepper(pepper)
    })
  })
})
