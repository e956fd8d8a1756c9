// Seals what clients carry between turns: for one gateway key, by a key of the master key, so that any replica opens it.
// It must not know what a carrier holds. Rules: R403, R405, R406.
import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject } from "node:crypto"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Limits } from "../domain/Limits.ts"
import {
  associated,
  ivBytes,
  keyOf,
  type MasterKeys,
  masterKeysGiven,
  openBytes,
  randomMasterText,
  sealBytes,
  type SealContext
} from "./Encryption.ts"
import type { StoreUnusable } from "./database/Sql.ts"

/** Pure functions: a text always seals to the same text, which opens for this gateway key only. */
export interface CarrierSeal {
  readonly seal: (text: string) => string
  readonly unseal: (sealed: string) => string | undefined
}

/** The first 32 hex digits of the SHA-256 of a text. */
export const digestOfText = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

export class Carriers extends Context.Service<
  Carriers,
  {
    readonly forKey: (keyId: string) => Effect.Effect<CarrierSeal>
  }
>()("gateway/store/Carriers") {
  /** By these master keys: the first seals, all of them open. */
  static readonly layer = (masters: MasterKeys): Layer.Layer<Carriers, StoreUnusable> =>
    Layer.effect(Carriers, make(masters))

  /** By a key of this process. */
  static readonly layerMemory: Layer.Layer<Carriers> = Layer.orDie(
    Layer.suspend(() => Carriers.layer(masterKeysGiven([Redacted.make(randomMasterText())], "the key of this process")))
  )
}

const prefix = "mgr1."
const base64url = /^[A-Za-z0-9_-]+$/
const keyBytes = 32

interface Keys {
  readonly content: KeyObject
  readonly nonce: KeyObject
}

const derived = (master: KeyObject, info: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync("sha256", master, "", info, keyBytes)))

const keysOf = (text: Redacted.Redacted<string>): ReadonlyArray<Keys> => {
  const master = keyOf(Buffer.from(Redacted.value(text), "base64"))
  return master === undefined
    ? []
    : [
        {
          content: derived(master, "model-gateway reasoning"),
          nonce: derived(master, "model-gateway reasoning nonce")
        }
      ]
}

const placeOf = (keyId: string): SealContext => ({ kind: "reasoning", id: keyId, version: 1 })

const sealWith = ({ content, nonce }: Keys, place: SealContext, text: string): string => {
  const plain = Buffer.from(text, "utf8")
  const iv = createHmac("sha256", nonce).update(associated(place)).update(plain).digest().subarray(0, ivBytes)
  return prefix + Buffer.from(sealBytes(content, place, plain, iv)).toString("base64url")
}

const openWith = (keys: ReadonlyArray<Keys>, place: SealContext, sealed: string): string | undefined => {
  const body = sealed.slice(prefix.length)
  if (!sealed.startsWith(prefix) || !base64url.test(body)) return undefined
  const bytes = Buffer.from(body, "base64url")
  // One text for one carrier: what decodes to the same bytes and is written otherwise was changed.
  if (bytes.toString("base64url") !== body) return undefined
  for (const { content } of keys) {
    const plain = openBytes(content, place, bytes)
    if (plain !== undefined) return plain.toString("utf8")
  }
  return undefined
}

const make = Effect.fnUntraced(function* (masters: MasterKeys) {
  const { refreshMillis } = yield* Limits
  let keys = (yield* masters.read).flatMap(keysOf)
  let readMillis = yield* Clock.currentTimeMillis
  /** Another process may have made a new key; while keys cannot be read the known ones go on. */
  const refreshed = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now - readMillis < refreshMillis) return Effect.void
    readMillis = now
    return Effect.ignore(
      Effect.map(masters.read, (texts) => {
        keys = texts.flatMap(keysOf)
      })
    )
  })
  return Carriers.of({
    forKey: (keyId) =>
      Effect.map(refreshed, (): CarrierSeal => {
        const place = placeOf(keyId)
        const [first] = keys
        const known = keys
        return {
          seal: (text) => (first === undefined ? "" : sealWith(first, place, text)),
          unseal: (sealed) => openWith(known, place, sealed)
        }
      })
  })
})
