// Tests the lists of numbers that pass as text: the same text as parsed and printed ones.
// Must not depend on a dialect.
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Json, parseExactJsonText } from "../../../../src/domain/text/json.ts"
import { NumberList, parsePassingNumbers } from "../../../../src/translate/shared/reply/embeddingList.ts"
import { runs } from "../../../support/release.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const parsed = (text: string): Json => Result.getOrThrow(parseExactJsonText(text))
/** The JSON with the lists in it parsed. */
const passed = (text: string): string | undefined => {
  const json = parsePassingNumbers(encode(text))
  return json === undefined
    ? undefined
    : JSON.stringify(json, (_key, value: unknown) => (value instanceof NumberList ? value.numbers() : value))
}
const listOf = (text: string): string | undefined => {
  const json: unknown = parsePassingNumbers(encode(text))
  return json instanceof NumberList ? json.text : undefined
}

const filler = Array.from({ length: 100 }, (_, at) => String(at / 8)).join(",")
const withFiller = (...numbers: ReadonlyArray<string>): string => `[${[...numbers, filler].join(",")}]`

describe("lists of numbers", () => {
  const float = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.float({ min: -1, max: 1, noNaN: true }))
  const number = fc
    .oneof(
      float.map(String),
      fc.double({ min: -1, max: 1, noNaN: true }).map(String),
      float.map((one) => one.toExponential()),
      fc
        .tuple(fc.float({ min: -2, max: 2, noNaN: true }), fc.nat({ max: 20 }))
        .map(([one, digits]) => one.toFixed(digits)),
      fc.tuple(float, fc.integer({ min: 1, max: 17 })).map(([one, digits]) => one.toPrecision(digits)),
      fc.integer().map(String),
      fc.constantFrom("0", "-0", "0.0", "-0.0", "1e-7", "0.0000001", "0.000001", "1E5", "100", "0.10", "1e0")
    )
    .filter((text) => /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text))
  const blank = fc.constantFrom("", "", " ", "\n      ", "\r\n\t")

  it("lists of numbers: have the text of those that are parsed and printed (L13)", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(blank, number, blank), { minLength: 1, maxLength: 60 }), (words) => {
        const text = withFiller(...words.map((word) => word.join("")))
        const found = listOf(text)
        if (found === undefined) expect(words.some(([, word]) => /\d{16}/.test(word))).toBe(true)
        else expect(found).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: runs(1_000) }
    )
  })
  it("lists of numbers: keep their places, and all else is parsed (L13)", () => {
    const text = `{"a":[{"values": ${withFiller("0.25")} ,"b":"[1,2]"},{"values":${withFiller("1e-9")}}],"c":[1,2.50],"d":"\\"[","e":12}`
    expect(passed(text)).toBe(JSON.stringify(parsed(text)))
    expect(passed(`{"id":9007199254740993,"values":${withFiller()}}`)).toBe(
      JSON.stringify(parsed(`{"id":9007199254740993,"values":${withFiller()}}`))
    )
  })
  it.each([
    ["an integer beyond 2^53", withFiller("9007199254740993")],
    ["a number beyond 32-bit floats", withFiller("1e39")],
    ["an infinity", withFiller("1e400")],
    ["null", withFiller("1", "null")],
    ["a text", withFiller("1", '"2"')],
    ["a list", withFiller("1", "[2]")],
    ["a missing number", withFiller("1", "")],
    ["a leading zero", withFiller("01")],
    ["a point without digits", withFiller("1.")],
    ["no digits before a point", withFiller("1", "-.5")],
    ["a plus", withFiller("1", "+1")],
    ["a hexadecimal number", withFiller("0x10")],
    ["an open end", `${withFiller("1").slice(0, -1)}`],
    ["bytes after it", `${withFiller("1")}x`],
    ["the text that marks a place", `{"a":"#list of numbers 0","b":${withFiller()}}`],
    ["an open text", `{"a":"${withFiller()}`]
  ])("lists of numbers: a reply with %s is parsed as a whole (L13)", (_name, text) => {
    expect(parsePassingNumbers(encode(text))).toBeUndefined()
  })
  it("lists of numbers: bytes that are not UTF-8 are left to the reader of the whole (L13)", () => {
    expect(parsePassingNumbers(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d))).toBeUndefined()
  })
})
