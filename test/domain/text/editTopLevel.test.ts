// Tests editTopLevel: changes of the top level of a JSON text, with every other byte kept.
// Must not depend on the configs that ask for the edits.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { editTopLevel, type TopLevelEdits } from "../../../src/domain/text/topMembers.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const edited = (text: string, edits: TopLevelEdits) => new TextDecoder().decode(editTopLevel(encode(text), edits))

describe("editTopLevel", () => {
  it.each<readonly [string, TopLevelEdits, string]>([
    ['{"a":1,"b":2,"c":3}', { a: undefined }, '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined }, '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { c: undefined }, '{"a":1,"b":2}'],
    ['{"a":1,"b":2,"c":3}', { b: undefined, c: undefined }, '{"a":1}'],
    ['{"a":1,"b":2}', { a: undefined, b: undefined }, "{}"],
    ['{"a":1}', { a: '"x"' }, '{"a":"x"}'],
    ['{"a":1}', { b: "2" }, '{"a":1,"b":2}'],
    ['{"a":1}', { a: undefined, b: "2" }, '{"b":2}'],
    ["{}", { b: "2", c: "3" }, '{"b":2,"c":3}'],
    [" { } ", {}, "{ } "],
    ['\ufeff{"a":1}', {}, '{"a":1}'],
    ['{\n  "a" : 1 ,\n  "b" : [1 , 2] ,\n  "c" : true\n}\n', { b: undefined }, '{\n  "a" : 1 ,\n  "c" : true\n}\n'],
    ['{\n  "a" : 1 ,\n  "b" : 2\n}', { b: undefined, z: "0" }, '{\n  "a" : 1,"z":0\n}'],
    ['{"\\u0061":1,"b":{"a":2}}', { a: undefined }, '{"b":{"a":2}}'],
    ['{"b":"}\\\\","c":"\\",\\"a\\":1","a":0}', { a: "9" }, '{"b":"}\\\\","c":"\\",\\"a\\":1","a":9}']
  ])("editTopLevel: edits %s with %j", (text, edits, expected) => {
    expect(edited(text, edits)).toBe(expected)
  })

  it("editTopLevel: keeps numbers beyond 2^53, escapes and order unchanged", () => {
    const kept = '"n":12345678901234567890,"e":1.50e+3,"s":"\\u00e9\\/","__proto__":{"x":1}'
    expect(edited(`{"model":"m",${kept}}`, { model: undefined, v: "1" })).toBe(`{${kept},"v":1}`)
  })

  it("editTopLevel: equals the edit of the parsed value, and changes nothing else", () => {
    const key = fc.constantFrom("a", "b", "c", "d", '"', "é")
    const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
    const edits = fc.dictionary(key, fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }), {
      noNullPrototype: true
    })
    fc.assert(
      fc.property(object, edits, fc.constantFrom(undefined, 1, "\t"), (value, changes, indent) => {
        const texts = Object.fromEntries(
          Object.entries(changes).map(([name, change]) => [
            name,
            change === undefined ? undefined : JSON.stringify(change)
          ])
        )
        const kept = Object.entries(value).filter(
          ([name]) => !Object.hasOwn(changes, name) || changes[name] !== undefined
        )
        const set = Object.entries(changes).filter(([, change]) => change !== undefined)
        const result = edited(JSON.stringify(value, null, indent), texts)
        expect(JSON.parse(result)).toStrictEqual(JSON.parse(JSON.stringify(Object.fromEntries([...kept, ...set]))))
        expect(edited(result, {})).toBe(result)
      })
    )
  })
})
