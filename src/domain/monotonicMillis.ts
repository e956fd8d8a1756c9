// Milliseconds by which durations are measured: setting the wall clock does not change them.
// Must not be stored or sent: each process has an origin of its own.
import type * as Clock from "effect/Clock"

const nanosPerMilli = BigInt(1_000 * 1_000)

export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
