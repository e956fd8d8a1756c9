// What several processes share: rate buckets, circuit breakers, texts that expire, lists of names that become due.
// Must not know what a bucket, text or name stands for. Redis holds it here; PrimaryState.ts asks the first process.
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Redis from "effect/persistence/Redis"
import { Limits } from "../domain/Limits.ts"
import type { RateAnswer, RateAsk } from "../domain/usage/RateCounts.ts"
import { RedisPrefix, SharedRedis } from "../store/SharedRedis.ts"
import { readTaken, takeScript } from "./RateScript.ts"
import { TimedNames } from "./TimedNames.ts"

/** The shared state does not answer. Each caller then continues with the state of its own process. */
export class StateAway extends Data.TaggedError("StateAway")<{ readonly cause: unknown }> {}

/** Whose text it is. Each room has its own bounds where the first process keeps the texts. */
export type TextRoom = "cache" | "signature"

export interface SharedText {
  readonly room: TextRoom
  /** The gateway key that the text counts for. */
  readonly owner: string
  readonly key: string
  readonly text: string
  readonly lifeMillis: number
}

export interface DueName {
  readonly list: string
  /** Its first line, where it has several, is its owner. */
  readonly name: string
  readonly dueMillis: number
  /** Beyond so many names the owner with most of them loses the one that is due first. */
  readonly most: number
  /** How long a name stays listed after it became due. */
  readonly idleMillis: number
}

/** A name with its remaining milliseconds, negative once it is due. */
export type ListedName = readonly [name: string, leftMillis: number]

/** Circuit breakers; `record` returns the new state, or undefined when the state stays. */
export interface SharedBreakers extends Pick<CircuitBreaker.CircuitBreakerStore["Service"], "admit"> {
  readonly record: (
    ...call: Parameters<CircuitBreaker.CircuitBreakerStore["Service"]["record"]>
  ) => Effect.Effect<"Open" | "Closed" | undefined, CircuitBreaker.CircuitBreakerError>
}

/** The breakers of a store of Effect. */
export const sharedBreakers = (store: CircuitBreaker.CircuitBreakerStore["Service"]): SharedBreakers => ({
  admit: store.admit,
  record: (call) => Effect.map(store.record(call), (moved) => (moved?.to === "HalfOpen" ? undefined : moved?.to))
})

