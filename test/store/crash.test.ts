// Tests crashes of the store in small (F31); `npm run crash` kills 300 times.
// Must not know how a crash is made.
import { expect, it } from "vitest"
import { crash } from "../support/crashes.ts"
import { isRelease } from "../support/release.ts"

it(
  "store: acknowledged changes outlive kill -9 of writers and of a rotation, and the store opens intact (F31)",
  { timeout: 300_000 },
  async () => {
    let state = 7
    const chance = (): number => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    const least = isRelease ? 20 : 10
    const { acknowledged, faults, kills } = await crash(least, chance)
    expect(faults).toEqual([])
    expect(kills).toBeGreaterThanOrEqual(least)
    expect(acknowledged).toBeGreaterThanOrEqual(kills / 2)
  }
)
