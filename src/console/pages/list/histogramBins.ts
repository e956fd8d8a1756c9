// Requests over time in bins of equal length, by the class of their status.
// Must not know how bins are drawn.

export const classes = ["2xx", "4xx", "5xx"] as const
export type StatusClass = (typeof classes)[number]

export interface Bin {
  readonly from: number
  readonly to: number
  readonly counts: Readonly<Record<StatusClass, number>>
}

/** What a bin knows of a request. */
interface Ended {
  readonly at: number
  readonly status: number
}

/** Lengths of a bin in seconds that people read easily. */
const lengths = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

const classOf = (status: number): StatusClass => (status < 400 ? "2xx" : status < 500 ? "4xx" : "5xx")

/** At most about `most` bins from the oldest request to the newest; rows are the newest first. */
export const binsOf = (rows: ReadonlyArray<Ended>, most: number): ReadonlyArray<Bin> => {
  const newest = rows[0]
  const oldest = rows.at(-1)
  if (newest === undefined || oldest === undefined) return []
  // Requests of several processes are not quite in the order of their ends.
  const [low, high] = [Math.min(oldest.at, newest.at), Math.max(oldest.at, newest.at)]
  const seconds = (high - low) / 1000 / most
  const millis = 1000 * (lengths.find((length) => length >= seconds) ?? Math.ceil(seconds / 86_400) * 86_400)
  const first = Math.floor(low / millis)
  const length = Math.floor(high / millis) - first + 1
  const counts = Array.from({ length }, () => ({ "2xx": 0, "4xx": 0, "5xx": 0 }))
  for (const { at, status } of rows) {
    const bin = counts[Math.min(Math.max(Math.floor(at / millis) - first, 0), length - 1)]
    if (bin !== undefined) bin[classOf(status)]++
  }
  return counts.map((count, index) => ({
    from: (first + index) * millis,
    to: (first + index + 1) * millis,
    counts: count
  }))
}
