// Remembers the signature of each tool call we returned, so that strict clients need not carry it.
// It must not know requests or replies. What it forgets costs a sentinel, or thinking for the rest of a turn, never an answer.
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
      // Signatures are base64, so a letter is a byte.
      let bytes = 0
      const forget = (key: string): void => {
        bytes -= entries.get(key)?.signature.length ?? 0
        entries.delete(key)
      }
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
              const key = `${keyId}/${callId}`
              forget(key)
              bytes += signature.length
              entries.set(key, { issuer, signature, expiresMillis: now + limits.signatureMillis })
            }
            // The oldest stand first, and they are the first to expire.
            for (const [key, { expiresMillis }] of entries) {
              if (entries.size <= limits.signatureEntries && bytes <= limits.signatureTotalBytes && expiresMillis > now) break
              forget(key)
            }
          })
      }
    })
  )
}
