// What several processes share: rate buckets, circuit breakers, texts that expire, lists of names that become due.
// Must not know what a bucket, text or name stands for. Redis holds it here; WorkersState.ts asks the first process.
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Redis from "effect/persistence/Redis"
import { Limits } from "../domain/Limits.ts"
import { type RateAnswer, type RateAsk, RateCounts, roundingMillis } from "../domain/RateCounts.ts"
import { RedisPrefix, SharedRedis } from "../store/SharedRedis.ts"
import { monotonicMillis } from "../domain/time.ts"
import { RateCounters } from "../store/Spending.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"

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
      away(redis.eval(addName)(prefix + list, name, dueMillis, most, idleMillis)),
    names: (list, most, idleMillis) =>
      checked("a list of names", redis.eval(listNames)(prefix + list, most, idleMillis), readNames),
    removeName: (list, name) => away(redis.send("ZREM", prefix + list, name)),
    clearNames: (list) => away(redis.send("DEL", prefix + list))
  })
})

// The arithmetic of rate limits as a Redis script: all buckets of a request in one round trip.

/** No key is kept in Redis for longer, whatever its debt. */
const longestMillis = Duration.toMillis(Duration.days(30))

/** Returns `refusedAt`, then each of `fullMillis`. */
const takeScript = Redis.script(
  (prefix: string, asks: ReadonlyArray<RateAsk>, isForced: boolean, nowMillis: number) => [
    ...asks.map(({ key }) => prefix + key),
    nowMillis,
    isForced ? 1 : 0,
    ...asks.flatMap(({ capacityMillis, costMillis }) => [costMillis, capacityMillis])
  ],
  {
    numberOfKeys: (_prefix, asks) => asks.length,
    lua: `
local now = tonumber(ARGV[1])
local forced = ARGV[2] == "1"
local refused = -1
local reply = {}
for place, key in ipairs(KEYS) do
  local cost = tonumber(ARGV[1 + 2 * place])
  local capacity = tonumber(ARGV[2 + 2 * place])
  local full, at = string.match(redis.call("GET", key) or "", "^(%S+) (%S+)$")
  full = tonumber(full or "") or 0
  at = tonumber(at or "") or now
  full = math.max(0, full - math.max(0, now - at))
  if refused < 0 then
    if not forced and full + math.min(cost, capacity) > capacity + ${roundingMillis} then
      refused = place - 1
    elseif cost ~= 0 then
      full = math.max(0, full + cost)
      if full > 0 then
        redis.call("SET", key, string.format("%.17g %.17g", full, math.max(at, now)), "PX", string.format("%.0f", math.min(math.ceil(full), ${longestMillis})))
      else
        redis.call("DEL", key)
      end
    end
  end
  reply[place + 1] = string.format("%.17g", full)
end
reply[1] = refused
return reply
`
  }
).withReturnType<unknown>()

/** Reads the reply of the script; undefined where it is none. */
export const readTaken = (reply: unknown, asks: number): RateAnswer | undefined => {
  if (!Array.isArray(reply) || reply.length !== asks + 1) return undefined
  const numbers = reply.map((part: unknown) =>
    typeof part === "number" || (typeof part === "string" && part !== "") ? Number(part) : Number.NaN
  )
  const [refusedAt, ...fullMillis] = numbers
  return refusedAt !== undefined &&
    Number.isInteger(refusedAt) &&
    refusedAt >= -1 &&
    refusedAt < asks &&
    fullMillis.every((millis) => Number.isFinite(millis) && millis >= 0)
    ? { refusedAt, fullMillis }
    : undefined
}

// Redis scripts for a list of names that each become due at a time, such as circuit breakers that are open.

/** The milliseconds of the clock of Redis, so that the clocks of the processes need not agree. */
const redisClock = `
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`

/**
 * Adds a name that is due in `openMillis`. Beyond `most` names the owner with most of them, which is the first line of a
 * name, loses the one that is due first. In a list of names of one line the name that is due first leaves.
 */
const addName = Redis.script(
  (list: string, name: string, openMillis: number, most: number, idleMillis: number) => [
    list,
    name,
    openMillis,
    most,
    idleMillis
  ],
  {
    numberOfKeys: 1,
    lua: `${redisClock}
local life = tonumber(ARGV[2]) + tonumber(ARGV[4])
redis.call("ZADD", KEYS[1], string.format("%.0f", now + tonumber(ARGV[2])), ARGV[1])
local function ownerOf(name) return string.match(name, "^(.-)\\n") or "" end
local owner = ownerOf(ARGV[1])
if owner == "" then redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -1 - tonumber(ARGV[3])) end
for over = redis.call("ZCARD", KEYS[1]) - tonumber(ARGV[3]), 1, -1 do
  local names, counts, crowd = redis.call("ZRANGE", KEYS[1], 0, -1), {}, owner
  for _, name in ipairs(names) do counts[ownerOf(name)] = (counts[ownerOf(name)] or 0) + 1 end
  for one, count in pairs(counts) do if count > counts[crowd] then crowd = one end end
  for _, name in ipairs(names) do
    if ownerOf(name) == crowd then redis.call("ZREM", KEYS[1], name) break end
  end
end
if redis.call("PTTL", KEYS[1]) < life then redis.call("PEXPIRE", KEYS[1], string.format("%.0f", life)) end
`
  }
)

/** Each name with its remaining milliseconds; names that became due more than `idleMillis` ago are removed first. */
const listNames = Redis.script((name: string, most: number, idleMillis: number) => [name, most, idleMillis], {
  numberOfKeys: 1,
  lua: `${redisClock}
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", string.format("%.0f", now - tonumber(ARGV[2])))
local listed = redis.call("ZREVRANGE", KEYS[1], 0, tonumber(ARGV[1]) - 1, "WITHSCORES")
local rows = {}
for at = 1, #listed, 2 do table.insert(rows, { listed[at], tonumber(listed[at + 1]) - now }) end
return rows
`
}).withReturnType<ReadonlyArray<readonly [name: string, leftMillis: number]>>()

// The counters of rate limits: in this process, or in the state that several processes share.

/** Counters of this process only. */
const { layerMemory } = RateCounters

/**
 * Counters shared by several processes; while the shared state does not answer, counters of this process, which begin with
 * the last answer of the shared state. So an answer that is late once opens no full bucket.
 */
const layerShared: Layer.Layer<RateCounters, never, SharedState> = Layer.effect(
  RateCounters,
  Effect.gen(function* () {
    const { takeRates } = yield* SharedState
    const counts = new RateCounts()
    const alone = SeriesRegistry.of(yield* Effect.context<never>()).counter(metrics.rateFallbacks, {})
    return {
      take: (asks, isForced) =>
        Effect.clockWith((clock) =>
          Effect.match(takeRates(asks, isForced), {
            onSuccess: (answer) => {
              const now = monotonicMillis(clock)
              for (const [at, { key }] of asks.entries()) counts.put(key, answer.fullMillis[at] ?? 0, now)
              return answer
            },
            onFailure: () => {
              alone.add(1)
              return counts.take(asks, isForced, monotonicMillis(clock))
            }
          })
        )
    }
  })
)

export const RateStore = { layerMemory, layerShared }
