// The hints that a refusal gets where no change of the request helps.
import { expect, it } from "vitest"
import { refusalHint } from "../../../src/translate/healing/refusals.ts"

const text = "'claude-opus-5-5' does not support tool types: computer_20251124."

it("a hint: names the tool type that a model takes instead (H22)", () => {
  expect(refusalHint(400, text)).toBe("This model takes the tool type computer_toolset_20260801.")
})

it.each([
  ["another status", 404, text],
  ["no status", undefined, text],
  ["another tool", 400, "'claude-opus-5-5' does not support tool types: bash_20250124."]
])("a hint: is left out for %s (H22)", (_, status, refusal) => {
  expect(refusalHint(status, refusal)).toBe(undefined)
})
