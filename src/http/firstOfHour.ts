// Chooses the names that get a log line: each once an hour, and a bounded number of them, as clients choose the names.
// It must not know what is logged, or read a clock.

const hourMillis = 60 * 60 * 1000
const mostNames = 32

/** True for the first time of a name in an hour of the clock, for at most 32 names of that hour. */
export const firstOfHour = (): ((name: string, nowMillis: number) => boolean) => {
  const names = new Set<string>()
  let hour = -1
  return (name, nowMillis) => {
    const now = Math.floor(nowMillis / hourMillis)
    if (now !== hour) {
      hour = now
      names.clear()
    }
    if (names.has(name) || names.size >= mostNames) return false
    names.add(name)
    return true
  }
}
