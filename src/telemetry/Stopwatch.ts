// Milliseconds of a monotonic clock, for measuring durations.
// Must not be used for the time of day.
import * as Context from "effect/Context"

/** A reference, so that tests can fix the durations. */
export const Stopwatch: Context.Reference<() => number> = Context.Reference<() => number>(
  "gateway/telemetry/Stopwatch",
  {
    defaultValue: () => () => performance.now()
  }
)
