// The warning about open files: where a bound that was set cannot be kept, or the one of the defaults becomes small.
// Must not start a process.
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { fitLimits } from "../../src/cli/settings/FittedLimits.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"

const warnings = async (openFiles: number, limits: Partial<typeof defaultLimits> = {}) => {
  const fitted = await Effect.runPromise(fitLimits({ ...defaultLimits, ...limits }, openFiles))
  return fitted.warnings.filter((text) => text.includes("files"))
}

it("open files: a warning comes where a bound that was set is lowered, or fewer than 1,000 connections remain", async () => {
  const text = (most: number, connections: number) =>
    `The process may open ${most} files: it serves ${connections} connections, keeps 100 idle ones to providers, and answers further clients with 503. A higher "ulimit -n" lifts this.`
  expect([
    await warnings(1_000_000),
    await warnings(20_000),
    await warnings(20_000, { connections: 9_000 }),
    await warnings(20_000, { connections: 15_000 }),
    await warnings(2_048)
  ]).toEqual([[], [], [], [text(20_000, 9_861)], [text(2_048, 885)]])
})
