// Tests base64 of bytes, texts and vectors against Node's own encoder.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { base64OfText, floatsToBase64, textOfBase64, toBase64 } from "../../../../src/translate/shared/media/base64.ts"

it("base64: bytes of any length get padding", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"))
    })
  )
})

it("base64: a vector becomes its 32-bit floats, little-endian (T1506)", () => {
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true })), (values) => {
      const back = Buffer.from(floatsToBase64(values), "base64")
      expect(back.length).toBe(values.length * 4)
      expect(values.map((_, at) => back.readFloatLE(at * 4))).toEqual(values)
    })
  )
  expect(floatsToBase64([1, -2])).toBe("AACAPwAAAMA=")
})

it("base64: a text of any length round-trips as UTF-8; invalid UTF-8 gives undefined", () => {
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
