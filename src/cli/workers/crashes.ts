// What follows when a worker ends by itself: a pause that grows with its crashes, or the end of the program.
// It must not start processes or read a clock.

/** Crashes within this time count together. */
const windowMillis = 60_000
/** One more ends the program. */
const mostCrashes = 5
const firstPauseMillis = 100

/** The moments of a worker's crashes that still count, the one of now included. */
export const recentCrashes = (before: ReadonlyArray<number>, nowMillis: number): ReadonlyArray<number> => [
  ...before.filter((moment) => moment > nowMillis - windowMillis),
  nowMillis
]

/** The pause before the worker is replaced, in milliseconds; undefined when it crashes in a loop. */
export const pauseAfter = (recent: ReadonlyArray<number>): number | undefined =>
  recent.length > mostCrashes ? undefined : firstPauseMillis * 2 ** (recent.length - 1)
