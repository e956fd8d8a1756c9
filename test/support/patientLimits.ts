// The limits of waits on this machine's own servers, set out of the way: a busy machine exceeds their defaults.
// Must not depend on a test. A test of one of these limits sets it itself.
import type { LimitValues } from "../../src/domain/Limits.ts"

/** Longer than vitest gives any test, so that the deadline of a test is the runner's. */
const never = 600_000

export const patientLimits = {
  connectMillis: never,
  linkMillis: never,
  redisConnectMillis: never,
  redisMillis: never,
  storeAnswerMillis: never,
  storeLockMillis: never
} satisfies Partial<LimitValues>
