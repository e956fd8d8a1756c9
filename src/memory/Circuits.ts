// Circuits: a target that fails again and again is left alone for a while, then tried by one call at a time.
// It must not know configs' words, requests or answers. What it forgets costs a few calls.
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Scope from "effect/Scope"
import type { CircuitRule } from "../domain/GatewayConfig.ts"
import { Limits } from "../domain/Limits.ts"

/** A circuit: who and what it is of, and when it opens. */
export interface Circuit {
  readonly name: string
  readonly rule: CircuitRule
}

/** What the end of a call says of its target. */
export type Verdict = "Success" | "Failure" | "Ignored"

/** The call was not made; undefined when nobody knows how long that will last. */
export interface Refused {
  readonly retryAfterMillis: number | undefined
}

export class Circuits extends Context.Service<Circuits, {
  /** The names of those that would refuse a call now. */
  readonly open: (circuits: ReadonlyArray<Circuit>) => Effect.Effect<ReadonlySet<string>>
  /** Makes the call unless the circuit refuses it, and learns from its end. */
  readonly guard: <A, E, R>(
    circuit: Circuit,
    call: Effect.Effect<A, E, R>,
    verdictOf: (cause: Cause.Cause<E>) => Verdict,
    refused: (why: Refused) => E
  ) => Effect.Effect<A, E, R>
}>()("gateway/memory/Circuits") {
  /** Over a store of Effect's circuit breaker, which may be shared by processes. */
  static readonly layer: Layer.Layer<Circuits, never, CircuitBreaker.CircuitBreakerStore> = Layer.effect(
    Circuits,
    Effect.gen(function*() {
      const store = yield* CircuitBreaker.CircuitBreakerStore
      const limits = yield* Limits
      const isTracked = tracking(limits.circuitEntries, limits.circuitIdleMillis)

      const isOpen = (key: string): Effect.Effect<boolean> =>
        Effect.match(store.state(key), {
          onFailure: () => false,
          onSuccess: (state) =>
            state._tag === "Open" ? Duration.toMillis(state.retryAfter) > 0 : state._tag === "HalfOpen" && state.probing
        })

      const guarded = <A, E, R>(
        { key, policy }: Policy,
        { cooldownMillis }: CircuitRule,
        call: Effect.Effect<A, E, R>,
        verdictOf: (cause: Cause.Cause<E>) => Verdict,
        refused: (why: Refused) => E
      ): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.scopedWith((scope) =>
            Effect.matchEffect(Scope.provide(store.admit(key), scope), {
              onFailure: ({ reason }) =>
                reason._tag === "CircuitBreakerStoreError" ? restore(call) : Effect.fail(refused({ retryAfterMillis: waitOf(reason) })),
              onSuccess: ({ generation }) =>
                Effect.onExit(restore(call), (exit) =>
                  Effect.ignore(store.record({
                    key,
                    generation,
                    outcome: Exit.isSuccess(exit) ? "Success" : verdictOf(exit.cause),
                    tripPolicy: policy,
                    openFor: Duration.millis(cooldownMillis)
                  })))
            })))

      return {
        open: (circuits) =>
          Effect.map(
            Effect.filter(circuits, ({ name, rule }) => Effect.map(Effect.forEach(policiesOf(name, rule), ({ key }) => isOpen(key)), (states) => states.includes(true))),
            (open) => new Set(open.map(({ name }) => name))
          ),
        guard: ({ name, rule }, call, verdictOf, refused) =>
          Effect.clockWith((clock) =>
            isTracked(name, clock.currentTimeMillisUnsafe())
              ? policiesOf(name, rule).reduce((inner, policy) => guarded(policy, rule, inner, verdictOf, refused), call)
              : call)
      }
    })
  )

  /** In this process. */
  static readonly layerMemory: Layer.Layer<Circuits> = Layer.unwrap(Effect.map(Limits, ({ circuitIdleMillis }) =>
    Layer.provide(Circuits.layer, CircuitBreaker.layerStoreMemory({ idleTimeToLive: Duration.millis(circuitIdleMillis) }))))
}

interface Policy {
  readonly key: string
  readonly policy: CircuitBreaker.TripPolicy
}

/** The calls a share of failures is taken of. */
const windowCalls = 100

/** A rule of two thresholds is two circuits, each of which may refuse. */
const policiesOf = (name: string, { consecutive, rate }: CircuitRule): ReadonlyArray<Policy> => [
  ...(consecutive === undefined ? [] : [{ key: `${name}/row`, policy: CircuitBreaker.consecutive(consecutive) }]),
  ...(rate === undefined ? [] : [{
    key: `${name}/rate`,
    policy: CircuitBreaker.rate({ threshold: rate.threshold, minimumCalls: rate.minimum, size: Math.max(windowCalls, rate.minimum) })
  }])
]

const waitOf = (reason: CircuitBreaker.CircuitOpen | CircuitBreaker.CircuitHalfOpen): number | undefined =>
  reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : undefined

/** Names are made of what callers send: beyond so many of late, further ones have no circuit. */
const tracking = (most: number, idleMillis: number): ((name: string, nowMillis: number) => boolean) => {
  const seen = new Map<string, number>()
  return (name, nowMillis) => {
    for (const [oldest, at] of seen) {
      if (nowMillis - at < idleMillis) break
      seen.delete(oldest)
    }
    if (!seen.has(name) && seen.size >= most) return false
    seen.delete(name)
    seen.set(name, nowMillis)
    return true
  }
}
