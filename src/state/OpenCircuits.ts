// The list of open circuit breakers that several processes share in Redis, with a copy in this process.
// Must not decide whether a call is made; Breakers.ts does.
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import type { LimitValues } from "../domain/Limits.ts"
import { TimedNames } from "./TimedNames.ts"

export interface OpenCircuits {
  /**
   * Milliseconds until the breaker may be tried. Zero or less: the breaker waits for its probe. Undefined: this process
   * has not seen the breaker open.
   */
  readonly remainingMillis: (key: string) => Effect.Effect<number | undefined>
  /** Lists a breaker that this process opened, here and in Redis. */
  readonly add: (key: string, millis: number) => Effect.Effect<void>
  /** Removes a breaker that this process closed, here and in Redis. */
  readonly remove: (key: string) => Effect.Effect<void>
  /** Lists a breaker that Redis reports open, here only; returns `millis`. */
  readonly addLocally: (key: string, millis: number) => Effect.Effect<number>
  /** Removes a breaker that Redis reports closed, here only. */
  readonly removeLocally: (key: string) => Effect.Effect<void>
}

/** How often a process reads which breakers other processes have opened. */
const readMillis = 500

/** The copy changes when this process opens or closes a breaker, and with each periodic read of Redis. */
export const followOpenCircuits = (
  { circuitEntries, circuitIdleMillis }: LimitValues,
  name: string
): Effect.Effect<OpenCircuits, never, Redis.Redis | Scope.Scope> =>
  Effect.gen(function* () {
    const redis = yield* Redis.Redis
    const untilMillis = new Map<string, number>()
    const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
      Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))
    const addLocally = (key: string, millis: number) =>
      clocked((now) => {
        untilMillis.set(key, now + millis)
        return millis
      })
    const removeLocally = (key: string) => Effect.sync(() => void untilMillis.delete(key))
    const read = Effect.flatMap(redis.eval(TimedNames.list)(name, circuitEntries, circuitIdleMillis), (listed) =>
      clocked((now) => {
        untilMillis.clear()
        for (const [key, left] of listed) untilMillis.set(key, now + left)
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(read), Effect.sleep(readMillis))), {
      startImmediately: true
    })
    return {
      remainingMillis: (key) =>
        clocked((now) => {
          const until = untilMillis.get(key)
          return until === undefined ? undefined : until - now
        }),
      add: (key, millis) =>
        Effect.andThen(
          addLocally(key, millis),
          Effect.ignore(redis.eval(TimedNames.add)(name, key, millis, circuitEntries, circuitIdleMillis))
        ),
      remove: (key) => Effect.andThen(removeLocally(key), Effect.ignore(redis.send("ZREM", name, key))),
      addLocally,
      removeLocally
    }
  })
