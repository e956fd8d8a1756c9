// The part of a budget that this process may spend without asking the store, and what it has done with it.
// It must not know the store's tables, clocks or requests.
import type { SpendingChange, SpendingState } from "../store/Spending.ts"

/** What a process takes beyond what it needs: one part in so many of the budget. */
const slices = 100

/** How long what was refused is believed not to be there. */
const refusedMillis = 1000

/** All in millionths of a US dollar. What is reserved and what is spent and not yet told never exceed what was granted. */
export class Lease {
  readonly keyId: string
  readonly period: string
  budgetMicros: number
  /** Wanted by requests that wait for a grant. */
  waiting = 0
  /** The last exchange granted less than was wanted. */
  isShort = false
  private readonly leaseMillis: number
  private reserved = 0
  private spent = 0
  private granted = 0
  private untilMillis = 0
  private usedMillis = 0
  private spentByAll = 0
  private turn = 0
  /** The least that was refused, and until when as much is refused without asking again. */
  private refusedMicros = 0
  private refusedUntilMillis = 0
  /** Nothing was wanted beyond the need, because nobody asks any more. */
  private isLean = false
  /** An exchange that is not answered. */
  private telling: SpendingChange | undefined

  constructor(keyId: string, period: string, budgetMicros: number, leaseMillis: number) {
    this.keyId = keyId
    this.period = period
    this.budgetMicros = budgetMicros
    this.leaseMillis = leaseMillis
  }

  /** Spent by all processes, as far as this one knows. */
  get spentMicros(): number {
    return this.spentByAll + this.untold
  }

  private get untold(): number {
    return this.spent + (this.telling?.spentMicros ?? 0)
  }

  /** While the store is asked for less, only that may be used. */
  private get free(): number {
    const { granted, telling } = this
    return (
      (telling === undefined ? granted : Math.min(granted, telling.spentMicros + telling.wantedMicros)) -
      this.reserved -
      this.untold
    )
  }

  private get slice(): number {
    return Math.max(1, Math.ceil(this.budgetMicros / slices))
  }

  fits(micros: number, nowMillis: number): boolean {
    return nowMillis < this.untilMillis && micros <= this.free
  }

  /** Sets it aside for a request that runs. */
  reserve(micros: number, nowMillis: number): void {
    this.reserved += micros
    this.usedMillis = nowMillis
  }

  /** It has ended and has cost so much. */
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

  /** Another budget may cover what was refused. */
  changeBudget(micros: number): void {
    this.budgetMicros = micros
    this.refusedUntilMillis = 0
  }

  private isIdle(nowMillis: number, isOver: boolean): boolean {
    return isOver || nowMillis - this.usedMillis > this.leaseMillis / 2
  }

  /** Nothing runs, waits, is left to tell or held. */
  get isSettled(): boolean {
    return (
      this.reserved === 0 && this.waiting === 0 && this.untold === 0 && this.granted === 0 && this.telling === undefined
    )
  }

  /** When the next exchange is due of itself: half the time it was granted for is over. */
  get renewalMillis(): number | undefined {
    return this.granted === 0 ? undefined : this.untilMillis - this.leaseMillis / 2
  }

  /** Half of what was taken beyond the need is used, and there is more. */
  get isLow(): boolean {
    return this.granted > 0 && !this.isShort && !this.isLean && this.free < this.slice / 2
  }

  /** More is held than others should miss: who it was asked for could not use it, or has cost nothing. */
  private get isExcessive(): boolean {
    return this.granted > 0 && this.free > this.slice
  }

  /** Something is to be told, asked or given back. */
  get isStirred(): boolean {
    return this.waiting > 0 || this.spent > 0 || this.telling !== undefined || this.isLow || this.isExcessive
  }

  isDue(nowMillis: number): boolean {
    return this.isStirred || (this.renewalMillis !== undefined && nowMillis >= this.renewalMillis)
  }

  /** The next exchange; one that was not answered is told again as it was. */
  change(nowMillis: number, isOver: boolean): SpendingChange {
    if (this.telling === undefined) {
      this.isLean = this.isIdle(nowMillis, isOver) && this.waiting === 0
      this.telling = {
        keyId: this.keyId,
        period: this.period,
        budgetMicros: this.budgetMicros,
        turn: ++this.turn,
        spentMicros: this.spent,
        wantedMicros: this.reserved + this.waiting + (this.isLean ? 0 : this.slice)
      }
      this.spent = 0
    }
    return this.telling
  }

  /** The exchange that was told and not answered. */
  get pending(): SpendingChange | undefined {
    return this.telling
  }

  answered({ leasedMicros, spentMicros }: SpendingState, askedMillis: number): void {
    this.isShort = leasedMicros < (this.telling?.wantedMicros ?? 0)
    this.telling = undefined
    this.granted = leasedMicros
    this.untilMillis = askedMillis + this.leaseMillis
    this.spentByAll = spentMicros
  }
}
