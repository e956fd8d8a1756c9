// Days of UTC.
// It must not know what is counted by them.
import { remembered } from "../remembered.ts"

export const dayMillis = 24 * 60 * 60 * 1000

const textOf = remembered((day) => new Date(Number(day) * dayMillis).toISOString().slice(0, 10))

/** The day a moment is in, as `2027-01-31`; the same few come with every request. */
export const dayOf = (millis: number): string => textOf(String(Math.floor(millis / dayMillis)))
