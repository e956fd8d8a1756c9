// Key budgets: reserves the cost of a request before it runs, out of this process's lease on the shared budget.
// It must not know requests, prices or tables.
// One fiber calls the store; a request waits only when its lease is too small.
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
import { Lease, type LeaseTimes } from "./Lease.ts"

/** Whether metrics may be labelled by key id. Metrics are readable without a key, so this is off by default (TH32). */
export const KeyLabel: Context.Reference<boolean> = Context.Reference("gateway/keys/KeyLabel", {
  defaultValue: () => false
})

export interface Budgets {
  /**
   * Reserves an amount of at least a millionth of a dollar and calls `hold` in the same moment. `hold` receives the
   * function that settles the reservation with the amount spent. The effect fails when the budget does not cover the
   * amount, or when the lease does not and the store is unreachable.
   */
  readonly reserve: (
    keyId: string,
    budget: Budget,
    micros: number,
    hold: (settle: (spentMicros: number) => void) => void
  ) => Effect.Effect<void, BudgetSpent | StoreUnavailable>
  /** What all processes have spent in a period, as last reported to this one; undefined when it is unknown. */
  readonly spent: (keyId: string, period: string) => number | undefined
}

/** The latest lease of each key, and leases of past periods until they are settled. */
class Leases {
  private readonly all = new Map<string, Lease>()
  private readonly latest = new Map<string, Lease>()
  /** Undefined: metrics have no key label. */
  private readonly registry: SeriesRegistry | undefined
  private readonly times: LeaseTimes

  constructor(registry: SeriesRegistry | undefined, times: LeaseTimes) {
    this.registry = registry
    this.times = times
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
    const lease = new Lease(keyId, period, budgetMicros, this.times)
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

  /** Sorted in the same order in all processes, which prevents deadlocks in the store. */
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

  /** The next moment at which a lease must be renewed or returned; undefined without leases. */
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

/** A free request also reserves this amount, so that it is refused when the budget is exhausted. */
const leastMicros = 1

export const makeBudgets: Effect.Effect<Budgets, never, Spending | Scope.Scope> = Effect.gen(function* () {
  const spending = yield* Spending
  const limits = yield* Limits
  const { spendingMillis } = limits
  const leases = new Leases((yield* KeyLabel) ? SeriesRegistry.of(yield* Effect.context<never>()) : undefined, limits)
  /** Open while a lease has something to report or to request. */
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
  // Runs after the fiber has ended, and repeats the exchange that was interrupted.
  yield* Effect.addFinalizer(() => Effect.ignore(returnLeases(spending, leases)))
  yield* Effect.forkScoped(Effect.forever(turn))

  /** Waits for the exchange that includes this request. */
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
      const refused = Effect.suspend(() => {
        lease.refuse(micros, now)
        return Effect.fail(spentError(budget, lease, micros, now, limits.leaseReclaimMillis))
      })
      if (lease.isRefused(micros, now))
        return Effect.fail(spentError(budget, lease, micros, now, limits.leaseReclaimMillis))
      // An amount above the whole budget is never requested: while it waited, it would block the rest of the budget.
      // The least amount is, so that the refusal states what all processes have left.
      if (micros > budget.micros) return Effect.andThen(Effect.ignore(asked(lease, leastMicros)), refused)
      return Effect.flatMap(asked(lease, micros), () => (!lease.isShort || lease.fits(micros, now) ? attempt : refused))
    })
    return attempt
  }
  return { reserve, spent: (keyId, period) => leases.get(keyId, period)?.spentMicros }
})

/** Runs the exchanges of all due leases; `answer` waits for the next exchange that starts. */
const exchanging = (spending: Spending["Service"], leases: Leases) => {
  let next = Deferred.makeUnsafe<void, StoreUnavailable>()
  const exchange = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const due = leases.due(now)
    if (due.length === 0) return Effect.void
    const waited = next
    next = Deferred.makeUnsafe()
    return Effect.flatMap(
      Effect.exit(exchangeLeases(spending, due, now, (lease) => lease.change(now, leases.isOver(lease)))),
      (exit) => {
        if (Exit.isSuccess(exit)) {
          for (const lease of due) leases.forget(lease)
          return Deferred.done(waited, exit)
        }
        // Requests that arrived during the failed exchange fail with it.
        const also = next
        next = Deferred.makeUnsafe()
        return Effect.andThen(Deferred.done(waited, exit), Deferred.done(also, exit))
      }
    )
  })
  return { answer: () => Deferred.await(next), exchange }
}

/** One exchange of the given leases with the store. */
const exchangeLeases = (
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

/** At the end of the process all spending is reported, and all leases are returned. */
const returnLeases = (spending: Spending["Service"], leases: Leases): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const close = (lease: Lease): SpendingChange => ({ ...lease.change(now, true), wantedMicros: 0 })
    const pending = leases.unsettled.filter((lease) => lease.pending !== undefined)
    return Effect.andThen(
      exchangeLeases(spending, pending, now, (lease) => lease.change(now, true)),
      Effect.suspend(() => exchangeLeases(spending, leases.unsettled, now, close))
    )
  })

const spentError = (
  { micros: budget, per }: Budget,
  { spentMicros }: Lease,
  micros: number,
  nowMillis: number,
  reclaimMillis: number
): BudgetSpent => {
  const isReserved = budget - spentMicros >= micros
  const resets = nextPeriodMillis(per, nowMillis)
  return new BudgetSpent({
    usd: dollarsOf(budget),
    per,
    estimateUsd: dollarsOf(micros),
    leftUsd: dollarsOf(Math.max(0, budget - spentMicros)),
    resets: new Date(resets).toISOString(),
    retryMillis: resets - nowMillis,
    isReserved,
    ...(isReserved ? { reclaimMillis } : {})
  })
}
