// Repeated members of a native body: found in any object, under one name or both, in one pass over the bytes.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { camelName, opaqueMembers, repeatedMember, snakeName } from "../../../src/translate/native/memberNames.ts"

const opaque = opaqueMembers(["args"])
const found = (text: string) => repeatedMember(new TextEncoder().encode(text), opaque)

describe("repeated members", () => {
  it.each([
    ['{"a_b":1,"aB":2}', "aB", "a_b", "aB"],
    ['{"aB":1,"a_b":2}', "aB", "aB", "a_b"],
    ['{"a":{"b":[{},{"c":1 , "c" : 2}]}}', "a.b[1].c", "c", "c"],
    ['{"a":["x",{"b":"},{"},{"cD":{},"c_d":[]}]}', "a[2].cD", "cD", "c_d"],
    ['{"max\\u005foutput":1,"maxOutput":2}', "maxOutput", "max_output", "maxOutput"],
    ['{"ä":1,"\\u00e4":2}', "?", "ä", "ä"],
    ['[{"a":1,"a":2}]', "[0].a", "a", "a"]
  ])("repeated member: of %s is found with its path (N309)", (text, path, first, second) => {
    expect(found(text)).toStrictEqual({ path, names: [first, second] })
  })

  it.each([
    '{"a":{"b":1},"c":{"b":1},"b":[{"b":1},{"b":2}]}',
    '{"args":{"user_id":1,"userId":2,"a":{"a":1,"a":2}},"b":1}',
    '{"_responseJsonSchema":{},"responseJsonSchema":{}}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":1,"A":2}',
    "{}",
    '"a":',
    '}}"a":1,"b":',
    '{"a"',
    ""
  ])("repeated member: %s has none (N309)", (text) => {
    expect(found(text)).toBe(undefined)
  })

  it("repeated member: keys that look alike to a quick comparison do not hide one another (N309)", () => {
    // 31 times the first letter and the second one are the same sum in both.
    expect(
      ["{", '{"Aa":0,"BB":0,']
        .flatMap((start) => [`${start}"aa":1,"bB":2,"aa":3}`, `${start}"bb":1,"aC":2,"bb":3}`])
        .map((text) => found(text)?.names)
    ).toStrictEqual([
      ["aa", "aa"],
      ["bb", "bb"],
      ["aa", "aa"],
      ["bb", "bb"]
    ])
  })

  const name = fc.constantFrom("a", "b", "aB", "a_b", "maxTokens", "max_tokens", "_x", "x", "c1", "c_1")
  it("repeated member: finds what a comparison of all pairs finds (N309)", () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 40 }), fc.array(fc.nat(), { maxLength: 40 }), (names, others) => {
        const keys = [...names, ...others.map((other) => `k${other}`)]
        const at = keys.findIndex((one, index) =>
          keys.slice(0, index).some((before) => camelName(before) === camelName(one))
        )
        const text = `{"inner":{${keys.map((key) => `${JSON.stringify(key)}:[{"a":1}]`).join(",")}}}`
        expect(found(text)?.names[1]).toBe(keys[at])
      })
    )
  })

  it("names of members: both spellings lead to each other (N309)", () => {
    expect(["maxOutputTokens", "topP", "a"].map((one) => [snakeName(one), camelName(snakeName(one))])).toStrictEqual([
      ["max_output_tokens", "maxOutputTokens"],
      ["top_p", "topP"],
      ["a", "a"]
    ])
  })
})
