import { describe, expect, it } from "vitest"
import { textPieces } from "../../../../src/demo/google/shared/answers.ts"

describe("textPieces", () => {
  it("textPieces: cuts pieces that join to the text", () => {
    for (const text of ["", " a  b\n\nc ", "Straße 🎉🎉 ".repeat(9), "x".repeat(100)])
      expect(textPieces(text).join("")).toBe(text)
  })
})
