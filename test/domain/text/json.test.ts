// Tests the bounded JSON parser: what parseBody accepts, and the name of every refusal.
// Must not depend on HTTP.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import {
  closingQuote,
  isJsonObject,
  isLongInteger,
  jsonObjectOf,
  parseBody,
  parseExactJsonText,
  pathText
} from "../../../src/domain/text/json.ts"

const limits = { jsonDepth: 4, jsonValues: 10, jsonKeys: 3 }
const bytes = (text: string) => new TextEncoder().encode(text)
const wide = { jsonDepth: 128, jsonValues: 500_000, jsonKeys: 10_000 }

const outcome = (text: string | Uint8Array, bounds = limits) => {
  const result = parseBody(typeof text === "string" ? bytes(text) : text, bounds)
  return Result.isSuccess(result)
    ? result.success
    : { code: result.failure.code, param: result.failure.param, message: result.failure.message }
}
const code = (text: string | Uint8Array, bounds = limits) => {
  const result = parseBody(typeof text === "string" ? bytes(text) : text, bounds)
  return Result.isSuccess(result) ? "taken" : result.failure.code
}

describe("bounds of a body", () => {
  it.each([
    ["accepts the largest depth (B17)", '{"a":[[[1]]]}', "taken"],
    ["refuses a greater depth (B17)", '{"a":[[[[1]]]]}', "json_too_deep"],
    ["does not count brackets in strings (B17)", '{"a":"[[[[[[{{{{"}', "taken"],
    ["reads on in a string after escaped quotes (B17)", '{"a":"\\"[[[[[[\\\\"}', "taken"],
    ["ends a string after an escaped backslash (B17)", '{"a":"\\\\","b":[[[[1]]]]}', "json_too_deep"],
    ["accepts the largest number of values (B18)", '{"a":[1,2,3,4,5,6,7,8]}', "taken"],
    ["refuses more values (B18)", '{"a":[1,2,3,4,5,6,7,8,9]}', "json_too_large"],
    ["counts an empty container as one value (B18)", '{"a":[[ ],[],[],[],[],[],[],{}]}', "taken"],
    ["accepts the largest number of keys (B18)", '{"a":1,"b":2,"c":3}', "taken"],
    ["refuses more keys at any depth (B18)", '{"x":{"a":1,"b":2,"c":3,"d":4}}', "json_too_large"],
    ["counts the keys of each object separately (B18)", '{"x":{"a":1,"b":2},"y":{"a":1,"b":2}}', "taken"]
  ])("parseBody: %s", (_name, text, expected) => {
    expect(code(text)).toBe(expected)
  })

  it("parseBody: refuses five megabytes of brackets at the bound, before any parse (TH14, M6)", () => {
    expect(outcome("[".repeat(5_000_000), wide)).toEqual({
      code: "json_too_deep",
      param: null,
      message: "The request body is nested deeper than 128 levels."
    })
  })

  it("parseBody: searches a string of escaped quotes once, in one pass (TH14)", () => {
    const text = bytes(`"${'\\"'.repeat(10_000)}\\\\" "`)
    let searches = 0
    Object.defineProperty(text, "indexOf", {
      value: (byte: number, from: number) => {
        searches++
        return Uint8Array.prototype.indexOf.call(text, byte, from)
      }
    })
    expect([closingQuote(text, 0), searches]).toEqual([20_003, 1])
  })

  it("parseBody: finds the end of a string at any place, or the end of the text", () => {
    const ends = ['""', '"a"b"', '"\\""', '"\\\\""', '"a\\"', '"\\', '"a', '"a\\"b"c"']
    expect(ends.map((text) => closingQuote(bytes(text), 0))).toEqual([1, 2, 3, 3, 4, 2, 2, 5])
  })

  it("parseBody: stays linear for a string of backslashes and one of quotes", () => {
    expect(code(`{"a":"${"\\\\".repeat(1_000_000)}"}`, wide)).toBe("taken")
    expect(code(`{"a":"${'\\"'.repeat(1_000_000)}"}`, wide)).toBe("taken")
    expect(code(`{"a":"${"\\".repeat(1_000_001)}`, wide)).toBe("invalid_json")
  })
})

