// A lease on a key's budget: the part this process may spend without calling the store, and what it has spent.
// It must not know the store's tables, clocks or requests.
import type { LimitValues } from "../domain/Limits.ts"
import type { SpendingChange, SpendingState } from "../store/Spending.ts"

/** Beyond its need a process leases 1/100 of the budget. */
const slices = 100

/** How long a refused amount is refused again without calling the store. */
const refusedMillis = 1000

export type LeaseTimes = Pick<LimitValues, "leaseMillis" | "leaseReclaimMillis">

/**
 * All amounts are millionths of a US dollar. Reserved and unreported amounts together never exceed the granted amount.
 */
export class Lease {
  readonly keyId: string
  readonly period: string
  budgetMicros: number
  /** Wanted by requests that wait for a grant. */
  waiting = 0
  /** The last exchange granted less than was requested. */
  isShort = false
  private readonly times: LeaseTimes
  private reserved = 0
  private spent = 0
  private granted = 0
  private untilMillis = 0
  private usedMillis = 0
  private spentByAll = 0
  private turn = 0
  /** The smallest refused amount, and until when such amounts are refused without calling the store. */
  private refusedMicros = 0
  private refusedUntilMillis = 0
  /** The last exchange requested nothing beyond the need, because the key is idle. */
  private isLean = false
  /** The exchange that awaits its answer. */
  private exchanging: SpendingChange | undefined

  constructor(keyId: string, period: string, budgetMicros: number, times: LeaseTimes) {
    this.keyId = keyId
    this.period = period
    this.budgetMicros = budgetMicros
    this.times = times
  }

  /** What all processes have spent, as far as this one knows. */
  get spentMicros(): number {
    return this.spentByAll + this.unreported
  }

  /** Spent, and not known to be stored. */
  get unreported(): number {
    return this.spent + (this.exchanging?.spentMicros ?? 0)
  }

  /** While a request for less is unanswered, only that smaller amount may be used. */
  private get free(): number {
    const { granted, exchanging } = this
    return (
      (exchanging === undefined ? granted : Math.min(granted, exchanging.spentMicros + exchanging.wantedMicros)) -
      this.reserved -
      this.unreported
    )
  }

  private get slice(): number {
    return Math.max(1, Math.ceil(this.budgetMicros / slices))
  }

  fits(micros: number, nowMillis: number): boolean {
    return nowMillis < this.untilMillis && micros <= this.free
  }

  /** Reserves an amount for a running request. */
  reserve(micros: number, nowMillis: number): void {
    this.reserved += micros
    this.usedMillis = nowMillis
  }

  /** Replaces a reservation by the amount spent. */
  settle(reserved: number, spent: number): void {
    this.reserved -= reserved
    this.spent += spent
  }

  refuse(micros: number, nowMillis: number): void {
    this.refusedMicros = nowMillis < this.refusedUntilMillis ? Math.min(this.refusedMicros, micros) : micros
    this.refusedUntilMillis = nowMillis + refusedMillis
  }

  isRefused(micros: number, nowMillis: number): boolean {
    return nowMillis < this.refusedUntilMillis && micros >= this.refusedMicros
  }

  /** A changed budget may cover what was refused. */
  changeBudget(micros: number): void {
    this.budgetMicros = micros
    this.refusedUntilMillis = 0
  }

  private isIdle(nowMillis: number, isOver: boolean): boolean {
    return isOver || nowMillis - this.usedMillis > this.times.leaseMillis / 2
  }

  /** True when nothing runs, waits, is unreported or granted. */
  get isSettled(): boolean {
    return (
      this.reserved === 0 &&
      this.waiting === 0 &&
      this.unreported === 0 &&
      this.granted === 0 &&
      this.exchanging === undefined
    )
  }

  /** The moment of the next scheduled exchange: at half of the lease time, and thrice before the store gives it to others. */
  get renewalMillis(): number | undefined {
    const { leaseMillis, leaseReclaimMillis } = this.times
    return this.granted === 0
      ? undefined
      : this.untilMillis - leaseMillis + Math.min(leaseMillis / 2, leaseReclaimMillis / 3)
  }

  /** Half of the extra amount is used, and more may be available. */
  get isLow(): boolean {
    return this.granted > 0 && !this.isShort && !this.isLean && this.free < this.slice / 2
  }

  /** More than the extra amount is free: requests were refused for another reason, or cost less than estimated. */
  private get isExcessive(): boolean {
    return this.granted > 0 && this.free > this.slice
  }

  /** True when an exchange is needed to report, request or return an amount. */
  get isStirred(): boolean {
    return this.waiting > 0 || this.spent > 0 || this.exchanging !== undefined || this.isLow || this.isExcessive
  }

  isDue(nowMillis: number): boolean {
    return this.isStirred || (this.renewalMillis !== undefined && nowMillis >= this.renewalMillis)
  }

  /** The next exchange. An unanswered exchange is repeated unchanged. */
  change(nowMillis: number, isOver: boolean): SpendingChange {
    if (this.exchanging === undefined) {
      this.isLean = this.isIdle(nowMillis, isOver) && this.waiting === 0
      this.exchanging = {
        keyId: this.keyId,
        period: this.period,
        budgetMicros: this.budgetMicros,
        turn: ++this.turn,
        spentMicros: this.spent,
        wantedMicros: this.reserved + this.waiting + (this.isLean ? 0 : this.slice)
      }
      this.spent = 0
    }
    return this.exchanging
  }

  /** The exchange that awaits its answer. */
  get pending(): SpendingChange | undefined {
    return this.exchanging
  }

  answered({ leasedMicros, spentMicros }: SpendingState, askedMillis: number): void {
    this.isShort = leasedMicros < (this.exchanging?.wantedMicros ?? 0)
    this.exchanging = undefined
    this.granted = leasedMicros
    this.untilMillis = askedMillis + this.times.leaseMillis
    this.spentByAll = spentMicros
  }
}
