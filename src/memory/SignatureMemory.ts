// Remembers the signature of each tool call we returned, so that strict clients need not carry it.
// It must not know requests or replies. What it forgets costs a sentinel, never an answer.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Limits } from "../domain/Limits.ts"

/** A signature and the backend that made it; nobody else may be sent it. */
export interface Remembered {
  readonly issuer: string
  readonly signature: string
}

export class SignatureMemory extends Context.Service<SignatureMemory, {
  /** What is known of these calls, made under this gateway key. */
  readonly recall: (keyId: string, callIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Remembered>>
  readonly remember: (
    keyId: string,
    issuer: string,
    pairs: ReadonlyArray<{ readonly callId: string; readonly signature: string }>
  ) => Effect.Effect<void>
}>()("gateway/memory/SignatureMemory") {
  /** In this process: the oldest entries leave first, all expire, large ones are not kept. */
  static readonly layerMemory: Layer.Layer<SignatureMemory> = Layer.effect(
    SignatureMemory,
    Effect.gen(function*() {
      const limits = yield* Limits
      const entries = new Map<string, Remembered & { readonly expiresMillis: number }>()
      const nowMillis = Effect.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
      return {
        recall: (keyId, callIds) =>
          Effect.map(nowMillis, (now) => {
            const known = new Map<string, Remembered>()
            for (const callId of callIds) {
              const entry = entries.get(`${keyId}/${callId}`)
              if (entry !== undefined && entry.expiresMillis > now) known.set(callId, entry)
            }
            return known
          }),
        remember: (keyId, issuer, pairs) =>
          Effect.map(nowMillis, (now) => {
            for (const { callId, signature } of pairs) {
              if (signature.length > limits.signatureBytes) continue
              entries.set(`${keyId}/${callId}`, { issuer, signature, expiresMillis: now + limits.signatureMillis })
            }
            for (const key of entries.keys()) {
              if (entries.size <= limits.signatureEntries) break
              entries.delete(key)
            }
          })
      }
    })
  )
}
