// Secrets of the store: sealed with data keys, which the database holds wrapped by the master key.
// It must not know what a secret is for.
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
import { fingerprint, keyOf, openBytes, type Place, randomKey, sealBytes } from "./Envelope.ts"
import { type MasterKeys, masterKeysGiven, randomMasterText } from "./MasterKeys.ts"
import { durably, reasonOf, StoreUnusable } from "./Sql.ts"

export interface Sealed {
  readonly bytes: Uint8Array
  readonly keyId: string
}

/** Sealed bytes as they are read: with the key that sealed them, from one snapshot, so that no rotation comes between. */
export interface SealedRow {
  readonly secret: Uint8Array
  readonly secret_key_id: string
  readonly wrapped: Uint8Array | null
  readonly master_id: string | null
}

/** A secret does not open; `why` goes on after "cannot be decrypted: ". */
export class SecretBroken extends Schema.TaggedError<SecretBroken>()("SecretBroken", { why: Schema.String }) {}

interface MasterKey {
  readonly id: string
  readonly key: KeyObject
}

const keyPlace = (id: string): Place => ({ kind: "vault-key", id, version: 1 })
const pepperPlace: Place = { kind: "vault", id: "pepper", version: 1 }
const dataKeysKept = 100

/** Takes the lock of all changes of the store, to be called first in a transaction. */
export const lockStore = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError> =>
  Effect.asVoid(sql`UPDATE revision SET number = number`)

export class Vault extends Context.Service<
  Vault,
  {
    /** Seals with the current data key; runs within the transaction that holds the lock of changes. */
    readonly seal: (
      place: Place,
      secret: Redacted.Redacted<JsonObject>
    ) => Effect.Effect<Sealed, SecretBroken | SqlError>
    readonly open: (place: Place, row: SealedRow) => Effect.Effect<Redacted.Redacted<JsonObject>, SecretBroken>
    /** Random, the same for every process on the store, made once. */
    readonly pepper: Redacted.Redacted<string>
    /** Makes a new current data key, wraps every one by the first master key and seals the pepper anew; within a transaction as `seal` does. */
    readonly renew: Effect.Effect<void, SqlError | StoreUnusable>
  }
>()("gateway/store/Vault") {
  /** Makes data key and pepper in a store that has none. Fails when the master keys are unfit or not those of the store. */
  static readonly layer = (masters: MasterKeys): Layer.Layer<Vault, StoreUnusable, SqlClient.SqlClient> =>
    Layer.effect(
      Vault,
      Effect.catchTag(
        make(masters),
        "SqlError",
        (error) => new StoreUnusable({ message: `the keys of the store cannot be read: ${reasonOf(error)}` })
      )
    )

  /** For a store that ends with this process: so does its master key. */
  static readonly layerMemory: Layer.Layer<Vault, never, SqlClient.SqlClient> = Layer.orDie(
    Layer.suspend(() => Vault.layer(masterKeysGiven([Redacted.make(randomMasterText())], "the key of this process")))
  )
}

/** The master keys in order; each must be 32 bytes in base64. */
const readMasters = Effect.fnUntraced(function* (masters: MasterKeys) {
  const keys: Array<MasterKey> = []
  for (const text of yield* masters.all) {
    const key = keyOf(Buffer.from(Redacted.value(text), "base64"))
    if (key === undefined)
      return yield* new StoreUnusable({
        message: `${masters.where} must hold 32 bytes in base64, as \`openssl rand -base64 32\` makes them`
      })
    keys.push({ id: fingerprint(key), key })
  }
  const [first] = keys
  return first === undefined ? yield* new StoreUnusable({ message: `${masters.where} holds no key` }) : { first, keys }
})

/** Data keys as objects, unwrapped once each. */
const makeKeyring = Effect.fnUntraced(function* (masters: MasterKeys) {
  let known = yield* readMasters(masters)
  const opened = new Map<string, KeyObject>()
  const masterOf = (id: string) => known.keys.find((one) => one.id === id)?.key
  const unwrap = Effect.fnUntraced(function* (id: string, wrapped: Uint8Array | null, masterId: string | null) {
    const kept = opened.get(id)
    if (kept !== undefined) return kept
    if (wrapped === null || masterId === null)
      return yield* new SecretBroken({ why: `its data key ${id} is gone from the store` })
    if (masterOf(masterId) === undefined) {
      known = yield* Effect.mapError(readMasters(masters), ({ message }) => new SecretBroken({ why: message }))
    }
    const master = masterOf(masterId)
    if (master === undefined)
      return yield* new SecretBroken({
        why: `its data key is wrapped by the master key ${masterId}, which is not in ${masters.where}`
      })
    const bytes = openBytes(master, keyPlace(id), wrapped)
    const key = bytes === undefined ? undefined : keyOf(bytes)
    bytes?.fill(0)
    if (key === undefined) return yield* new SecretBroken({ why: `its data key ${id} was changed in the store` })
    if (opened.size >= dataKeysKept) opened.clear()
    opened.set(id, key)
    return key
  })
  return {
    unwrap,
    /** Reads the master keys again and gives the first. */
    first: Effect.map(readMasters(masters), (read) => {
      known = read
      return read.first
    })
  }
})