describe("text of a body", () => {
  it.each([
    ["refuses an empty body (B11)", "", "empty_body"],
    ["refuses a blank body (B11)", " \r\n", "empty_body"],
    ["refuses a body that is not an object (B12)", "[1]", "body_not_object"],
    ["refuses truncated JSON (B13)", '{"a":', "invalid_json"],
    ["refuses unbalanced JSON (B13)", "}}", "invalid_json"],
    ["accepts a BOM (B16)", '\uFEFF{"a":1}', "taken"],
    ["refuses a duplicate key (B19)", '{"a":1,"b":{"a":1},"a":2}', "duplicate_key"],
    ["refuses a duplicate key in an escaped spelling (B19)", '{"a":1,"\\u0061":2}', "duplicate_key"],
    ["accepts a duplicate key below the top level (B19)", '{"b":{"a":1,"a":2}}', "taken"]
  ])("parseBody: %s", (_name, text, expected) => {
    expect(code(text)).toBe(expected)
  })

  it("invalid JSON: the error names the place, never the content (B13)", () => {
    expect(outcome('{"secret" 1}')).toEqual({
      code: "invalid_json",
      param: null,
      message: "The request body is not valid JSON: it breaks at character 10."
    })
  })

  it.each([[[0x80]], [[0xc0, 0xaf]], [[0xed, 0xa0, 0x80]], [[0xf5, 0x80, 0x80, 0x80]], [[0xe2, 0x82]]])(
    "parseBody: refuses the bytes %j (B14)",
    (bad) => {
      expect(code(Uint8Array.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, ...bad, 0x22, 0x7d]))).toBe("invalid_utf8")
    }
  )

  it("parseBody: U+FFFD replaces a NUL or half a pair, in values and keys; whole pairs pass (B15, W25)", () => {
    expect(outcome('{"a":[{"b":"x\\ud83d"},9007199254740993]}')).toEqual({
      a: [{ b: "x\ufffd" }, JSON.rawJSON("9007199254740993")]
    })
    expect(outcome('{"a":{"\\udc00":1}}')).toEqual({ a: { "\ufffd": 1 } })
    expect(outcome('{"a":"\\u0000 \\u001b"}')).toEqual({ a: "\ufffd \u001b" })
    expect(outcome('{"a":"\\ud83d\\ude00 \\\\ud800"}')).toEqual({ a: "\u{1f600} \\ud800" })
  })

  it("parseBody: __proto__ is an own key and changes no prototype (TH13, P14)", () => {
    const result = parseBody(bytes('{"__proto__":{"polluted":1}}'), limits)
    const value = Result.getOrElse(result, () => ({}))
    expect(Object.keys(value)).toEqual(["__proto__"])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect("polluted" in {}).toBe(false)
  })

  it("parseBody: accepts what JSON.stringify writes, and returns an equal object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" })), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(outcome(text, wide))).toBe(text)
      }),
      { numRuns: 500 }
    )
  })

  it("parseBody: integers beyond 2^53 keep their digits, and are not objects (L27)", () => {
    const text = '{"a":9007199254740993,"b":[-12345678901234567890],"c":"1234567890123456789","d":1234567890123456}'
    const value = outcome(text, wide)
    expect(JSON.stringify(value)).toBe(text)
    const members = typeof value === "object" ? Object.values(value) : []
    expect(members.map((member) => [typeof member, isJsonObject(member), isLongInteger(member)])).toEqual([
      ["object", false, true],
      ["object", false, false],
      ["string", false, false],
      ["number", false, false]
    ])
    expect(JSON.stringify(outcome('{"a":0.12345678901234567890,"b":12345678901234567890e2}'))).toBe(
      '{"a":0.12345678901234568,"b":1.2345678901234568e+21}'
    )
  })

  it("parseBody: never throws on any bytes (P1)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (value) => {
        expect(typeof code(value)).toBe("string")
      }),
      { numRuns: 1000 }
    )
  })
})

it("field path: is printed as in errors, printable and cut", () => {
  expect(pathText(["messages", 0, "content", 12, "te\nxt"])).toBe("messages[0].content[12].te?xt")
  expect(pathText([])).toBe("")
})

it("parseJson: integers of any size keep their digits at any place; fractions stay numbers (L27)", () => {
  const exact = (text: string) => JSON.stringify(Result.getOrThrow(parseExactJsonText(text)))
  const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String)
  const fraction = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => JSON.stringify(value === 0 ? 0 : value))
  fc.assert(
    fc.property(fc.array(fc.oneof(whole, fraction), { minLength: 1 }), (numbers) => {
      expect(exact(`[${numbers.join(",")}]`)).toBe(`[${numbers.join(",")}]`)
      expect(exact(numbers[0] ?? "")).toBe(numbers[0])
      expect(exact(`{"a" : ${numbers[0]} }`)).toBe(`{"a":${numbers[0]}}`)
    }),
    { numRuns: 300 }
  )
})

it("jsonObjectOf copies a checked value, leaves out what has no value and keeps odd names as plain data", () => {
  const given: object = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"c":"d"}}')
  const copy = jsonObjectOf(Object.assign(given, { gone: undefined }))
  expect([JSON.stringify(copy), Object.getPrototypeOf(copy) === Object.prototype]).toEqual([
    '{"a":[1,{"b":null}],"__proto__":{"c":"d"}}',
    true
  ])
})
