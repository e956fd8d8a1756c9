// Finds the record of a presented gateway key. Of texts it keeps those that were good of late, and only in memory.
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
import type { GatewayKey } from "../domain/GatewayKey.ts"
import { inference, noNames, readKey } from "../domain/settings/readKey.ts"
import { type KeySetting, WrittenKey } from "../domain/settings/Settings.ts"
import { type Held, Holdings, type RecordFault } from "../store/Holdings.ts"
import { newestOf, recordReader } from "../store/readRecord.ts"

/** Longer texts are no keys and are not worth a digest. */
const longestKey = 256

/** What the gateway itself keeps of a key: the digest of its text, and when it was revoked. */
export const KeptOfKey = Schema.Struct({
  digest: Schema.String,
  /** The first characters of its text, to tell keys apart by. */
  prefix: Schema.String,
  revoked_at: Schema.optionalKey(Schema.String)
})

/** What a stored key is: that, and what is written of it. */
export const KeyEntry = Schema.Struct({ ...WrittenKey.fields, ...KeptOfKey.fields })

export class GatewayKeys extends Context.Service<
  GatewayKeys,
  {
    /**
     * The record of the presented key; unknown, malformed, overlong, expired and revoked ones fail alike. No error holds
     * the text. Where the store does not answer, a key that is not known here may be a new one: that fails as StoreUnavailable.
     */
    readonly find: (presented: string) => Effect.Effect<GatewayKey, KeyInvalid | StoreUnavailable>
    /** What is kept of a key's text: a digest only this gateway, or those on its store, can make. */
    readonly digest: (text: string) => string
  }
>()("gateway/keys/GatewayKeys") {
  /** The declared keys and those of the store, as they are at the moment of asking; the pepper is that of the store. */
  static readonly layer = (pepper: Redacted.Redacted<string>): Layer.Layer<GatewayKeys, never, Holdings> =>
    Layer.effect(
      GatewayKeys,
      Effect.gen(function* () {
        const holdings = yield* Holdings
        const digest = digester(Redacted.value(pepper))
        const view = yield* holdings.view((held) => heldKeys(held, digest))
        const refused = Effect.suspend(() =>
          Effect.fail(holdings.isFresh() ? new KeyInvalid() : new StoreUnavailable({ reason: "unreachable" }))
        )
        return { find: finder(view, digest, refused), digest: (text) => digest(text).toString("base64") }
      })
    )

  /** These keys alone, behind a pepper of this process. */
  static readonly layerStatic = (entries: ReadonlyArray<KeySetting>): Layer.Layer<GatewayKeys> =>
    Layer.sync(GatewayKeys, () => {
      const digest = digester(randomBytes(32).toString("base64"))
      const known = declaredKeys(entries, digest)
      return {
        find: finder(() => known, digest, Effect.fail(new KeyInvalid())),
        digest: (text) => digest(text).toString("base64")
      }
    })
}

type Digest = (text: string) => Buffer

/**
 * Keys and pepper are random and the pepper never leaves memory in the clear, so one plain hash is as good here as an
 * HMAC, at a fraction of its cost per request.
 */
const digester =
  (pepper: string): Digest =>
  (text) =>
    hash("sha256", pepper + text, "buffer")

interface Known {
  readonly digest: Buffer
  readonly key: Effect.Effect<GatewayKey, KeyInvalid>
}

/** By digest in base64. */
type KnownKeys = ReadonlyMap<string, Known>

/** A key with an end answers until then. */
const known = (digest: Buffer, key: GatewayKey): Known => {
  const { expiresMillis } = key
  const found = Effect.succeed(key)
  return {
    digest,
    key:
      expiresMillis === undefined
        ? found
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now < expiresMillis ? found : Effect.fail(new KeyInvalid())
          )
  }
}

const declaredKeys = (entries: ReadonlyArray<KeySetting>, digestOf: Digest): Map<string, Known> =>
  new Map(
    entries.map(({ key: text, scopes = inference, providers, models, ...rest }) => {
      const digest = digestOf(Redacted.value(text))
      return [digest.toString("base64"), known(digest, { ...rest, id: rest.name, providers, models, scopes })]
    })
  )

/** A stored key as it is written. */
export const readKeyEntry = recordReader(KeyEntry)

const heldKeys = (
  { declared, records }: Held,
  digestOf: Digest
): { readonly view: KnownKeys; readonly faults: ReadonlyArray<RecordFault> } => {
  const faults: Array<RecordFault> = []
  const view = declaredKeys(declared.keys, digestOf)
  for (const record of newestOf(records.key)) {
    const entry = readKeyEntry(record)
    if (Result.isFailure(entry)) {
      faults.push({ id: `key ${record.id}`, message: entry.failure })
    } else if (entry.success.revoked_at === undefined && !view.has(entry.success.digest)) {
      // Slugs and configs it names may come and go: a key that names one that is gone may use that little less.
      const { key } = readKey(record.id, entry.success, noNames)
      view.set(entry.success.digest, known(Buffer.from(entry.success.digest, "base64"), key))
    }
  }
  return { view, faults }
}

/** Keys in use whose digests are remembered; when there are more, all are forgotten. */
const mostMet = 1024

/**
 * A digest is dear, so those of good texts are remembered (`bench`, unary): not whether they are good, which is asked anew
 * each time. Such a text is found by a hash whose seed is the process's own, so that the time it takes tells nobody how
 * much of a guess is right.
 */
const finder = <E>(keys: () => KnownKeys, digestOf: Digest, refused: Effect.Effect<never, KeyInvalid | E>) => {
  const met = new Map<string, string>()
  return (text: string): Effect.Effect<GatewayKey, KeyInvalid | E> => {
    const known = met.get(text)
    if (known !== undefined) return keys().get(known)?.key ?? refused
    if (text.length === 0 || text.length > longestKey) return Effect.fail(new KeyInvalid())
    const digest = digestOf(text)
    const name = digest.toString("base64")
    const record = keys().get(name)
    if (record === undefined || !timingSafeEqual(record.digest, digest)) return refused
    if (met.size >= mostMet) met.clear()
    met.set(text, name)
    return record.key
  }
}
