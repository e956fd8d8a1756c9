// Holds the waits of tests to their deadline: each one fails with a text that names the awaited event.
// Must not know any test that waits.
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { eventually, until, within } from "./support/eventually.ts"

const never = new Promise<never>(() => undefined)

it("within: a promise that is not kept fails, and one that is kept passes its value", async () => {
  await expect(within("the moon", never, 10)).rejects.toThrow(new Error("Still waiting after 0.01 s for: the moon"))
  expect(await within("a value", Promise.resolve(7))).toBe(7)
})

it("until: a condition that stays false, or is never answered, fails with its own text", async () => {
  const isRaining = () => false
  await expect(until(isRaining, 10)).rejects.toThrow(new Error("Still waiting after 0.01 s for: () => false"))
  await expect(until(() => never, 10)).rejects.toThrow(new Error("Still waiting after 0.01 s for: () => never"))
  let looks = 0
  await until(() => ++looks === 3)
  expect(looks).toBe(3)
})

it("eventually: an effect that stays false, or is never answered, fails with its name", async () => {
  const late = "Still waiting after 0.01 s for: rain"
  await expect(Effect.runPromise(eventually("rain", Effect.succeed(false), 10))).rejects.toThrow(late)
  await expect(Effect.runPromise(eventually("rain", Effect.never, 10))).rejects.toThrow(late)
  let looks = 0
  await Effect.runPromise(
    eventually(
      "three looks",
      Effect.sync(() => ++looks === 3)
    )
  )
  expect(looks).toBe(3)
})
