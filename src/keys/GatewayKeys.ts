// Gateway keys: makes their texts, and looks them up by digest. Texts of recently used valid keys are cached in memory only.
// It must not know headers or what a key is used for.
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { KeyInvalid, StoreUnavailable } from "../domain/GatewayError.ts"
import { compileKey, type GatewayKey, keyMark, WrittenKey } from "../domain/GatewayKey.ts"
import { momentMillis } from "../domain/time.ts"
import type { KeySetting } from "../domain/settings/Settings.ts"
import { ConfigSnapshot, type ConfigState, type RecordFault, type Tracked } from "../store/ConfigSnapshot.ts"
import { newestIn, newestOf, recordReader, type StoredRecord } from "../store/StoredRecord.ts"

/** A longer text cannot be a key, so it is not hashed. */
const longestKey = 256

/** The stored fields that the gateway sets: digest of the text, prefix, and revocation. */
export const StoredKeyFields = Schema.Struct({
  digest: Schema.String,
  /** The first characters of the text, which identify the key in lists. */
  prefix: Schema.String,
  revoked_at: Schema.optionalKey(Schema.String),
  /** The digest of the text before the last rotation, and until when that text is taken. */
  previous_digest: Schema.optionalKey(Schema.String),
  previous_until: Schema.optionalKey(Schema.String)
})

/** A stored key: the operator's fields and the gateway's. */
export const KeyEntry = Schema.Struct({ ...WrittenKey.fields, ...StoredKeyFields.fields })

export class GatewayKeys extends Context.Service<
  GatewayKeys,
  {
    /**
     * The record of the presented key. Unknown, malformed, overlong, expired and revoked keys fail alike, and no error
     * contains the text. An unknown key fails as StoreUnavailable while the store is unreachable, because the key may
     * be new.
     */
    readonly find: (presented: string) => Effect.Effect<GatewayKey, KeyInvalid | StoreUnavailable>
    /** The same by the digest of the text. */
    readonly findDigest: (digest: string) => Effect.Effect<GatewayKey, KeyInvalid | StoreUnavailable>
    /** The stored digest of a key's text. Computing it needs the pepper of this gateway or its store. */
    readonly digest: (text: string) => string
  }
>()("gateway/keys/GatewayKeys") {
  /** The declared keys and those of the store, with the store's pepper; each lookup uses the current snapshot. */
  static readonly layer = (pepper: Redacted.Redacted<string>): Layer.Layer<GatewayKeys, never, ConfigSnapshot> =>
    Layer.effect(
      GatewayKeys,
      Effect.gen(function* () {
        const holdings = yield* ConfigSnapshot
        const digest = digester(Redacted.value(pepper))
        const view = yield* holdings.track(trackedKeys(digest))
        const refused = Effect.suspend(() =>
          Effect.fail(holdings.isFresh() ? new KeyInvalid() : new StoreUnavailable({ reason: "unreachable" }))
        )
        return {
          find: finder((name) => view().find(name), digest, refused),
          findDigest: (name) => view().find(name)?.key ?? refused,
          digest: (text) => digest(text).toString("base64")
        }
      })
    )

  /** The given keys only, with a random pepper. */
  static readonly layerStatic = (entries: ReadonlyArray<KeySetting>): Layer.Layer<GatewayKeys> =>
    Layer.sync(GatewayKeys, () => {
      const digest = digester(randomBytes(32).toString("base64"))
      const knownKey = declaredKeys(entries, digest)
      return {
        find: finder((name) => knownKey.get(name), digest, Effect.fail(new KeyInvalid())),
        findDigest: (name) => knownKey.get(name)?.key ?? Effect.fail(new KeyInvalid()),
        digest: (text) => digest(text).toString("base64")
      }
    })
}

type Digest = (text: string) => Buffer

/**
 * One plain hash is as strong as an HMAC here, because keys and pepper are random and the pepper stays secret. It costs
 * a fraction per request.
 */
const digester =
  (pepper: string): Digest =>
  (text) =>
    hash("sha256", pepper + text, "buffer")

interface KnownKey {
  readonly digest: Buffer
  readonly key: Effect.Effect<GatewayKey, KeyInvalid>
}

/** A key by its base64 digest. */
type FindKey = (digest: string) => KnownKey | undefined

/** A key with an expiry is valid until that moment. */
const knownKey = (digest: Buffer, key: GatewayKey): KnownKey => {
  const { expiresMillis } = key
  const valid = Effect.succeed(key)
  return {
    digest,
    key:
      expiresMillis === undefined
        ? valid
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now < expiresMillis ? valid : Effect.fail(new KeyInvalid())
          )
  }
}

const declaredKeys = (entries: ReadonlyArray<KeySetting>, digestOf: Digest): Map<string, KnownKey> =>
  new Map(
    entries.map((entry) => {
      const digest = digestOf(Redacted.value(entry.key))
      return [digest.toString("base64"), knownKey(digest, compileKey(entry.name, entry))]
    })
  )

/** Reads a stored key record. */
export const readKeyEntry = recordReader(KeyEntry)

