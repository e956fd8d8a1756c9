// Milliseconds by which durations are measured: setting the wall clock does not change them.
// Must not be stored or sent: each process has an origin of its own.
const nanosPerMilli = BigInt(1_000 * 1_000)

export const monotonicMillis = (clock: { readonly monotonicTimeNanosUnsafe: () => bigint }): number =>
  Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
