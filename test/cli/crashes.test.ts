// Tests what follows when a worker ends by itself.
// Must not start a process.
import { expect, it } from "vitest"
import { pauseAfter, recentCrashes } from "../../src/cli/workers/Crew.ts"

it("crashes: the pause doubles with each crash of the last minute, and the sixth has none", () => {
  let crashes: ReadonlyArray<number> = []
  const pauses = [0, 1, 2, 3, 4, 5].map((second) => {
    crashes = recentCrashes(crashes, second * 1_000)
    return pauseAfter(crashes)
  })
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, undefined])
})

it("crashes: those of a minute ago no longer count", () => {
  expect(recentCrashes([0, 1_000, 2_000], 61_000)).toEqual([2_000, 61_000])
})