/** The texts of a stored key by their digests. The one before a rotation ends earlier than the key. */
const textsOf = (
  { digest, previous_digest: previous, previous_until: until }: typeof KeyEntry.Type,
  key: GatewayKey
): ReadonlyArray<readonly [digest: string, key: GatewayKey]> => {
  const current = [digest, key] as const
  if (previous === undefined || until === undefined) return [current]
  const expiresMillis = Math.min(momentMillis(until) ?? 0, key.expiresMillis ?? Number.MAX_SAFE_INTEGER)
  return [[previous, { ...key, expiresMillis }], current]
}

/** The declared keys, and the stored ones as they change. Of two keys with one digest the declared one wins. */
class MergedKeys {
  private readonly declared: ReadonlyMap<string, KnownKey>
  private readonly stored = new Map<string, KnownKey>()
  private readonly digests = new Map<string, ReadonlyArray<string>>()
  private readonly broken = new Map<string, string>()

  constructor(declared: ReadonlyMap<string, KnownKey>) {
    this.declared = declared
  }

  find(digest: string): KnownKey | undefined {
    return this.declared.get(digest) ?? this.stored.get(digest)
  }

  /** The record as it is now; undefined: there is none any more. */
  put(id: string, record: StoredRecord | undefined): void {
    for (const digest of this.digests.get(id) ?? []) this.stored.delete(digest)
    this.digests.delete(id)
    this.broken.delete(id)
    if (record === undefined) return
    const entry = readKeyEntry(record)
    if (Result.isFailure(entry)) this.broken.set(id, entry.failure)
    else if (entry.success.revoked_at === undefined) {
      // Slugs and configs of a stored key are not checked, because they may be deleted. A deleted name only allows
      // less.
      const texts = textsOf(entry.success, compileKey(id, entry.success))
      for (const [digest, key] of texts) this.stored.set(digest, knownKey(Buffer.from(digest, "base64"), key))
      this.digests.set(
        id,
        texts.map(([digest]) => digest)
      )
    }
  }

  get faults(): ReadonlyArray<RecordFault> {
    return Array.from(this.broken, ([id, message]) => ({ id: `key ${id}`, message }))
  }
}

const trackedKeys = (digestOf: Digest): Tracked<MergedKeys> => ({
  kind: "key",
  build: ({ declared, records }) => {
    const view = new MergedKeys(declaredKeys(declared.keys, digestOf))
    for (const record of newestOf(records.key)) view.put(record.id, record)
    return view
  },
  change: (view, { records }, ids) => {
    for (const id of ids) view.put(id, newestIn(records.key, id))
  }
})

/** The stored keys that are not revoked, for reports. A record that cannot be read is left out. */
export const storedKeys = ({ records }: Pick<ConfigState, "records">): ReadonlyArray<GatewayKey> =>
  newestOf(records.key).flatMap((record) => {
    const entry = Result.getOrUndefined(readKeyEntry(record))
    return entry === undefined || entry.revoked_at !== undefined ? [] : [compileKey(record.id, entry)]
  })

/** Number of cached digests; a full cache is cleared. */
const mostMet = 1024

/**
 * Caches the digests of valid texts, because computing a digest is expensive (`bench`, unary). Validity is checked
 * again on every lookup. The cache hashes texts with a seed of the process, so its timing does not reveal how much of a
 * guess is right.
 */
const finder = <E>(find: FindKey, digestOf: Digest, refused: Effect.Effect<never, KeyInvalid | E>) => {
  const digests = new Map<string, string>()
  return (text: string): Effect.Effect<GatewayKey, KeyInvalid | E> => {
    const known = digests.get(text)
    if (known !== undefined) return find(known)?.key ?? refused
    if (text.length === 0 || text.length > longestKey) return Effect.fail(new KeyInvalid())
    const digest = digestOf(text)
    const name = digest.toString("base64")
    const record = find(name)
    if (record === undefined || !timingSafeEqual(record.digest, digest)) return refused
    if (digests.size >= mostMet) digests.clear()
    digests.set(text, name)
    return record.key
  }
}

// Generates the text of gateway keys, and the prefix that lists show.

/** Letters and digits only, so that a double click selects the whole key. */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const keyBytes = 32
/** The number of base62 digits of 32 bytes. */
const keyDigits = 43

const inBase62 = (bytes: Uint8Array): string => {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`)
  let text = ""
  while (text.length < keyDigits) {
    text = base62[Number(rest % 62n)] + text
    rest /= 62n
  }
  return text
}

/** A new gateway key: 256 random bits. */
export const makeKey = (): string => `${keyMark}${inBase62(randomBytes(keyBytes))}`

/** The prefix of a shorter text would reveal too much of it. */
const longText = 32
const shownLength = 8

/** The first characters of a long text, which identify the key; undefined for a short text. */
export const keyPrefix = (key: Redacted.Redacted<string>): string | undefined => {
  const text = Redacted.value(key)
  return text.length < longText ? undefined : text.slice(0, shownLength)
}
