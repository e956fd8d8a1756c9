// UTC days: the day of a moment, and the length of a day in milliseconds.
// It must not know what is counted by day.
import { memoizeBounded } from "../memoizeBounded.ts"

export const dayMillis = 24 * 60 * 60 * 1000

const textOf = memoizeBounded((day) => new Date(Number(day) * dayMillis).toISOString().slice(0, 10))

/** The UTC day of a moment, as `2027-01-31`. Results are cached because requests repeat the same few days. */
export const dayOf = (millis: number): string => textOf(String(Math.floor(millis / dayMillis)))
