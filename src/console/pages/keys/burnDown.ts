// What is left of a budget over its period, and what it comes to at the rate so far.
// Must not know where spending comes from.

const hour = 60 * 60 * 1000
const day = 24 * hour

/** A budget period in UTC, in equal parts: hours of a day, or days of a month. */
export interface Period {
  readonly from: number
  readonly to: number
  readonly starts: ReadonlyArray<number>
}

export const periodAt = (per: "day" | "month", now: number): Period => {
  const at = new Date(now)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  const from = Date.UTC(year, month, per === "day" ? at.getUTCDate() : 1)
  const to = per === "day" ? from + day : Date.UTC(year, month + 1)
  const part = per === "day" ? hour : day
  return { from, to, starts: Array.from({ length: Math.round((to - from) / part) }, (_, index) => from + index * part) }
}

export interface BurnDown {
  /** What was left at the begin of each part, and at the end of the period; null for parts to come. */
  readonly left: ReadonlyArray<number | null>
  /** The same from now on at the rate so far; null before. */
  readonly ahead: ReadonlyArray<number | null>
  /** What is spent at the end of the period at that rate. */
  readonly total: number
  /** When nothing is left at that rate; undefined where that is after the period. */
  readonly emptyAt: number | undefined
}

/** `spentIn` has what was spent in each part. */
export const burnDown = (
  budget: number,
  { from, starts, to }: Period,
  spentIn: ReadonlyArray<number>,
  now: number
): BurnDown => {
  const moments = [...starts, to]
  const before = (moment: number): number =>
    starts.reduce((sum, start, index) => (start < moment ? sum + (spentIn[index] ?? 0) : sum), 0)
  const spent = before(to)
  const rate = spent / Math.max(now - from, 1)
  const emptyAt = rate === 0 ? undefined : Math.max(now, now + (budget - spent) / rate)
  const current = moments.findLastIndex((moment) => moment <= now)
  const leftAt = (moment: number): number => Math.max(0, budget - before(moment))
  return {
    left: moments.map((moment, index) =>
      index <= current ? leftAt(moment) : index === current + 1 ? leftAt(to) : null
    ),
    ahead: moments.map((moment, index) =>
      index <= current ? null : Math.max(0, budget - spent - rate * Math.max(0, moment - now))
    ),
    total: spent + rate * (to - now),
    emptyAt: emptyAt === undefined || emptyAt >= to ? undefined : emptyAt
  }
}
