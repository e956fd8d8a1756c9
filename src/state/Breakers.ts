// The breakers behind circuits: in this process, or with what they have learned told to all on one Redis.
// It must not know what is called, or by whom.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"
import type { LimitValues } from "../domain/Limits.ts"
import { CircuitScripts } from "./CircuitScripts.ts"

/** One threshold of a circuit. */
export interface Policy {
  readonly key: string
  readonly policy: CircuitBreaker.TripPolicy
  readonly openMillis: number
}

/** What the end of a call says of its target. */
export type Verdict = "Success" | "Failure" | "Ignored"

/** The call was not made; undefined when nobody knows how long that will last. */
export interface Refused {
  readonly retryAfterMillis: number | undefined
}

/** A call that may be made. */
export interface Permit {
  /** The one call that finds out whether the target is well again. */
  readonly isProbe: boolean
  /** Told its end once; answers what that made of the breaker, undefined for nothing. */
  readonly record: (verdict: Verdict) => Effect.Effect<"Open" | "Closed" | undefined>
}

export interface Breakers {
  /** The scope lives as long as the call. */
  readonly admit: (policy: Policy) => Effect.Effect<Permit, Refused, Scope.Scope>
  /** Whether a call would be refused now. */
  readonly isOpen: (key: string) => Effect.Effect<boolean>
}

type Store = CircuitBreaker.CircuitBreakerStore["Service"]

/** What became of a breaker, where it was another before. */
const outcomeOf = (moved: CircuitBreaker.Transition | undefined): "Open" | "Closed" | undefined =>
  moved?.to === "HalfOpen" ? undefined : moved?.to

const record = (store: Store, { key, openMillis, policy: tripPolicy }: Policy, generation: number, outcome: Verdict) =>
  store.record({ key, generation, outcome, tripPolicy, openFor: Duration.millis(openMillis) })

const unrecorded: Permit = { isProbe: false, record: () => Effect.succeed(undefined) }

/** Of this process. */
const own = Effect.map(CircuitBreaker.CircuitBreakerStore, (store): Breakers => ({
  admit: (policy) =>
    Effect.matchEffect(store.admit(policy.key), {
      onFailure: ({ reason }) => {
        if (reason._tag === "CircuitBreakerStoreError") return Effect.succeed(unrecorded)
        return Effect.fail({
          retryAfterMillis: reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : undefined
        })
      },
      onSuccess: ({ generation, probe }) =>
        Effect.succeed({
          isProbe: probe,
          record: (verdict) =>
            Effect.orElseSucceed(Effect.map(record(store, policy, generation, verdict), outcomeOf), () => undefined)
        })
    }),
  isOpen: (key) =>
    Effect.match(store.state(key), {
      onFailure: () => false,
      onSuccess: (state) =>
        state._tag === "Open" ? Duration.toMillis(state.retryAfter) > 0 : state._tag === "HalfOpen" && state.probing
    })
}))

const inProcess = ({ circuitIdleMillis }: LimitValues): Effect.Effect<Breakers> =>
  Effect.provide(own, CircuitBreaker.layerStoreMemory({ idleTimeToLive: Duration.millis(circuitIdleMillis) }))

/** How often a process looks which breakers others have opened. */
const lookMillis = 500

/**
 * Each process counts for itself, so that calls to a target that is well wait for nobody. What opens is told to all, and from then on
 * Redis decides, so that one call in all processes is the probe. While Redis is gone each goes by what it knows itself.
 */