const opening = (
  key: KeyObject,
  place: Place,
  bytes: Uint8Array
): Effect.Effect<Redacted.Redacted<JsonObject>, SecretBroken> => {
  const plain = openBytes(key, place, bytes)
  if (plain === undefined) return Effect.fail(new SecretBroken({ why: "it was changed in the store" }))
  const parsed = parseExactJsonText(plain.toString("utf8"))
  plain.fill(0)
  return Result.isSuccess(parsed) && isJsonObject(parsed.success)
    ? Effect.succeed(Redacted.make(parsed.success))
    : Effect.fail(new SecretBroken({ why: "it is no JSON object" }))
}

const sealing = (key: KeyObject, place: Place, secret: Redacted.Redacted<JsonObject>): Uint8Array => {
  const plain = Buffer.from(JSON.stringify(Redacted.value(secret)), "utf8")
  const sealed = sealBytes(key, place, plain)
  plain.fill(0)
  return sealed
}

type KeyRow = { readonly id: string; readonly wrapped: Uint8Array; readonly master_id: string }

type Keyring = Effect.Success<ReturnType<typeof makeKeyring>>

const keyFault = ({ why }: SecretBroken): StoreUnusable =>
  new StoreUnusable({ message: `the secrets of the store cannot be decrypted: ${why}` })

/** The data keys in the database. */
const dataKeys = (sql: SqlClient.SqlClient, ring: Keyring) => {
  /** Makes a new one the current. */
  const add = Effect.fnUntraced(function* (master: MasterKey) {
    const bytes = randomKey()
    const id = randomKey().toString("hex").slice(0, 16)
    const wrapped = sealBytes(master.key, keyPlace(id), bytes)
    const made = yield* Clock.currentTimeMillis
    yield* sql`UPDATE vault_keys SET is_current = 0`
    yield* sql`INSERT INTO vault_keys ${sql.insert({ id, master_id: master.id, wrapped, made_millis: made, is_current: 1 })}`
    bytes.fill(0)
  })

  /** Wraps every data key by this master key. */
  const rewrap = Effect.fnUntraced(function* (master: MasterKey) {
    for (const row of yield* sql<KeyRow>`SELECT id, wrapped, master_id FROM vault_keys WHERE master_id <> ${master.id}`) {
      const key = yield* Effect.mapError(ring.unwrap(row.id, row.wrapped, row.master_id), keyFault)
      const bytes = key.export()
      yield* sql`UPDATE vault_keys SET master_id = ${master.id}, wrapped = ${sealBytes(master.key, keyPlace(row.id), bytes)} WHERE id = ${row.id}`
      bytes.fill(0)
    }
  })

  const current = Effect.map(
    sql<KeyRow>`SELECT id, wrapped, master_id FROM vault_keys WHERE is_current = 1`,
    ([row]) => row
  )
  return { add, rewrap, current }
}

const make = Effect.fnUntraced(function* (masters: MasterKeys) {
  const sql = yield* SqlClient.SqlClient
  const ring = yield* makeKeyring(masters)
  const keys = dataKeys(sql, ring)

  const seal: Vault["Service"]["seal"] = Effect.fnUntraced(function* (place, secret) {
    const row = yield* keys.current
    if (row === undefined) return yield* new SecretBroken({ why: "the store has no current data key" })
    const key = yield* ring.unwrap(row.id, row.wrapped, row.master_id)
    return { bytes: sealing(key, place, secret), keyId: row.id }
  })

  const open: Vault["Service"]["open"] = (place, row) =>
    Effect.flatMap(ring.unwrap(row.secret_key_id, row.wrapped, row.master_id), (key) => opening(key, place, row.secret))

  const readPepper = Effect.gen(function* () {
    const [row] =
      yield* sql<SealedRow>`SELECT v.value AS secret, v.value_key_id AS secret_key_id, k.wrapped, k.master_id
      FROM vault_values v LEFT JOIN vault_keys k ON k.id = v.value_key_id WHERE v.name = 'pepper'`
    if (row === undefined) return undefined
    const { pepper } = Redacted.value(yield* Effect.mapError(open(pepperPlace, row), keyFault))
    return typeof pepper === "string" ? Redacted.make(pepper) : undefined
  })

  const writePepper = Effect.fnUntraced(function* (pepper: Redacted.Redacted<string>) {
    const { bytes, keyId } = yield* Effect.catchTag(
      seal(pepperPlace, Redacted.make({ pepper: Redacted.value(pepper) })),
      "SecretBroken",
      keyFault
    )
    yield* sql`DELETE FROM vault_values WHERE name = 'pepper'`
    yield* sql`INSERT INTO vault_values ${sql.insert({ name: "pepper", value: bytes, value_key_id: keyId })}`
  })

  /** A new store gets its first keys, from whichever process comes first. */
  const found = durably(sql)(
    Effect.gen(function* () {
      yield* lockStore(sql)
      const there = yield* readPepper
      if (there !== undefined) return there
      if ((yield* keys.current) === undefined) yield* keys.add(yield* ring.first)
      const pepper = Redacted.make(randomKey().toString("base64url"))
      yield* writePepper(pepper)
      return pepper
    })
  )
  const pepper = (yield* readPepper) ?? (yield* found)

  return Vault.of({
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
