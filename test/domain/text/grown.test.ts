// A text that grows is the text of its pieces, whatever is done to keep it small.
import { expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { grown } from "../../../src/domain/text/grown.ts"

it("grown texts are their pieces", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.nat(9_000).map((length) => "é".repeat(length))
    ),
    { maxLength: 40 }
  )
  fc.assert(
    fc.property(pieces, (some) => {
      expect(some.reduce(grown, "")).toBe(some.join(""))
    })
  )
})
