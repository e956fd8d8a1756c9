// Base64 of bytes and of vectors, held against Node's own.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { base64OfText, floatsToBase64, textOfBase64, toBase64 } from "../../src/translate/shared/media/base64.ts"

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

it("a text is its UTF-8 and comes back, however long; bytes that are no UTF-8 are no text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(base64OfText(text)).toBe(Buffer.from(text).toString("base64"))
      expect(textOfBase64(base64OfText(text))).toBe(text)
    })
  )
  const long = "\uFEFFé漢🐎".repeat(20_000)
  expect(textOfBase64(base64OfText(long)) === long).toBe(true)
  expect(textOfBase64(Buffer.from([0x61, 0xff]).toString("base64"))).toBe(undefined)
  expect(textOfBase64(Buffer.from([0x61, 0xc3]).toString("base64"))).toBe(undefined)
})
