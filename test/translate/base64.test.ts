// Base64 of bytes and of vectors, held against Node's own.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { floatsToBase64, toBase64 } from "../../src/translate/shared/base64.ts"

it("bytes of any length are base64 with padding", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"))
    })
  )
})

it("T1506 a vector is its 32-bit floats, little-endian", () => {
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true })), (values) => {
      const back = Buffer.from(floatsToBase64(values), "base64")
      expect(back.length).toBe(values.length * 4)
      expect(values.map((_, at) => back.readFloatLE(at * 4))).toEqual(values)
    })
  )
  expect(floatsToBase64([1, -2])).toBe("AACAPwAAAMA=")
})
