// Circuits: calls to a target that fails again and again stop for a while, then one probe at a time tries the target.
// Must not know the config file, requests or responses. Lost state costs a few failed calls.
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Scope from "effect/Scope"
import { monotonicMillis } from "../domain/time.ts"
import { FairEntries } from "../domain/collections.ts"
import type { CircuitRule } from "../domain/config/GatewayConfig.ts"
import { Limits, type LimitValues } from "../domain/Limits.ts"
import { Breakers, type Policy, type Refused, type Verdict } from "./Breakers.ts"
import type { SharedState } from "./SharedState.ts"

/** A circuit: its target, the gateway key it counts for, and when it opens. */
export interface Circuit {
  readonly name: string
  /** The gateway key whose calls are counted. */
  readonly owner: string
  /** The account (`slug`) and the model of the target. */
  readonly slug: string
  readonly modelId: string
  readonly rule: CircuitRule
}

export type CircuitState = "Closed" | "HalfOpen" | "Open"

/** Observes the state in which a circuit was found or to which it changed. `part` names one of its thresholds. */
export type CircuitStates = (circuit: Circuit, part: string, state: CircuitState) => Effect.Effect<void>
export const CircuitStates: Context.Reference<CircuitStates> = Context.Reference<CircuitStates>(
  "gateway/state/CircuitStates",
  {
    defaultValue: () => () => Effect.void
  }
)

export class Circuits extends Context.Service<
  Circuits,
  {
    /** The names of the circuits that would refuse a call now. */
    readonly open: (circuits: ReadonlyArray<Circuit>) => Effect.Effect<ReadonlySet<string>>
    /** Makes the call unless the circuit refuses it, and counts its end. */
    readonly guard: <A, E, R>(
      circuit: Circuit,
      call: Effect.Effect<A, E, R>,
      verdictOf: (cause: Cause.Cause<E>) => Verdict,
      refused: (why: Refused) => E
    ) => Effect.Effect<A, E, R>
  }
>()("gateway/state/Circuits") {
  /** Circuits of this process only. */
  static readonly layerMemory: Layer.Layer<Circuits> = Layer.effect(
    Circuits,
    Effect.flatMap(Limits, (limits) => Effect.flatMap(Breakers.inProcess(limits), (breakers) => make(breakers, limits)))
  )

  /** Circuits shared by several processes: a circuit that opens in one process opens in all. */
  static readonly layerShared: Layer.Layer<Circuits, never, SharedState> = Layer.effect(
    Circuits,
    Effect.gen(function* () {
      const limits = yield* Limits
      return yield* make(yield* Breakers.shared(limits), limits)
    })
  )
}

const make = (
  breakers: Breakers,
  { circuitEntries, circuitIdleMillis }: LimitValues
): Effect.Effect<Circuits["Service"]> =>
  Effect.map(CircuitStates, (observe) => {
    const tracked = new Tracked(circuitEntries, circuitIdleMillis)
    const guarded = <A, E, R>(
      circuit: Circuit,
      policy: Policy,
      call: Effect.Effect<A, E, R>,
      verdictOf: (cause: Cause.Cause<E>) => Verdict,
      refused: (why: Refused) => E
    ): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.scopedWith((scope) =>
          Effect.matchEffect(Scope.provide(breakers.admit(policy), scope), {
            onFailure: (why) =>
              Effect.andThen(
                observe(circuit, policy.key, why.retryAfterMillis === undefined ? "HalfOpen" : "Open"),
                Effect.fail(refused(why))
              ),
            onSuccess: ({ isProbe, record }) => {
              const made = Effect.onExit(restore(call), (exit) =>
                Effect.flatMap(record(Exit.isSuccess(exit) ? "Success" : verdictOf(exit.cause)), (state) =>
                  state === undefined
                    ? Effect.void
                    : Effect.clockWith((clock) => {
                        if (state === "Open") tracked.opened(circuit, monotonicMillis(clock))
                        return observe(circuit, policy.key, state)
                      })
                )
              )
              return isProbe ? Effect.andThen(observe(circuit, policy.key, "HalfOpen"), made) : made
            }
          })
        )
      )

    return {
      open: (circuits) =>
        Effect.map(
          Effect.filter(circuits, (circuit) =>
            Effect.map(
              Effect.forEach(policiesOf(circuit), ({ key }) => breakers.isOpen(key)),
              (states) => states.includes(true)
            )
          ),
          (open) => new Set(open.map(({ name }) => name))
        ),
      guard: (circuit, call, verdictOf, refused) =>
        Effect.clockWith((clock) =>
          tracked.has(circuit, monotonicMillis(clock))
            ? policiesOf(circuit).reduce((inner, policy) => guarded(circuit, policy, inner, verdictOf, refused), call)
            : call
        )
    }
  })

/** The number of latest calls from which the rate of failures is computed. */
const windowCalls = 100

/** A rule with two thresholds makes two breakers; each of them may refuse a call. */
const policiesOf = ({
  name,
  rule: { consecutive, cooldownMillis: openMillis, rate }
}: Circuit): ReadonlyArray<Policy> => [
  ...(consecutive === undefined
    ? []
    : [{ key: `${name}/row`, openMillis, policy: CircuitBreaker.consecutive(consecutive) }]),
  ...(rate === undefined
    ? []
    : [
        {
          key: `${name}/rate`,
          openMillis,
          policy: CircuitBreaker.rate({
            threshold: rate.threshold,
            minimumCalls: rate.minimum,
            size: Math.max(windowCalls, rate.minimum)
          })
        }
      ])
]

/** Idle names are removed at most once in this share of the idle time. */
const prunedShare = 0.1

/**
 * The circuits that are counted. Their names contain text from clients, so their number is bounded. When the list is full,
 * a gateway key with its even share gets no further circuits; a key with less replaces a name of the key with most. A name
 * stays as long as its breaker.
 */
class Tracked {
  private readonly untilMillis: FairEntries<number>
  private readonly idleMillis: number
  private prunedMillis = 0

  constructor(most: number, idleMillis: number) {
    this.untilMillis = new FairEntries(most)
    this.idleMillis = idleMillis
  }

  /** Whether calls of this circuit are counted. */
  has({ name, owner }: Circuit, nowMillis: number): boolean {
    const until = this.untilMillis.get(name)
    if (until === undefined && !this.mayAdd(owner, nowMillis)) return false
    this.untilMillis.set(owner, name, Math.max(until ?? 0, nowMillis + this.idleMillis))
    return true
  }

  opened({ name, owner, rule }: Circuit, nowMillis: number): void {
    if (this.untilMillis.get(name) !== undefined)
      this.untilMillis.set(owner, name, nowMillis + rule.cooldownMillis + this.idleMillis)
  }

  private mayAdd(owner: string, nowMillis: number): boolean {
    if (this.untilMillis.mayAdd(owner)) return true
    if (nowMillis - this.prunedMillis < this.idleMillis * prunedShare) return false
    this.prunedMillis = nowMillis
    this.untilMillis.prune((untilMillis) => untilMillis <= nowMillis)
    return this.untilMillis.mayAdd(owner)
  }
}
