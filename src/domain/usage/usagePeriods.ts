// Periods of past days: months, and parts of months by the first digit of the day. A span of days is few of them.
// It must not know where sums are stored.
import { dayMillis, dayOf } from "../text/days.ts"

/** A period is the beginning of its days: `2027-01`, or `2027-01-1` from the 10th to the 19th. The longest come first. */
export const periodLengths = [7, 9] as const
export type PeriodLength = (typeof periodLengths)[number]

/** The day so many days after this one. */
export const dayAfter = (day: string, days = 1): string => dayOf(Date.parse(day) + days * dayMillis)

/** The last day of the period of this length that begins on this day; undefined when none begins. */
const periodFrom = (day: string, length: number): string | undefined => {
  const period = day.slice(0, length)
  if (dayAfter(day, -1).startsWith(period)) return undefined
  let last = day
  for (let next = dayAfter(day); next.startsWith(period); next = dayAfter(next)) last = next
  return last
}

export interface Cover {
  readonly periods: ReadonlyArray<string>
  /** Days that no period covers. */
  readonly days: ReadonlyArray<string>
  /** The first of the days after those. */
  readonly rest: string
}

/** Covers the days from the first to the last with periods. `through` has the last day that is in periods of a length. */
export const coverDays = (first: string, last: string, through: Readonly<Record<PeriodLength, string>>): Cover => {
  const periods: Array<string> = []
  const days: Array<string> = []
  const ends = Object.values(through).toSorted()
  const end = [ends.at(-1) ?? "", last].toSorted()[0] ?? ""
  let day = first
  while (day <= end) {
    const found = periodLengths
      .map((length) => ({ length, until: periodFrom(day, length) }))
      .find(({ length, until }) => until !== undefined && until <= last && until <= through[length])
    if (found === undefined) days.push(day)
    else periods.push(day.slice(0, found.length))
    day = dayAfter(found?.until ?? day)
  }
  return { periods, days, rest: day }
}
