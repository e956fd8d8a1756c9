// Tests appendPiece: a text that grows equals the text of its pieces.
// Must not depend on how the text is kept small.
import { expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { appendPiece } from "../../../src/wire/grownList.ts"

it("appendPiece: a grown text equals its joined pieces", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.nat(9_000).map((length) => "é".repeat(length))
    ),
    { maxLength: 40 }
  )
  fc.assert(
    fc.property(pieces, (some) => {
      expect(some.reduce(appendPiece, "")).toBe(some.join(""))
    })
  )
})
