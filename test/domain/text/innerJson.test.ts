// Tests the count of the values of JSON text: that of a body's scan, and a bound of the parsed values.
// Must not depend on a dialect.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { countValues, valuesIn } from "../../../src/domain/text/innerJson.ts"
import { scan } from "../../../src/domain/text/json.ts"

const limits = { jsonDepth: 16, jsonValues: 1_000, jsonKeys: 100 }

describe("values of a text", () => {
  it("values: a text counts as a body of the same bytes does (TH40)", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const scanned = scan(Buffer.from(text), limits)
        expect(countValues(text, limits)).toBe(scanned._tag === "Scanned" ? scanned.values : undefined)
      })
    )
  })

  it("values: parsed values are those of nested arrays and objects (TH40)", () => {
    expect([valuesIn(null), valuesIn({}), valuesIn({ a: [1, {}], b: "x" })]).toEqual([1, 1, 5])
  })

  it.each([
    ["too deep", "[".repeat(17)],
    ["too many values", `[${"1,".repeat(1_000)}1]`],
    ["too many keys", `{${Array.from({ length: 101 }, (_, at) => `"${at}":1`).join(",")}}`]
  ])("values: none are counted of a text that is %s (TH40)", (_, text) => {
    expect(countValues(text, limits)).toBeUndefined()
  })
})
