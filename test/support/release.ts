// How far a run goes: `npm test` covers what a change can break by itself, `npm run test:all` also what a release can.
// Must not depend on a test. Files named *.release.test.ts run in the second only.

/** True in `npm run test:all`. */
export const isRelease: boolean = process.env["TEST_ALL"] === "1"

const seed = Number(process.env["TEST_SEED"] ?? 0) || 0

/**
 * The rows of a long table that this run takes: before a release all of them, otherwise the first, the last and evenly
 * spread ones between, `count` together. TEST_SEED moves those between, so that runs with other seeds reach other rows.
 */
export const sample = <A>(rows: ReadonlyArray<A>, count: number): ReadonlyArray<A> => {
  if (isRelease || rows.length <= count) return rows
  const step = (rows.length - 2) / (count - 2)
  const moved = seed % Math.max(1, Math.floor(step))
  const between = Array.from({ length: count - 2 }, (_, index) => 1 + Math.floor(index * step) + moved)
  return [0, ...between, rows.length - 1].flatMap((index) => rows.slice(index, index + 1))
}

/** How often a property runs: before a release so many times, otherwise a quarter of them. */
export const runs = (count: number): number => (isRelease ? count : Math.ceil(count / 4))
