// Milliseconds of a clock that never goes back, for measuring how long something takes.
// It must not be asked what time it is.
import * as Context from "effect/Context"

/** Replaceable where durations must be known beforehand. */
export const Stopwatch: Context.Reference<() => number> = Context.Reference<() => number>(
  "gateway/telemetry/Stopwatch",
  {
    defaultValue: () => () => performance.now()
  }
)
