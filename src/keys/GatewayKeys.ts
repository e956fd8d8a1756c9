// Finds the record of a presented gateway key without keeping any key's text.
// It must not know headers or what a key is used for.
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { KeyInvalid } from "../domain/GatewayError.ts"
import type { GatewayKey, KeyScope } from "../domain/GatewayKey.ts"

/** A key as the operator declares it; without `providers` or `models` it may use all. */
export interface KeyEntry {
  readonly name: string
  readonly key: Redacted.Redacted<string>
  readonly providers?: ReadonlyArray<string> | undefined
  readonly models?: ReadonlyArray<string> | undefined
  readonly config?: string | undefined
  /** What it is for; undefined: inference. */
  readonly scopes?: ReadonlyArray<KeyScope> | undefined
}

const inference: ReadonlyArray<KeyScope> = ["inference"]

/** Longer texts are no keys and are not worth a digest. */
const longestKey = 256

export class GatewayKeys extends Context.Service<GatewayKeys, {
  /** The record of the presented key; unknown, malformed and overlong ones fail alike. No error holds the text. */
  readonly find: (presented: string) => Effect.Effect<GatewayKey, KeyInvalid>
}>()("gateway/keys/GatewayKeys") {
  /**
   * Declared keys, kept as SHA-256 digests behind a pepper of this process. Keys and pepper are random and the pepper
   * never leaves memory, so one plain hash is as good here as an HMAC, at a fraction of its cost per request.
   */
  static readonly layerStatic = (entries: ReadonlyArray<KeyEntry>): Layer.Layer<GatewayKeys> =>
    Layer.sync(GatewayKeys, () => {
      const pepper = randomBytes(32).toString("base64")
      const digestOf = (text: string): Buffer => hash("sha256", pepper + text, "buffer")
      const records = new Map(entries.map((entry) => {
        const digest = digestOf(Redacted.value(entry.key))
        const { config, models, name, providers, scopes = inference } = entry
        const key: GatewayKey = { id: name, name, providers, models, config, scopes }
        return [digest.toString("base64"), { digest, key: Effect.succeed(key) }] as const
      }))
      const refused = Effect.fail(new KeyInvalid())
      return {
        find: (text) => {
          if (text.length === 0 || text.length > longestKey) return refused
          const digest = digestOf(text)
          const record = records.get(digest.toString("base64"))
          return record !== undefined && timingSafeEqual(record.digest, digest) ? record.key : refused
        }
      }
    })
}
