// Remembers the signature of each tool call we returned, so that strict clients need not carry it.
// It must not know requests or replies. What it forgets costs a sentinel, or thinking for the rest of a turn, never an answer.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { FairEntries } from "../domain/FairEntries.ts"
import { Limits } from "../domain/Limits.ts"
import { RedisPrefix } from "../store/SharedRedis.ts"

/** A signature and the backend that made it; nobody else may be sent it. */
export interface Remembered {
  readonly issuer: string
  readonly signature: string
}

export class SignatureMemory extends Context.Service<
  SignatureMemory,
  {
    /** What is known of these calls, made under this gateway key. */
    readonly recall: (keyId: string, callIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Remembered>>
    readonly remember: (
      keyId: string,
      issuer: string,
      pairs: ReadonlyArray<{ readonly callId: string; readonly signature: string }>
    ) => Effect.Effect<void>
  }
>()("gateway/memory/SignatureMemory") {
  /** In this process: all expire, large ones are not kept, and the oldest of the key that has the most leave first. */
  static readonly layerMemory: Layer.Layer<SignatureMemory> = Layer.effect(
    SignatureMemory,
    Effect.gen(function* () {
      const limits = yield* Limits
      const entries = new FairEntries<Remembered & { readonly expiresMillis: number }>(
        limits.signatureEntries,
        limits.signatureTotalBytes
      )
      const nowMillis = Effect.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
      return {
        recall: (keyId, callIds) =>
          Effect.map(nowMillis, (now) => {
            const known = new Map<string, Remembered>()
            for (const callId of callIds) {
              const entry = entries.get(nameOf(keyId, callId))
              if (entry !== undefined && entry.expiresMillis > now) known.set(callId, entry)
            }
            return known
          }),
        remember: (keyId, issuer, pairs) =>
          Effect.map(nowMillis, (now) => {
            for (const { callId, signature } of pairs) {
              if (signature.length > limits.signatureBytes) continue
              // Signatures are base64, so a letter is a byte.
              entries.set(
                keyId,
                nameOf(keyId, callId),
                { issuer, signature, expiresMillis: now + limits.signatureMillis },
                signature.length
              )
            }
            // The oldest stand first, and they are the first to expire.
            for (
              let oldest = entries.oldest;
              oldest !== undefined && oldest[1].expiresMillis <= now;
              oldest = entries.oldest
            )
              entries.delete(oldest[0])
          })
      }
    })
  )

  /** In this process and in Redis, which is asked for what others remember. While it is gone they are on their own. */
  static readonly layerShared: Layer.Layer<SignatureMemory, never, Redis.Redis> = Layer.effect(
    SignatureMemory,
    Effect.gen(function* () {
      const own = yield* SignatureMemory
      const redis = yield* Redis.Redis
      const prefix = `${yield* RedisPrefix}signature:`
      const { signatureBytes, signatureMillis } = yield* Limits
      return {
        recall: (keyId, callIds) =>
          Effect.flatMap(own.recall(keyId, callIds), (known) => {
            const asked = callIds
              .filter((callId) => !known.has(callId) && callId.length <= longestCallId)
              .slice(-mostAsked)
            if (asked.length === 0) return Effect.succeed(known)
            return redis
              .send<ReadonlyArray<string | null>>("MGET", ...asked.map((callId) => prefix + nameOf(keyId, callId)))
              .pipe(
                Effect.map(
                  (texts) => new Map([...known, ...texts.flatMap((text, at) => rememberedOf(asked[at], text))])
                ),
                Effect.orElseSucceed(() => known)
              )
          }),
        remember: (keyId, issuer, pairs) => {
          const kept = pairs.filter(
            ({ callId, signature }) => signature.length <= signatureBytes && callId.length <= longestCallId
          )
          const share = Effect.forEach(
            kept,
            ({ callId, signature }) =>
              redis.send(
                "SET",
                prefix + nameOf(keyId, callId),
                `${issuer}\n${signature}`,
                "PX",
                String(signatureMillis)
              ),
            { concurrency: 16, discard: true }
          )
          return Effect.andThen(own.remember(keyId, issuer, pairs), Effect.ignore(share))
        }
      }
    })
  ).pipe(Layer.provide(SignatureMemory.layerMemory))
}

/** Ids of calls are chosen by callers, names of keys by operators: without its length one could end in another's. */
const nameOf = (keyId: string, callId: string): string => `${keyId.length}:${keyId}/${callId}`

/** No upstream has longer ids, and nothing longer is worth asking for. */
const longestCallId = 256
/** Of a long history the last calls matter. */
const mostAsked = 1_000

const rememberedOf = (
  callId: string | undefined,
  text: string | null
): ReadonlyArray<readonly [string, Remembered]> => {
  const end = text?.indexOf("\n") ?? -1
  return callId === undefined || text === null || end < 0
    ? []
    : [[callId, { issuer: text.slice(0, end), signature: text.slice(end + 1) }]]
}
