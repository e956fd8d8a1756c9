// The breakers that circuits are made of: in this process only, or shared by several with a list of those that are open.
// Must not know providers, requests or callers.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import type * as Scope from "effect/Scope"
import type { LimitValues } from "../domain/Limits.ts"
import { type SharedBreakers, sharedBreakers, SharedState } from "./SharedState.ts"
import { monotonicMillis } from "../domain/time.ts"

/** One threshold of a circuit. */
export interface Policy {
  readonly key: string
  readonly policy: CircuitBreaker.TripPolicy
  readonly openMillis: number
}

/** How the end of a call counts for its target. */
export type Verdict = "Success" | "Failure" | "Ignored"

/** The call was not made. `retryAfterMillis` is undefined while another call probes the target. */
export interface Refused {
  readonly retryAfterMillis: number | undefined
}

/** A call that may be made. */
export interface Permit {
  /** True for the one call that finds out whether the target works again. */
  readonly isProbe: boolean
  /** Takes the verdict on the call, once. Returns the new state of the breaker, or undefined when the state stays. */
  readonly record: (verdict: Verdict) => Effect.Effect<"Open" | "Closed" | undefined>
}

export interface Breakers {
  /** The scope lives as long as the call. */
  readonly admit: (policy: Policy) => Effect.Effect<Permit, Refused, Scope.Scope>
  /** Whether a call would be refused now. */
  readonly isOpen: (key: string) => Effect.Effect<boolean>
}

const record = (
  store: SharedBreakers,
  { key, openMillis, policy: tripPolicy }: Policy,
  generation: number,
  outcome: Verdict
) => store.record({ key, generation, outcome, tripPolicy, openFor: Duration.millis(openMillis) })

const unrecorded: Permit = { isProbe: false, record: () => Effect.succeed(undefined) }

const fromStore = Effect.map(CircuitBreaker.CircuitBreakerStore, (store): Breakers => ({
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
            Effect.orElseSucceed(record(sharedBreakers(store), policy, generation, verdict), () => undefined)
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
  Effect.provide(fromStore, CircuitBreaker.layerStoreMemory({ idleTimeToLive: Duration.millis(circuitIdleMillis) }))

interface SharedParts {
  readonly local: Breakers
  readonly remote: SharedBreakers
  readonly open: OpenCircuits
}

/** Opens for all processes a breaker that has opened in this one. A breaker that is open for all stays as it is. */
const publishOpen = ({ open, remote }: SharedParts, policy: Policy): Effect.Effect<void> =>
  Effect.scoped(remote.admit(policy.key)).pipe(
    Effect.flatMap(({ generation }) =>
      record(remote, { ...policy, policy: CircuitBreaker.consecutive(1) }, generation, "Failure")
    ),
    Effect.ignore,
    Effect.andThen(open.add(policy.key, policy.openMillis))
  )

/** Counts the call in this process. */
const admitLocally = (parts: SharedParts, policy: Policy): Effect.Effect<Permit, Refused, Scope.Scope> =>
  Effect.map(parts.local.admit(policy), (permit) => ({
    isProbe: permit.isProbe,
    record: (verdict) =>
      Effect.tap(permit.record(verdict), (state) => (state === "Open" ? publishOpen(parts, policy) : Effect.void))
  }))

/** The one probe among all processes. Its verdict counts in the shared state and in this process. */
const admitProbe = ({ local, open, remote }: SharedParts, policy: Policy, generation: number) =>
  Effect.map(
    Effect.orElseSucceed(local.admit(policy), () => unrecorded),
    (permit): Permit => ({
      isProbe: true,
      record: (verdict) =>
        Effect.andThen(permit.record(verdict), record(remote, policy, generation, verdict)).pipe(
          Effect.tap((state) =>
            state === "Open"
              ? open.add(policy.key, policy.openMillis)
              : state === "Closed"
                ? open.remove(policy.key)
                : Effect.void
          ),
          Effect.orElseSucceed(() => undefined)
        )
    })
  )

/** The shared state decides on a breaker that has been open; without it this process decides. */
const admitByAll = (parts: SharedParts, policy: Policy): Effect.Effect<Permit, Refused, Scope.Scope> =>
  Effect.matchEffect(parts.remote.admit(policy.key), {
    onFailure: ({ reason }): Effect.Effect<Permit, Refused, Scope.Scope> => {
      switch (reason._tag) {
        case "CircuitOpen":
          return Effect.andThen(
            parts.open.addLocally(policy.key, Duration.toMillis(reason.retryAfter)),
            (retryAfterMillis) => Effect.fail({ retryAfterMillis })
          )
        case "CircuitHalfOpen":
          return Effect.fail({ retryAfterMillis: undefined })
        case "CircuitBreakerStoreError":
          return admitLocally(parts, policy)
      }
    },
    onSuccess: ({ generation, probe: isProbe }) =>
      isProbe
        ? admitProbe(parts, policy, generation)
        : Effect.andThen(parts.open.removeLocally(policy.key), admitLocally(parts, policy))
  })

/**
 * Each process counts its own calls, so that calls to a working target need no round trip to the shared state. A breaker
 * that opens is published. From then on the shared state decides, so that all processes together make one probe. While it
 * does not answer, each process uses its own breakers.
 */
const shared = (limits: LimitValues): Effect.Effect<Breakers, never, SharedState | Scope.Scope> =>
  Effect.gen(function* () {
    const local = yield* inProcess(limits)
    const { breakers: remote } = yield* SharedState
    const open = yield* followOpenCircuits(limits)
    const parts = { local, remote, open }
    return {
      admit: (policy) =>
        Effect.flatMap(open.remainingMillis(policy.key), (remaining): Effect.Effect<Permit, Refused, Scope.Scope> =>
          remaining === undefined
            ? admitLocally(parts, policy)
            : remaining > 0
              ? Effect.fail({ retryAfterMillis: remaining })
              : admitByAll(parts, policy)
        ),
      isOpen: (key) =>
        Effect.flatMap(open.remainingMillis(key), (remaining) =>
          remaining !== undefined && remaining > 0 ? Effect.succeed(true) : local.isOpen(key)
        )
    }
  })

export const Breakers = { inProcess, shared }

// The list of open circuit breakers that several processes share, with a copy in this process.

interface OpenCircuits {
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
const circuitList = "circuits"

/** How often a process reads which breakers other processes have opened. */
const readMillis = 500

/** The copy changes when this process opens or closes a breaker, and with each periodic read of the list. */
const followOpenCircuits = ({
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
    const read = Effect.flatMap(state.names(circuitList, circuitEntries, circuitIdleMillis), (listed) =>
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
            state.addName({
              list: circuitList,
              name: key,
              dueMillis: millis,
              most: circuitEntries,
              idleMillis: circuitIdleMillis
            })
          )
        ),
      remove: (key) => Effect.andThen(removeLocally(key), Effect.ignore(state.removeName(circuitList, key))),
      addLocally,
      removeLocally
    }
  })
