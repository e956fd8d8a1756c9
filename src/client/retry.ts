// Decides whether a failed call is retried, and after which delay. The rules are those of the stock SDKs.
// It must not read clocks or random numbers.
import type { ClientFailure } from "./failures.ts"

/** Statuses of temporary errors; 409 means that the resource is locked. */
const mayPass = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/** Only calls without an answer are retried: an answer that began may already be billed. */
export const isWorthRetrying = (failure: ClientFailure): boolean => {
  switch (failure._tag) {
    case "Aborted":
    case "AnswerBroken":
      return false
    case "ConnectionFailed":
    case "TimedOut":
      return true
    default:
      return failure.shouldRetry ?? (failure.status !== undefined && mayPass(failure.status))
  }
}

const baseMillis = 500
const capMillis = 8 * 1000
const longestAskedMillis = 60 * 1000

/**
 * Milliseconds before attempt `retry + 1`; `chance` is a random number from 0 to 1. A requested delay over one minute
 * is ignored.
 */
export const delayMillis = (retry: number, askedMillis: number | undefined, chance: number): number =>
  askedMillis !== undefined && askedMillis < longestAskedMillis
    ? askedMillis
    : Math.min(baseMillis * 2 ** retry, capMillis) * (1 - chance / 4)
