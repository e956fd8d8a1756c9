// Answers that are given again to whoever asks the same and wants that. What it forgets costs a call.
// It must not know requests, operations or what an answer is: a text under a key.
import { createHash } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { FairEntries } from "../domain/FairEntries.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { version } from "../domain/version.ts"
import { RedisPrefix } from "../store/SharedRedis.ts"

export class ResponseCache extends Context.Service<
  ResponseCache,
  {
    /** The key of an identity: a digest over every part of it, each with its length before it. */
    readonly keyOf: (parts: ReadonlyArray<string | Uint8Array>) => string
    /** What was put in under the key no longer ago than this. */
    readonly get: (key: string, maxAgeMillis: number) => Effect.Effect<string | undefined>
    /** Keeps a text for so long at most; one that is too large is not kept. `owner` is the gateway key that had it made. */
    readonly set: (key: string, text: string, lifeMillis: number, owner: string) => Effect.Effect<void>
    /** Texts beyond this length are not worth writing. */
    readonly longest: number
  }
>()("gateway/memory/ResponseCache") {
  /** In this process: of the owner that has the most, the entry that was used longest ago leaves first. */
  static readonly layerMemory: Layer.Layer<ResponseCache> = Layer.effect(ResponseCache, Effect.map(Limits, make))

  /** In this process and in Redis, whose word counts while it is there: an answer made anew by one is the answer of all. */
  static readonly layerShared: Layer.Layer<ResponseCache, never, Redis.Redis> = Layer.effect(
    ResponseCache,
    Effect.gen(function* () {
      const own = make(yield* Limits)
      const redis = yield* Redis.Redis
      // What another version wrote may read otherwise.
      const prefix = `${yield* RedisPrefix}cache:${version}:`
      return {
        keyOf: own.keyOf,
        get: (key, maxAgeMillis) =>
          Effect.flatMap(
            Effect.orElseSucceed(redis.send<string | null>("GET", prefix + key), () => null),
            (written) => {
              const entry = written === null ? undefined : entryOf(written)
              return entry === undefined
                ? own.get(key, maxAgeMillis)
                : clocked((now) => (isGood(entry, now, maxAgeMillis) ? entry.text : undefined))
            }
          ),
        set: (key, text, lifeMillis, owner) =>
          Effect.andThen(
            own.set(key, text, lifeMillis, owner),
            sizeOf(text) > own.longest
              ? Effect.void
              : Effect.flatMap(
                  clocked((now) => `${now} ${now + lifeMillis}\n${text}`),
                  (written) => Effect.ignore(redis.send("SET", prefix + key, written, "PX", String(lifeMillis)))
                )
          ),
        longest: own.longest
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

const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
  Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))

const isGood = ({ sinceMillis, untilMillis }: Omit<Entry, "owner">, nowMillis: number, maxAgeMillis: number): boolean =>
  nowMillis < untilMillis && nowMillis - sinceMillis < maxAgeMillis

/** An entry as it stands in Redis: since when and until when it is good, and its text below. */
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

/** Memory of a text, and of what surrounds it. */
const sizeOf = (text: string): number => 2 * text.length + 256
