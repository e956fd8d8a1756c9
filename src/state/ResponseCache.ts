// The response cache: texts by key, in this process or shared by several. A lost entry costs one provider call.
// Must not know requests, operations or the format of a response.
import { createHash } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FairEntries } from "../domain/collections.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { monotonicMillis } from "../domain/time.ts"
import { version } from "../domain/version.ts"
import { SharedState } from "./SharedState.ts"

export class ResponseCache extends Context.Service<
  ResponseCache,
  {
    /** The key of a request's identity: a digest of every part, each prefixed with its length. */
    readonly keyOf: (parts: ReadonlyArray<string | Uint8Array>) => string
    /** The text stored under the key, unless it is older than `maxAgeMillis`. */
    readonly get: (key: string, maxAgeMillis: number) => Effect.Effect<string | undefined>
    /**
     * Stores a text for at most `lifeMillis`; a text over `longest` is dropped. `owner` is the gateway key of the
     * request.
     */
    readonly set: (key: string, text: string, lifeMillis: number, owner: string) => Effect.Effect<void>
    /** The largest size, by `sizeOf`, that `set` stores. Callers can stop collecting a longer text. */
    readonly longest: number
  }
>()("gateway/state/ResponseCache") {
  /** In this process. When the cache is full, the owner with most entries loses its least recently used one. */
  static readonly layerMemory: Layer.Layer<ResponseCache> = Layer.effect(ResponseCache, Effect.map(Limits, make))

  /** In this process and in the shared state. A shared entry wins, so that a refresh by one process is served by all. */
  static readonly layerShared: Layer.Layer<ResponseCache, never, SharedState> = Layer.effect(
    ResponseCache,
    Effect.gen(function* () {
      const local = make(yield* Limits)
      const state = yield* SharedState
      // Another version of the gateway may write another format.
      const nameOf = (key: string): string => `${version}:${key}`
      return {
        keyOf: local.keyOf,
        get: (key, maxAgeMillis) =>
          Effect.flatMap(
            Effect.orElseSucceed(state.texts("cache", [nameOf(key)]), () => []),
            ([written]) => {
              const entry = typeof written === "string" ? entryOf(written) : undefined
              return entry === undefined
                ? local.get(key, maxAgeMillis)
                : wallClocked((now) => (isGood(entry, now, maxAgeMillis) ? entry.text : undefined))
            }
          ),
        set: (key, text, lifeMillis, owner) =>
          Effect.andThen(
            local.set(key, text, lifeMillis, owner),
            sizeOf(text) > local.longest
              ? Effect.void
              : Effect.flatMap(
                  wallClocked((now) => `${now} ${now + lifeMillis}\n${text}`),
                  (written) =>
                    Effect.ignore(state.setText({ room: "cache", owner, key: nameOf(key), text: written, lifeMillis }))
                )
          ),
        longest: local.longest
      }
    })
  )
}

interface Entry {
  readonly owner: string
  readonly text: string
  readonly sinceMillis: number
  readonly untilMillis: number
}

/** Entries of this process are as old as its monotonic clock states. */
const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
  Effect.clockWith((clock) => Effect.succeed(use(monotonicMillis(clock))))

/** Shared entries have the wall clock of their process. Their life ends by the clock of the shared state. */
const wallClocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
  Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))

const isGood = ({ sinceMillis, untilMillis }: Omit<Entry, "owner">, nowMillis: number, maxAgeMillis: number): boolean =>
  nowMillis < untilMillis && nowMillis - sinceMillis < maxAgeMillis

/** Reads a shared entry: a line with start and end in milliseconds, then the text. */
const entryOf = (written: string): Omit<Entry, "owner"> | undefined => {
  const head = /^(\d+) (\d+)\n/.exec(written)
  return head === null
    ? undefined
    : { sinceMillis: Number(head[1]), untilMillis: Number(head[2]), text: written.slice(head[0].length) }
}

function make({ cacheBytes, cacheEntries, cacheEntryBytes }: LimitValues): ResponseCache["Service"] {
  const entries = new FairEntries<Entry>(cacheEntries, cacheBytes)
  const keep = (key: string, entry: Entry): void => entries.set(entry.owner, key, entry, sizeOf(entry.text))
  return {
    keyOf: (parts) => {
      const hash = createHash("sha256")
      for (const part of parts)
        hash.update(`${typeof part === "string" ? Buffer.byteLength(part) : part.length}:`).update(part)
      return hash.digest("base64")
    },
    get: (key, maxAgeMillis) =>
      clocked((now) => {
        const entry = entries.get(key)
        if (entry === undefined || entry.untilMillis <= now) {
          entries.delete(key)
          return undefined
        }
        keep(key, entry)
        return isGood(entry, now, maxAgeMillis) ? entry.text : undefined
      }),
    set: (key, text, lifeMillis, owner) =>
      clocked((now) => {
        entries.delete(key)
        if (sizeOf(text) <= cacheEntryBytes) keep(key, { owner, text, sinceMillis: now, untilMillis: now + lifeMillis })
      }),
    longest: cacheEntryBytes
  }
}

/** Bytes of memory for a text: two per character, and about 256 for the entry around it. */
const sizeOf = (text: string): number => 2 * text.length + 256
