// How many retries are allowed: less than a fifth of the requests of the last ten seconds, and at least a few.
// It must not depend on what is called, or on a clock: the current time is an argument.

const slotMillis = 100
const slots = 100
/** A retry waits before it goes out, usually for less than a second. */
const waitSlots = 11
/** A fifth is what an upstream in trouble may be asked for in addition; the rest is for requests that end between two looks. */
const share = 0.18
const floor = 3

/** A count of recent events. Each tenth of a second has a slot, and the oldest slot is used again. The current slot is one of them. */
class Recent {
  private readonly slots: Uint32Array
  private latest = 0
  private sum = 0

  constructor(count: number) {
    this.slots = new Uint32Array(count)
  }

  add(nowMillis: number): void {
    this.total(nowMillis)
    const slot = this.latest % this.slots.length
    this.slots[slot] = (this.slots[slot] ?? 0) + 1
    this.sum++
  }

  total(nowMillis: number): number {
    const now = Math.floor(nowMillis / slotMillis)
    if (now - this.latest >= this.slots.length) {
      this.slots.fill(0)
      this.sum = 0
      this.latest = now
    }
    while (this.latest < now) {
      const slot = ++this.latest % this.slots.length
      this.sum -= this.slots[slot] ?? 0
      this.slots[slot] = 0
    }
    return this.sum
  }
}

/** Of one caller to one account, so that callers do not use up each other's. */
export class RetryBudget {
  /** Requests of at most ten seconds, retries of ten and the time they wait: so that no ten seconds hold too many. */
  private readonly requests = new Recent(slots)
  private readonly retries = new Recent(slots + waitSlots)

  /** A request that is not a retry. */
  request(nowMillis: number): void {
    this.requests.add(nowMillis)
  }

  retry(nowMillis: number): void {
    this.retries.add(nowMillis)
  }

  isAffordable(nowMillis: number): boolean {
    return this.retries.total(nowMillis) < Math.max(floor, share * this.requests.total(nowMillis))
  }
}

/** One budget for each pair of names; both are known ones, so their number is bounded. */
export const retryBudgets = (): ((caller: string, slug: string) => RetryBudget) => {
  const budgets = new Map<string, Map<string, RetryBudget>>()
  return (caller, slug) => {
    let ofSlug = budgets.get(slug)
    if (ofSlug === undefined) budgets.set(slug, (ofSlug = new Map()))
    let budget = ofSlug.get(caller)
    if (budget === undefined) ofSlug.set(caller, (budget = new RetryBudget()))
    return budget
  }
}
