// Key budgets: reserves the cost of a request before it runs, out of this process's lease on the shared budget.
// It must not know requests, prices or tables.
// One fiber calls the store; a request waits only when its lease is too small.
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { BudgetSpent, type StoreUnavailable } from "../domain/GatewayError.ts"
import { type Budget, nextPeriodMillis, periodOf } from "../domain/GatewayKey.ts"
import { Limits } from "../domain/Limits.ts"
import { monotonicMillis } from "../domain/time.ts"
import { dollarsOf, microsOf } from "../domain/Usage.ts"
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

/** Leases are timed by the monotonic clock; only their periods are days and months of the wall clock. */
const nowMillis: Effect.Effect<number> = Effect.clockWith((clock) => Effect.succeed(monotonicMillis(clock)))

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

  /** Those that requests wait for come first. */
  due(nowMillis: number): ReadonlyArray<Lease> {
    const due = [...this.all.values()].filter((lease) => lease.isDue(nowMillis))
    return [...due.filter(({ waiting }) => waiting > 0), ...due.filter(({ waiting }) => waiting === 0)]
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

/** Budgets of one exchange: one transaction, so that a large number of keys does not exceed its time. */
const mostTogether = 500
/** An exchange that failed is halved down to this number. Fewer budgets cost the store the same. */
const leastTogether = 25
/** The longest pause after exchanges that failed; a request that waits ends it. */
const longestPauseMillis = 8 * 1000

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
  // Runs after the fiber has ended, and repeats the exchange that was interrupted.
  yield* Effect.addFinalizer(() => Effect.catch(returnLeases(spending, leases), () => reportLost(leases)))
  yield* Effect.forkScoped(Effect.forever(exchangeTurn(leases, { stirred, urgent }, spendingMillis, exchange)))

  /** Waits for the exchange that includes this request. */
  const asked = (lease: Lease, micros: number): Effect.Effect<void, StoreUnavailable> =>
    Effect.suspend(() => {
      lease.waiting += micros
      const answered = answer(lease)
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
    const budgetMicros = microsOf(budget.usd)
    const attempt: Effect.Effect<void, BudgetSpent | StoreUnavailable> = Effect.clockWith((clock) => {
      const wall = clock.currentTimeMillisUnsafe()
      const now = monotonicMillis(clock)
      const lease = leases.of(keyId, budgetMicros, periodOf(budget.per, wall))
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
        return Effect.fail(spentError(budget.per, lease, micros, wall, limits.leaseReclaimMillis))
      })
      if (lease.isRefused(micros, now))
        return Effect.fail(spentError(budget.per, lease, micros, wall, limits.leaseReclaimMillis))
      // An amount above the whole budget is never requested: while it waited, it would block the rest of the budget.
      // The least amount is, so that the refusal states what all processes have left.
      if (micros > budgetMicros) return Effect.andThen(Effect.ignore(asked(lease, leastMicros)), refused)
      return Effect.flatMap(asked(lease, micros), () => (!lease.isShort || lease.fits(micros, now) ? attempt : refused))
    })
    return attempt
  }
  return { reserve, spent: (keyId, period) => leases.get(keyId, period)?.spentMicros }
})

/** Waits until a lease has something to exchange or must be renewed, gathers for a while, and exchanges. */
const exchangeTurn = (
  leases: Leases,
  { stirred, urgent }: { readonly stirred: Latch.Latch; readonly urgent: Latch.Latch },
  spendingMillis: number,
  exchange: Effect.Effect<number>
): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    if (!leases.isStirred) stirred.closeUnsafe()
    const { renewalMillis } = leases
    const rest =
      renewalMillis === undefined
        ? stirred.await
        : Effect.raceFirst(stirred.await, Effect.sleep(Math.max(0, renewalMillis - monotonicMillis(clock))))
    const gathered = Effect.suspend(() =>
      leases.isStirred ? Effect.raceFirst(urgent.await, Effect.sleep(spendingMillis)) : Effect.void
    )
    // The time to gather is the first pause.
    const paused = (failures: number) =>
      failures < 2
        ? Effect.void
        : Effect.raceFirst(
            urgent.await,
            Effect.sleep(Math.min(longestPauseMillis, spendingMillis * 2 ** (failures - 2)))
          )
    return Effect.andThen(
      rest,
      Effect.andThen(gathered, Effect.andThen(urgent.close, Effect.flatMap(exchange, paused)))
    )
  })

/**
 * Runs the exchanges of all due leases; `answer` waits for the next exchange of a lease that starts. An exchange returns
 * the number of failures since the last success.
 */
