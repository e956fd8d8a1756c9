// Whether a failed call is made again, and after how long; the rules are those of the stock SDKs.
// It must not know clocks or chance.
import type { ClientFailure } from "./failures.ts"

/** Statuses that may pass; 409 is a lock somebody holds. */
const mayPass = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/** Only before an answer has begun: what was answered in part has been paid for. */
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

/** Milliseconds before try number `retry + 1`; `chance` is from 0 to 1. A wait of more than a minute is not kept to. */
export const delayMillis = (retry: number, askedMillis: number | undefined, chance: number): number =>
  askedMillis !== undefined && askedMillis < longestAskedMillis
    ? askedMillis
    : Math.min(baseMillis * 2 ** retry, capMillis) * (1 - chance / 4)
