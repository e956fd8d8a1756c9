// Budgets of keys: what a request may cost is set aside before it runs, out of a lease on the shared budget.
// It must not know requests, prices or tables. The store is asked by one fiber, and waited for only where a lease does not suffice.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { BudgetSpent, type StoreUnavailable } from "../domain/GatewayError.ts"
import { type Budget, nextPeriodMillis, periodOf } from "../domain/GatewayKey.ts"
import { Limits } from "../domain/Limits.ts"
import { dollarsOf } from "../domain/Usage.ts"
import { Spending, type SpendingChange } from "../store/Spending.ts"
import { metrics } from "../telemetry/metrics.ts"
import { SeriesRegistry } from "../telemetry/Series.ts"
import { Lease } from "./Lease.ts"

/** Whether metrics may name keys by their ids; open metrics name none unless the operator asks (TH32). */
export const KeyLabel: Context.Reference<boolean> = Context.Reference("gateway/keys/KeyLabel", {
  defaultValue: () => false
})

export interface Budgets {
  /**
   * Sets this much aside, at least a millionth of a dollar, and in the same moment gives `hold` what ends that: it takes
   * what was spent in the end. Fails when the budget does not cover it, and when nothing of it is at hand while the store is gone.
   */
  readonly reserve: (
    keyId: string,
    budget: Budget,
    micros: number,
    hold: (settle: (spentMicros: number) => void) => void
  ) => Effect.Effect<void, BudgetSpent | StoreUnavailable>
  /** What this process knows to be spent of a period by all; undefined when it has not asked. */
  readonly spent: (keyId: string, period: string) => number | undefined
}

/** The latest lease of each key, and those of periods that are over until they are settled. */
class Leases {
  private readonly all = new Map<string, Lease>()
  private readonly latest = new Map<string, Lease>()
  /** Undefined: no key is named by a metric. */
  private readonly registry: SeriesRegistry | undefined
  private readonly leaseMillis: number

  constructor(registry: SeriesRegistry | undefined, leaseMillis: number) {
    this.registry = registry
    this.leaseMillis = leaseMillis
  }

  get(keyId: string, period: string): Lease | undefined {
    const lease = this.latest.get(keyId)
    return lease?.period === period ? lease : this.all.get(`${period} ${keyId}`)
  }

  of(keyId: string, budgetMicros: number, period: string): Lease {
    const known = this.get(keyId, period)
    if (known !== undefined) {
      this.latest.set(keyId, known)
      if (known.budgetMicros !== budgetMicros) known.changeBudget(budgetMicros)
      return known
    }
    const lease = new Lease(keyId, period, budgetMicros, this.leaseMillis)
    if (!this.latest.has(keyId)) {
      this.registry?.read(metrics.budgetRemaining, { budget: keyId }, () => this.remaining(keyId))
    }
    this.all.set(`${period} ${keyId}`, lease)
    this.latest.set(keyId, lease)
    return lease
  }

  private remaining(keyId: string): number {
    const lease = this.latest.get(keyId)
    return lease === undefined ? 0 : dollarsOf(Math.max(0, lease.budgetMicros - lease.spentMicros))
  }

  isOver(lease: Lease): boolean {
    return this.latest.get(lease.keyId) !== lease
  }

  /** In one order for all processes, so that none of them waits for another that waits for it. */
  due(nowMillis: number): ReadonlyArray<Lease> {
    return [...this.all.values()]
      .filter((lease) => lease.isDue(nowMillis))
      .toSorted((one, other) => (one.keyId + one.period < other.keyId + other.period ? -1 : 1))
  }

  forget(lease: Lease): void {
    if (lease.isSettled && this.isOver(lease)) this.all.delete(`${lease.period} ${lease.keyId}`)
  }

  get isStirred(): boolean {
    for (const lease of this.all.values()) if (lease.isStirred) return true
    return false
  }

  /** When a lease is to be renewed or given back next; undefined while none is held. */
  get renewalMillis(): number | undefined {
    let next: number | undefined
    for (const { renewalMillis } of this.all.values()) {
      if (renewalMillis !== undefined && (next === undefined || renewalMillis < next)) next = renewalMillis
    }
    return next
  }

  get unsettled(): ReadonlyArray<Lease> {
    return [...this.all.values()].filter((lease) => !lease.isSettled)
  }
}

/** A request that costs nothing also reserves this while it runs, so that no request passes when the budget is used up. */
const leastMicros = 1

