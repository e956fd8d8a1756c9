// Remembers the thought signature of each tool call that was returned, so that clients need not send it back.
// Must not know requests or replies. A lost signature costs a sentinel, or thinking for the rest of a turn, never an answer.
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { monotonicMillis } from "../domain/time.ts"
import { FairEntries } from "../domain/collections.ts"
import { Limits } from "../domain/Limits.ts"
import { SharedState } from "./SharedState.ts"

/** A signature and the backend that made it; another backend must not receive it. */
export interface StoredSignature {
  readonly issuer: string
  readonly signature: string
}

/** What an entry takes next to its signature: names, fields and its place in two maps. */
const entryBytes = 256

export class SignatureMemory extends Context.Service<
  SignatureMemory,
  {
    /** The signatures of these calls that are known under this gateway key. */
    readonly recall: (
      keyId: string,
      callIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, StoredSignature>>
    readonly remember: (
      keyId: string,
      issuer: string,
      pairs: ReadonlyArray<{ readonly callId: string; readonly signature: string }>
    ) => Effect.Effect<void>
  }
>()("gateway/state/SignatureMemory") {
  /**
   * In this process. Signatures expire, large ones are dropped, and the key with most of them loses its oldest first.
   */
  static readonly layerMemory: Layer.Layer<SignatureMemory> = Layer.effect(
    SignatureMemory,
    Effect.gen(function* () {
      const limits = yield* Limits
      const entries = new FairEntries<StoredSignature & { readonly expiresMillis: number }>(
        limits.signatureEntries,
        limits.signatureTotalBytes
      )
      const nowMillis = Effect.clockWith((clock) => Effect.succeed(monotonicMillis(clock)))
      return {
        recall: (keyId, callIds) =>
          Effect.map(nowMillis, (now) => {
            const signatures = new Map<string, StoredSignature>()
            for (const callId of callIds) {
              const entry = entries.get(nameOf(keyId, callId))
              if (entry !== undefined && entry.expiresMillis > now) signatures.set(callId, entry)
            }
            return signatures
          }),
        remember: (keyId, issuer, pairs) =>
          Effect.map(nowMillis, (now) => {
            for (const { callId, signature } of pairs) {
              if (signature.length > limits.signatureBytes) continue
              // Signatures are base64, so one character is one byte.
              entries.set(
                keyId,
                nameOf(keyId, callId),
                { issuer, signature, expiresMillis: now + limits.signatureMillis },
                signature.length + entryBytes
              )
            }
            // Entries are in order of age, so the first ones expire first.
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

  /**
   * In this process and in the shared state, which has the signatures of other processes. An outage leaves those of this
   * process.
   */
  static readonly layerShared: Layer.Layer<SignatureMemory, never, SharedState> = Layer.effect(
    SignatureMemory,
    Effect.gen(function* () {
      const local = yield* SignatureMemory
      const state = yield* SharedState
      const { signatureBytes, signatureMillis } = yield* Limits
      return {
        recall: (keyId, callIds) =>
          Effect.flatMap(local.recall(keyId, callIds), (signatures) => {
            const missing = callIds
              .filter((callId) => !signatures.has(callId) && callId.length <= longestCallId)
              .slice(-mostRemoteReads)
            if (missing.length === 0) return Effect.succeed(signatures)
            const names = missing.map((callId) => nameOf(keyId, callId))
            return state.texts("signature", names).pipe(
              Effect.map(
                (texts) => new Map([...signatures, ...texts.flatMap((text, at) => parseEntry(missing[at], text))])
              ),
              Effect.orElseSucceed(() => signatures)
            )
          }),
        remember: (keyId, issuer, pairs) => {
          const storable = pairs.filter(
            ({ callId, signature }) => signature.length <= signatureBytes && callId.length <= longestCallId
          )
          const share = Effect.forEach(
            storable,
            ({ callId, signature }) =>
              state.setText({
                room: "signature",
                owner: keyId,
                key: nameOf(keyId, callId),
                text: `${issuer}\n${signature}`,
                lifeMillis: signatureMillis
              }),
            { concurrency: 16, discard: true }
          )
          return Effect.andThen(local.remember(keyId, issuer, pairs), Effect.ignore(share))
        }
      }
    })
  ).pipe(Layer.provide(SignatureMemory.layerMemory))
}

/** Clients choose call ids and operators choose key names; the length keeps two pairs from having one name. */
const nameOf = (keyId: string, callId: string): string => `${keyId.length}:${keyId}/${callId}`

/** No upstream makes longer ids, so longer ones are not looked up elsewhere. */
const longestCallId = 256
/** The shared state is asked for this many calls at most, the last ones of the history. */
const mostRemoteReads = 1_000

const parseEntry = (
  callId: string | undefined,
  text: string | null
): ReadonlyArray<readonly [string, StoredSignature]> => {
  const end = text?.indexOf("\n") ?? -1
  return callId === undefined || text === null || end < 0
    ? []
    : [[callId, { issuer: text.slice(0, end), signature: text.slice(end + 1) }]]
}