export class SharedState extends Context.Service<
  SharedState,
  {
    /** `RateCounters.take`, in one round trip. */
    readonly takeRates: (asks: ReadonlyArray<RateAsk>, isForced: boolean) => Effect.Effect<RateAnswer, StateAway>
    readonly breakers: SharedBreakers
    /** The texts in the order of the keys; null where there is none. */
    readonly texts: (
      room: TextRoom,
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string | null>, StateAway>
    readonly setText: (text: SharedText) => Effect.Effect<void, StateAway>
    readonly addName: (name: DueName) => Effect.Effect<void, StateAway>
    /** At most `most` names, those that are due last first. Names due for more than `idleMillis` are removed before. */
    readonly names: (
      list: string,
      most: number,
      idleMillis: number
    ) => Effect.Effect<ReadonlyArray<ListedName>, StateAway>
    readonly removeName: (list: string, name: string) => Effect.Effect<void, StateAway>
    readonly clearNames: (list: string) => Effect.Effect<void, StateAway>
  }
>()("gateway/state/SharedState") {
  /** In the Redis of several gateways. */
  static readonly layerRedis: Layer.Layer<SharedState, never, Redis.Redis | SharedRedis> = Layer.effect(
    SharedState,
    Effect.suspend(() => inRedis)
  )
}

const away = <A>(command: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, StateAway> =>
  Effect.mapError(command, (cause) => new StateAway({ cause }))

const readTexts =
  (keys: number) =>
  (reply: unknown): ReadonlyArray<string | null> | undefined =>
    Array.isArray(reply) &&
    reply.length === keys &&
    reply.every((text): text is string | null => text === null || typeof text === "string")
      ? reply
      : undefined

const isListedName = (row: unknown): row is ListedName =>
  Array.isArray(row) && row.length === 2 && typeof row[0] === "string" && Number.isFinite(row[1])

const readNames = (reply: unknown): ReadonlyArray<ListedName> | undefined =>
  Array.isArray(reply) && reply.every(isListedName) ? reply : undefined

/** The replies of the scripts of Effect's breakers: their first word, and how many numbers follow it. */
const breakerWords: ReadonlyMap<unknown, number> = new Map([
  ["ok", 4],
  ["open", 1],
  ["halfopen", 0],
  ...["none", "closed-open", "halfopen-open", "halfopen-closed"].map((moved) => [moved, 1] as const)
])

const isBreakerReply = (reply: unknown): boolean =>
  reply === 0 ||
  reply === 1 ||
  (Array.isArray(reply) &&
    reply.length - 1 === breakerWords.get(reply[0]) &&
    reply.slice(1).every((part) => part !== null && part !== "" && Number.isFinite(Number(part))))

const inRedis = Effect.gen(function* () {
  const redis = yield* Redis.Redis
  const { distrust } = yield* SharedRedis
  const prefix = yield* RedisPrefix
  const { circuitIdleMillis } = yield* Limits
  const odd = (name: string): Redis.RedisError => {
    const reason = `an unexpected reply to ${name}`
    distrust(reason)
    return new Redis.RedisError({ cause: reason })
  }
  const checked = <A>(
    name: string,
    command: Effect.Effect<unknown, Redis.RedisError>,
    read: (reply: unknown) => A | undefined
  ): Effect.Effect<A, StateAway> =>
    away(
      Effect.flatMap(command, (reply) => {
        const value = read(reply)
        return value === undefined ? Effect.fail(odd(name)) : Effect.succeed(value)
      })
    )
  const breakerRedis: Redis.Redis["Service"] = {
    ...redis,
    eval: (script) => {
      const run = redis.eval(script)
      return (...params) =>
        Effect.flatMap(run(...params), (reply) =>
          isBreakerReply(reply) ? Effect.succeed(reply) : Effect.fail(odd("a breaker"))
        )
    }
  }
  const breakers = sharedBreakers(
    yield* Effect.provide(
      CircuitBreaker.CircuitBreakerStore,
      CircuitBreaker.layerStoreRedis({
        prefix: `${prefix}circuit:`,
        idleTimeToLive: Duration.millis(circuitIdleMillis)
      }).pipe(Layer.provide(Layer.succeed(Redis.Redis, breakerRedis)))
    )
  )
  const takeRates = redis.eval(takeScript)
  const nameOf = (room: TextRoom, key: string): string => `${prefix}${room}:${key}`
  return SharedState.of({
    takeRates: (asks, isForced) =>
      Effect.clockWith((clock) =>
        checked("a rate limit", takeRates(`${prefix}rate:`, asks, isForced, clock.currentTimeMillisUnsafe()), (reply) =>
          readTaken(reply, asks.length)
        )
      ),
    breakers,
    texts: (room, keys) =>
      checked("MGET", redis.send("MGET", ...keys.map((key) => nameOf(room, key))), readTexts(keys.length)),
    setText: ({ key, lifeMillis, room, text }) =>
      away(redis.send("SET", nameOf(room, key), text, "PX", String(lifeMillis))),
    addName: ({ dueMillis, idleMillis, list, most, name }) =>
      away(redis.eval(TimedNames.add)(prefix + list, name, dueMillis, most, idleMillis)),
    names: (list, most, idleMillis) =>
      checked("a list of names", redis.eval(TimedNames.list)(prefix + list, most, idleMillis), readNames),
    removeName: (list, name) => away(redis.send("ZREM", prefix + list, name)),
    clearNames: (list) => away(redis.send("DEL", prefix + list))
  })
})
