// Moments and days as operators write them.
// It must not know what they are for.

const dayGrammar = /^\d{4}-\d{2}-\d{2}$/

/** RFC 3339: a date, a time, and how far it is from UTC. */
const momentGrammar = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** Whether a text is a day of the calendar, such as `2027-01-31`; `Date` takes the 31st of any month. */
export const isDay = (text: string): boolean => {
  const millis = dayGrammar.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text)
}

/** Milliseconds of an RFC 3339 moment; undefined when the text is none. */
export const momentMillis = (text: string): number | undefined => {
  const millis = momentGrammar.test(text) && isDay(text.slice(0, "2027-01-31".length)) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}
