// Schema building blocks for configured values, and the keys that no configured record may use.
// It must not know which records use them.
import * as Schema from "effect/Schema"
import { isDay, longestTimerMillis } from "../time.ts"

export const wholeNumber = (least: number, most: number) =>
  Schema.Number.check(
    Schema.makeFilter(
      (value: number) =>
        Number.isInteger(value) && value >= least && value <= most
          ? undefined
          : `expected a whole number from ${least} to ${most}`,
      { toJsonSchema: () => ({ type: "integer", minimum: least, maximum: most }) }
    )
  )

export const nonEmptyText = Schema.NonEmptyString
export const nonEmptyTexts = Schema.Array(nonEmptyText)

/** Milliseconds of a timer. */
export const millis = wholeNumber(1, longestTimerMillis)

/** US dollars from 0 to `most`; fractions are allowed. */
export const dollars = (most: number) =>
  Schema.Number.check(
    Schema.makeFilter((value: number) =>
      value >= 0 && value <= most ? undefined : `expected US dollars from 0 to ${most}`
    )
  )

/** A day of the calendar, as 2027-01-31. */
export const calendarDay = Schema.String.check(
  Schema.makeFilter((value: string) => (isDay(value) ? undefined : "expected a day such as 2027-01-31"))
)

// Refuses `__proto__`, `constructor` and `prototype` as keys that clients or operators choose (B20, TH13).

const refused: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** True for a name that records refuse. */
export const isRefusedKey = (key: string): boolean => refused.has(key)

/** The refused keys of a record. */
export const refusedKeysOf = (record: object): ReadonlyArray<string> => Object.keys(record).filter(isRefusedKey)
