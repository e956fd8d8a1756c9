// Moments and UTC days: how operators write them, the length of a day, and milliseconds that measure durations.
// It must not know what is counted by day or measured, and it must not read a clock.
import { memoizeBounded } from "./collections.ts"

/** The longest time that a timer of Node takes, 24 days; a longer timer fires immediately. */
export const longestTimerMillis = 2 ** 31 - 1

export const dayMillis = 24 * 60 * 60 * 1000

const textOf = memoizeBounded((day) => new Date(Number(day) * dayMillis).toISOString().slice(0, 10))

/** The UTC day of a moment, as `2027-01-31`. Results are cached because requests repeat the same few days. */
export const dayOf = (millis: number): string => textOf(String(Math.floor(millis / dayMillis)))

/** `000Z` to `999Z`. */
const ends = Array.from({ length: 1000 }, (_, at) => `${String(at).padStart(3, "0")}Z`)

/**
 * The text of a moment in RFC 3339, with milliseconds and in UTC. Formatting a date is slow, and most requests end in the
 * same second as the one before: the start of the text is reused.
 */
export const isoText: (millis: number) => string = (() => {
  let second = Number.NaN
  let start = ""
  return (millis) => {
    const now = Math.floor(millis / 1000)
    if (now !== second) {
      second = now
      start = new Date(now * 1000).toISOString().slice(0, -"000Z".length)
    }
    return `${start}${ends[millis - now * 1000]}`
  }
})()

// Parses RFC 3339 moments and calendar days as operators write them.

const dayGrammar = /^\d{4}-\d{2}-\d{2}$/

/** RFC 3339: a date, a time, and the offset from UTC. */
const momentGrammar = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** Whether a text is a calendar day such as `2027-01-31`; `Date` alone would accept the 31st of any month. */
export const isDay = (text: string): boolean => {
  const millis = dayGrammar.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text)
}

/** Milliseconds of an RFC 3339 moment; undefined for other text. */
export const momentMillis = (text: string): number | undefined => {
  const millis = momentGrammar.test(text) && isDay(text.slice(0, "2027-01-31".length)) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}

// Milliseconds by which durations are measured: setting the wall clock does not change them.

const nanosPerMilli = BigInt(1_000 * 1_000)

export const monotonicMillis = (clock: { readonly monotonicTimeNanosUnsafe: () => bigint }): number =>
  Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
