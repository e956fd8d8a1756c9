// Parses the header retry-after to milliseconds from now.
// Must not know what retries. Must not read a clock: now is an argument.

/** A year; a longer delay is ignored. */
const mostSeconds = 365 * 24 * 60 * 60

/** Seconds or an HTTP date (RFC 9110, 10.2.3). `retry-after-ms` is preferred. A malformed or past value is ignored. */
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
