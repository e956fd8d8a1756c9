// The header retry-after as milliseconds from now.
// It must not know who retries, or any clock: now is an argument.

/** A year; a longer wait is nonsense, not advice. */
const mostSeconds = 365 * 24 * 60 * 60

/** Seconds or an HTTP date (RFC 9110, 10.2.3); `retry-after-ms` is finer where it is sent. Garbage and the past are no advice. */
export const retryAfterMillis = (headers: Readonly<Record<string, string>>, nowMillis: number): number | undefined => {
  const fine = decimal(headers["retry-after-ms"])
  if (fine !== undefined) return bounded(fine)
  const text = headers["retry-after"]
  const seconds = decimal(text)
  if (seconds !== undefined) return bounded(seconds * 1000)
  if (text === undefined || !/^[A-Z][a-z]{2}, /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) || date <= nowMillis ? undefined : bounded(date - nowMillis)
}

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined

const bounded = (millis: number): number | undefined => (millis > mostSeconds * 1000 ? undefined : Math.ceil(millis))