export const makeBudgets: Effect.Effect<Budgets, never, Spending | Scope.Scope> = Effect.gen(function* () {
  const spending = yield* Spending
  const { leaseMillis, spendingMillis } = yield* Limits
  const leases = new Leases(
    (yield* KeyLabel) ? SeriesRegistry.of(yield* Effect.context<never>()) : undefined,
    leaseMillis
  )
  /** Something is to be told; somebody waits for that. */
  const stirred = yield* Latch.make(false)
  const urgent = yield* Latch.make(false)
  const { answer, exchange } = exchanging(spending, leases)
  const turn = Effect.clockWith((clock) => {
    if (!leases.isStirred) stirred.closeUnsafe()
    const { renewalMillis } = leases
    const rest =
      renewalMillis === undefined
        ? stirred.await
        : Effect.raceFirst(stirred.await, Effect.sleep(Math.max(0, renewalMillis - clock.currentTimeMillisUnsafe())))
    const gathered = Effect.suspend(() =>
      leases.isStirred ? Effect.raceFirst(urgent.await, Effect.sleep(spendingMillis)) : Effect.void
    )
    return Effect.andThen(rest, Effect.andThen(gathered, Effect.andThen(urgent.close, exchange)))
  })
  // Run when the fiber has ended: what it was telling is told again.
  yield* Effect.addFinalizer(() => Effect.ignore(farewell(spending, leases)))
  yield* Effect.forkScoped(Effect.forever(turn))

  /** Waits for the exchange that is told of this request. */
  const asked = (lease: Lease, micros: number): Effect.Effect<void, StoreUnavailable> =>
    Effect.suspend(() => {
      lease.waiting += micros
      const answered = answer()
      urgent.openUnsafe()
      stirred.openUnsafe()
      return Effect.ensuring(
        answered,
        Effect.sync(() => {
          lease.waiting -= micros
        })
      )
    })

  const reserve: Budgets["reserve"] = (keyId, budget, estimate, hold) => {
    const micros = Math.max(leastMicros, estimate)
    const attempt: Effect.Effect<void, BudgetSpent | StoreUnavailable> = Effect.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      const lease = leases.of(keyId, budget.micros, periodOf(budget.per, now))
      if (lease.fits(micros, now)) {
        lease.reserve(micros, now)
        if (lease.isLow) stirred.openUnsafe()
        hold((spent) => {
          lease.settle(micros, spent)
          stirred.openUnsafe()
        })
        return Effect.void
      }
      // What no budget covers is not asked for: while it waits, it would keep others from all that is left.
      if (micros > budget.micros || lease.isRefused(micros, now))
        return Effect.fail(spentError(budget, lease, micros, now))
      return Effect.flatMap(asked(lease, micros), () => {
        if (!lease.isShort || lease.fits(micros, now)) return attempt
        lease.refuse(micros, now)
        return Effect.fail(spentError(budget, lease, micros, now))
      })
    })
    return attempt
  }
  return { reserve, spent: (keyId, period) => leases.get(keyId, period)?.spentMicros }
})

/** Exchanges for all leases that are due; `answer` is that of the next exchange to begin. */
const exchanging = (spending: Spending["Service"], leases: Leases) => {
  let next = Deferred.makeUnsafe<void, StoreUnavailable>()
  const exchange = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const due = leases.due(now)
    if (due.length === 0) return Effect.void
    const waited = next
    next = Deferred.makeUnsafe()
    return Effect.flatMap(
      Effect.exit(told(spending, due, now, (lease) => lease.change(now, leases.isOver(lease)))),
      (exit) => {
        if (Exit.isSuccess(exit)) {
          for (const lease of due) leases.forget(lease)
          return Deferred.done(waited, exit)
        }
        // Who came meanwhile has waited for the same silence.
        const also = next
        next = Deferred.makeUnsafe()
        return Effect.andThen(Deferred.done(waited, exit), Deferred.done(also, exit))
      }
    )
  })
  return { answer: () => Deferred.await(next), exchange }
}

/** Exchanges for these leases. */
const told = (
  spending: Spending["Service"],
  some: ReadonlyArray<Lease>,
  nowMillis: number,
  changeOf: (lease: Lease) => SpendingChange
): Effect.Effect<void, StoreUnavailable> =>
  some.length === 0
    ? Effect.void
    : Effect.map(spending.exchange(some.map(changeOf)), (states) => {
        for (const [at, lease] of some.entries()) {
          const state = states[at]
          if (state !== undefined) lease.answered(state, nowMillis)
        }
      })

/** At the end of the process everything is told, and what is held goes back. */
const farewell = (spending: Spending["Service"], leases: Leases): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const close = (lease: Lease): SpendingChange => ({ ...lease.change(now, true), wantedMicros: 0 })
    const pending = leases.unsettled.filter((lease) => lease.pending !== undefined)
    return Effect.andThen(
      told(spending, pending, now, (lease) => lease.change(now, true)),
      Effect.suspend(() => told(spending, leases.unsettled, now, close))
    )
  })

const spentError = (
  { micros: budget, per }: Budget,
  { spentMicros }: Lease,
  micros: number,
  nowMillis: number
): BudgetSpent => {
  const resets = nextPeriodMillis(per, nowMillis)
  return new BudgetSpent({
    usd: dollarsOf(budget),
    per,
    resets: new Date(resets).toISOString(),
    retryMillis: resets - nowMillis,
    isReserved: budget - spentMicros >= micros
  })
}
