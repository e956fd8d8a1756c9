// Tests the members that the pass over a body finds at its top: the same as a walk of the object finds.
// Must not depend on which members are read.
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { defaultLimits } from "../../../src/domain/Limits.ts"
import { editTopLevel, membersOf, withKeys } from "../../../src/domain/text/topMembers.ts"
import { type MemberSpan, parseBody } from "../../../src/domain/text/json.ts"

const encode = (text: string) => new TextEncoder().encode(text)

const spansOf = (bytes: Uint8Array): ReadonlyArray<MemberSpan> => {
  const spans: Array<MemberSpan> = []
  Result.getOrThrow(parseBody(bytes, defaultLimits, spans))
  return spans
}

it("spans of a body: are those that a walk of the object finds (N301)", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat({ max: 3 }), (body, indent) => {
      const bytes = encode(` ${JSON.stringify(body, null, indent)}\n`)
      expect(withKeys(bytes, spansOf(bytes))).toEqual(membersOf(bytes, 1))
    }),
    { numRuns: 500 }
  )
})

it("spans of a body: stand at keys, values and their ends", () => {
  const text = '{"a" : {"b":[1]} ,"c":"x,\\"}" ,\n"d":-1.5e3}'
  expect(spansOf(encode(text)).map(({ from, to, value }) => [text.slice(from, value), text.slice(value, to)])).toEqual([
    ['"a" : ', '{"b":[1]}'],
    ['"c":', '"x,\\"}"'],
    ['"d":', "-1.5e3"]
  ])
})

it("spans of a body: edits by known members are those of a walk (T1901)", () => {
  const bytes = encode('{"model":"m", "stream" : true,"messages":[{"role":"user"}],"\\u0061":1}')
  const edits = { model: undefined, stream: "false", a: "2", added: "[]" }
  expect(editTopLevel(bytes, edits, withKeys(bytes, spansOf(bytes)))).toEqual(editTopLevel(bytes, edits))
})
