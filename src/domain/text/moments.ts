// Parses RFC 3339 moments and calendar days as operators write them.
// It must not know what the moments are for.

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
