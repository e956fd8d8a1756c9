// Pieces of the schemas of what is configured, in the file and in gateway configs.
// It must not know which keys they stand under.
import * as Schema from "effect/Schema"

/** A longer timer would fire at once: Node counts milliseconds in 31 bits. */
export const mostMillis = 2 ** 31 - 1

export const whole = (least: number, most: number) =>
  Schema.Number.check(
    Schema.makeFilter(
      (value: number) =>
        Number.isInteger(value) && value >= least && value <= most
          ? undefined
          : `expected a whole number from ${least} to ${most}`,
      { toJsonSchema: () => ({ type: "integer", minimum: least, maximum: most }) }
    )
  )

export const text = Schema.NonEmptyString
export const texts = Schema.Array(text)

/** Milliseconds of a timer. */
export const millis = whole(1, mostMillis)
