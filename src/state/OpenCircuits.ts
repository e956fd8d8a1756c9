// The list of open circuit breakers that several processes share, with a copy in this process.
// Must not decide whether a call is made; Breakers.ts does.
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "../domain/usage/monotonicMillis.ts"
import type { LimitValues } from "../domain/Limits.ts"
import { SharedState } from "./SharedState.ts"

export interface OpenCircuits {
  /**
   * Milliseconds until the breaker may be tried. Zero or less: the breaker waits for its probe. Undefined: this process
   * has not seen the breaker open.
   */
  readonly remainingMillis: (key: string) => Effect.Effect<number | undefined>
  /** Lists a breaker that this process opened, here and for all. */
  readonly add: (key: string, millis: number) => Effect.Effect<void>
  /** Removes a breaker that this process closed, here and for all. */
  readonly remove: (key: string) => Effect.Effect<void>
  /** Lists a breaker that is open for all, here only; returns `millis`. */
  readonly addLocally: (key: string, millis: number) => Effect.Effect<number>
  /** Removes a breaker that is closed for all, here only. */
  readonly removeLocally: (key: string) => Effect.Effect<void>
}

/** The name of the list. */
const list = "circuits"

/** How often a process reads which breakers other processes have opened. */
const readMillis = 500

/** The copy changes when this process opens or closes a breaker, and with each periodic read of the list. */
export const followOpenCircuits = ({
  circuitEntries,
  circuitIdleMillis
}: LimitValues): Effect.Effect<OpenCircuits, never, SharedState | Scope.Scope> =>
  Effect.gen(function* () {
    const state = yield* SharedState
    const untilMillis = new Map<string, number>()
    const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
      Effect.clockWith((clock) => Effect.succeed(use(monotonicMillis(clock))))
    const addLocally = (key: string, millis: number) =>
      clocked((now) => {
        untilMillis.set(key, now + millis)
        return millis
      })
    const removeLocally = (key: string) => Effect.sync(() => void untilMillis.delete(key))
    const read = Effect.flatMap(state.names(list, circuitEntries, circuitIdleMillis), (listed) =>
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
          Effect.ignore(
            state.addName({ list, name: key, dueMillis: millis, most: circuitEntries, idleMillis: circuitIdleMillis })
          )
        ),
      remove: (key) => Effect.andThen(removeLocally(key), Effect.ignore(state.removeName(list, key))),
      addLocally,
      removeLocally
    }
  })