const exchanging = (spending: Spending["Service"], leases: Leases) => {
  const waiting = new Map<Lease, Deferred.Deferred<void, StoreUnavailable>>()
  /** Budgets that are sent together; fewer after a failure, more again after each success. */
  let together = mostTogether
  let failures = 0
  const exchangePart = (part: ReadonlyArray<Lease>, now: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const waited = part.flatMap((lease) => waiting.get(lease) ?? [])
      for (const lease of part) waiting.delete(lease)
      const ended = Effect.exit(exchangeLeases(spending, part, now, (lease) => lease.change(now, leases.isOver(lease))))
      return Effect.flatMap(ended, (exit) => {
        const answered = [...waited]
        if (Exit.isSuccess(exit)) {
          failures = 0
          together = Math.min(mostTogether, 2 * together)
          for (const lease of part) leases.forget(lease)
        } else {
          failures++
          together = Math.max(leastTogether, Math.ceil(part.length / 2))
          // Requests that wait for a later exchange fail with it: none waits longer than two exchanges.
          answered.push(...waiting.values())
          waiting.clear()
        }
        return Effect.forEach(answered, (one) => Deferred.done(one, exit), { discard: true })
      })
    })
  const exchange = Effect.flatMap(nowMillis, (now) => {
    const due = leases.due(now)
    const next = (start: number): Effect.Effect<number> =>
      Effect.suspend(() => {
        const part = due.slice(start, start + together)
        if (part.length === 0) return Effect.succeed(0)
        return Effect.flatMap(exchangePart(part, now), () =>
          failures > 0 ? Effect.succeed(failures) : next(start + part.length)
        )
      })
    return next(0)
  })
  const answer = (lease: Lease): Effect.Effect<void, StoreUnavailable> => {
    const next = waiting.get(lease) ?? Deferred.makeUnsafe()
    waiting.set(lease, next)
    return Deferred.await(next)
  }
  return { answer, exchange }
}

/** One exchange of the given leases with the store. All processes have one order, which prevents deadlocks in the store. */
const exchangeLeases = (
  spending: Spending["Service"],
  some: ReadonlyArray<Lease>,
  nowMillis: number,
  changeOf: (lease: Lease) => SpendingChange
): Effect.Effect<void, StoreUnavailable> => {
  const sorted = some.toSorted((one, other) => (one.keyId + one.period < other.keyId + other.period ? -1 : 1))
  return sorted.length === 0
    ? Effect.void
    : Effect.map(spending.exchange(sorted.map(changeOf)), (states) => {
        for (const [at, lease] of sorted.entries()) {
          const state = states[at]
          if (state !== undefined) lease.answered(state, nowMillis)
        }
      })
}

/** At the end of the process all spending is reported, and all leases are returned. */
const returnLeases = (spending: Spending["Service"], leases: Leases): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(nowMillis, (now) => {
    const inParts = (some: ReadonlyArray<Lease>, changeOf: (lease: Lease) => SpendingChange) =>
      Effect.forEach(Arr.chunksOf(some, mostTogether), (part) => exchangeLeases(spending, part, now, changeOf), {
        discard: true
      })
    const pending = leases.unsettled.filter((lease) => lease.pending !== undefined)
    return Effect.andThen(
      inParts(pending, (lease) => lease.change(now, true)),
      Effect.suspend(() => inParts(leases.unsettled, (lease) => ({ ...lease.change(now, true), wantedMicros: 0 })))
    )
  })

/** The end of a process whose store does not answer: what it has spent is missing from the budgets. */
const reportLost = (leases: Leases): Effect.Effect<void> =>
  Effect.suspend(() => {
    const lost = leases.unsettled.filter(({ unreported }) => unreported > 0)
    const micros = lost.reduce((sum, { unreported }) => sum + unreported, 0)
    return lost.length === 0
      ? Effect.void
      : Effect.logError(
          `store: ${dollarsOf(micros)} US dollars that ${lost.length} budgets spent are lost: the store did not take them before the process ended`
        )
  })

const spentError = (
  per: Budget["per"],
  { budgetMicros, spentMicros }: Lease,
  micros: number,
  nowMillis: number,
  reclaimMillis: number
): BudgetSpent => {
  const isReserved = budgetMicros - spentMicros >= micros
  const resets = nextPeriodMillis(per, nowMillis)
  return new BudgetSpent({
    usd: dollarsOf(budgetMicros),
    per,
    estimateUsd: dollarsOf(micros),
    leftUsd: dollarsOf(Math.max(0, budgetMicros - spentMicros)),
    resets: new Date(resets).toISOString(),
    retryMillis: resets - nowMillis,
    isReserved,
    ...(isReserved ? { reclaimMillis } : {})
  })
}