const shared = (limits: LimitValues, prefix: string): Effect.Effect<Breakers, never, Redis.Redis | Scope.Scope> =>
  Effect.gen(function* () {
    const here = yield* inProcess(limits)
    const there = yield* Effect.provide(
      CircuitBreaker.CircuitBreakerStore,
      CircuitBreaker.layerStoreRedis({
        prefix: `${prefix}circuit:`,
        idleTimeToLive: Duration.millis(limits.circuitIdleMillis)
      })
    )
    const opened = yield* openedOnes(limits, `${prefix}circuits`)

    /** What opened here opens there, unless it is open there by now. */
    const tell = (policy: Policy): Effect.Effect<void> =>
      Effect.scoped(there.admit(policy.key)).pipe(
        Effect.flatMap(({ generation }) =>
          record(there, { ...policy, policy: CircuitBreaker.consecutive(1) }, generation, "Failure")
        ),
        Effect.ignore,
        Effect.andThen(opened.add(policy.key, policy.openMillis))
      )

    const counted = (policy: Policy) =>
      Effect.map(here.admit(policy), ({ isProbe, record: told }): Permit => ({
        isProbe,
        record: (verdict) => Effect.tap(told(verdict), (state) => (state === "Open" ? tell(policy) : Effect.void))
      }))

    /** The probe of all; the breaker of this process learns from it as well. */
    const probe = (policy: Policy, generation: number) =>
      Effect.map(
        Effect.orElseSucceed(here.admit(policy), () => unrecorded),
        (mine): Permit => ({
          isProbe: true,
          record: (verdict) =>
            Effect.andThen(mine.record(verdict), record(there, policy, generation, verdict)).pipe(
              Effect.map(outcomeOf),
              Effect.tap((state) =>
                state === "Open"
                  ? opened.add(policy.key, policy.openMillis)
                  : state === "Closed"
                    ? opened.remove(policy.key)
                    : Effect.void
              ),
              Effect.orElseSucceed(() => undefined)
            )
        })
      )

    const decided = (policy: Policy) =>
      Effect.matchEffect(there.admit(policy.key), {
        onFailure: ({ reason }): Effect.Effect<Permit, Refused, Scope.Scope> => {
          switch (reason._tag) {
            case "CircuitOpen":
              return Effect.andThen(opened.meet(policy.key, Duration.toMillis(reason.retryAfter)), (retryAfterMillis) =>
                Effect.fail({ retryAfterMillis })
              )
            case "CircuitHalfOpen":
              return Effect.fail({ retryAfterMillis: undefined })
            case "CircuitBreakerStoreError":
              return counted(policy)
          }
        },
        onSuccess: ({ generation, probe: isProbe }) =>
          isProbe ? probe(policy, generation) : Effect.andThen(opened.forget(policy.key), counted(policy))
      })

    return {
      admit: (policy) =>
        Effect.flatMap(opened.left(policy.key), (left) =>
          left === undefined ? counted(policy) : left > 0 ? Effect.fail({ retryAfterMillis: left }) : decided(policy)
        ),
      isOpen: (key) =>
        Effect.flatMap(opened.left(key), (left) =>
          left !== undefined && left > 0 ? Effect.succeed(true) : here.isOpen(key)
        )
    }
  })

interface OpenedOnes {
  /** How long a breaker will be open yet; not above 0 when it waits for its probe, undefined when it is not known to be open. */
  readonly left: (key: string) => Effect.Effect<number | undefined>
  /** Opened here: everybody is told. */
  readonly add: (key: string, millis: number) => Effect.Effect<void>
  /** Closed here: everybody is told. */
  readonly remove: (key: string) => Effect.Effect<void>
  /** Found open there. */
  readonly meet: (key: string, millis: number) => Effect.Effect<number>
  /** Found closed there. */
  readonly forget: (key: string) => Effect.Effect<void>
}

/** The breakers that are not closed anywhere, as this process knows them: what it met itself, and what it sees when it looks. */
const openedOnes = (
  { circuitEntries, circuitIdleMillis }: LimitValues,
  name: string
): Effect.Effect<OpenedOnes, never, Redis.Redis | Scope.Scope> =>
  Effect.gen(function* () {
    const redis = yield* Redis.Redis
    const untilMillis = new Map<string, number>()
    const clocked = <A>(use: (nowMillis: number) => A): Effect.Effect<A> =>
      Effect.clockWith((clock) => Effect.succeed(use(clock.currentTimeMillisUnsafe())))
    const meet = (key: string, millis: number) =>
      clocked((now) => {
        untilMillis.set(key, now + millis)
        return millis
      })
    const forget = (key: string) => Effect.sync(() => void untilMillis.delete(key))
    const look = Effect.flatMap(redis.eval(CircuitScripts.list)(name, circuitEntries, circuitIdleMillis), (found) =>
      clocked((now) => {
        untilMillis.clear()
        for (const [key, left] of found) untilMillis.set(key, now + left)
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(look), Effect.sleep(lookMillis))), {
      startImmediately: true
    })
    return {
      left: (key) =>
        clocked((now) => {
          const until = untilMillis.get(key)
          return until === undefined ? undefined : until - now
        }),
      add: (key, millis) =>
        Effect.andThen(
          meet(key, millis),
          Effect.ignore(redis.eval(CircuitScripts.add)(name, key, millis, circuitEntries, circuitIdleMillis))
        ),
      remove: (key) => Effect.andThen(forget(key), Effect.ignore(redis.send("ZREM", name, key))),
      meet,
      forget
    }
  })

export const Breakers = { inProcess, shared }
