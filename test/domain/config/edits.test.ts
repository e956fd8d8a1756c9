// Tests the edits of a config on a request body: defaults, overrides and drops.
// Must not depend on the rest of a config.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { applyEdits, type Edits, mergeDeep, parseDropPath } from "../../../src/domain/config/edits.ts"
import type { JsonObject } from "../../../src/domain/text/json.ts"

const drops = (...paths: ReadonlyArray<string>): Edits["drops"] =>
  paths.map((path) => Result.getOrThrowWith(parseDropPath(path), (fault) => new Error(`${path} ${fault}`)))
const apply = (
  body: JsonObject,
  edits: { readonly defaults?: JsonObject; readonly overrides?: JsonObject; readonly drops?: ReadonlyArray<string> }
) =>
  applyEdits(body, {
    defaults: edits.defaults ?? {},
    overrides: edits.overrides ?? {},
    drops: drops(...(edits.drops ?? []))
  })

describe("edits of a body", () => {
  it("edits: defaults fill missing and null members at any depth, and change no other", () => {
    const body = { model: "m", temperature: 0, seed: null, response_format: { type: "text" }, stop: [] }
    const defaults = { temperature: 1, seed: 7, response_format: { type: "x", strict: true }, stop: ["a"], top_p: 0.5 }
    expect(apply(body, { defaults })).toEqual({
      model: "m",
      temperature: 0,
      seed: 7,
      response_format: { type: "text", strict: true },
      stop: [],
      top_p: 0.5
    })
  })
  it("edits: overrides replace members at any depth; lists and null replace the whole value", () => {
    const body = { model: "m", thinking: { type: "enabled", budget_tokens: 5 }, stop: ["a", "b"], user: { a: 1 } }
    const overrides = { model: "n", thinking: { budget_tokens: 0 }, stop: ["c"], user: null, labels: { team: "x" } }
    expect(apply(body, { overrides })).toEqual({
      model: "n",
      thinking: { type: "enabled", budget_tokens: 0 },
      stop: ["c"],
      user: null,
      labels: { team: "x" }
    })
  })
  it("edits: defaults come first, then overrides, then drops", () => {
    expect(apply({ a: 1 }, { defaults: { a: 2, b: 2, c: 2 }, overrides: { a: 3, b: 3 }, drops: ["b"] })).toEqual({
      a: 3,
      c: 2
    })
  })
  it("edits: drop members, items, and the same member of every item", () => {
    const body = {
      logprobs: true,
      tools: [
        { function: { name: "f", strict: true } },
        { function: { name: "g", strict: true } },
        { type: "code_execution" }
      ],
      messages: [{ content: [{ cache_control: { scope: "a", type: "b" } }] }, { content: "text" }, { content: "last" }]
    }
    expect(
      apply(body, {
        drops: [
          "logprobs",
          "tools[0].function.strict",
          "tools[*].function.name",
          "messages[2]",
          "messages[*].content[*].cache_control.scope",
          "gone",
          "logprobs.a",
          "tools[9]"
        ]
      })
    ).toEqual({
      tools: [{ function: {} }, { function: { strict: true } }, { type: "code_execution" }],
      messages: [{ content: [{ cache_control: { type: "b" } }] }, { content: "text" }]
    })
    expect(apply(body, { drops: ["tools[*]"] })["tools"]).toEqual([])
  })
  it("edits: drop the items at the indices of the request, in any order", () => {
    const body = { a: [0, 1, 2, 3] }
    expect([apply(body, { drops: ["a[0]", "a[1]"] }), apply(body, { drops: ["a[1]", "a[0]", "a[1]"] })]).toEqual([
      { a: [2, 3] },
      { a: [2, 3] }
    ])
  })
  it("edits: return the same value where no drop matches", () => {
    const body = { tools: [{ a: 1 }], metadata: { a: [1] } }
    const left = apply(body, { drops: ["tools[9]", "tools.a", "tools[*].b", "metadata.a[1]", "metadata[0]"] })
    expect([left["tools"] === body.tools, left["metadata"] === body.metadata]).toEqual([true, true])
  })
  it("edits: read a body once, whatever the number of drops (TH33)", () => {
    const readsFor = (paths: number): number => {
      let reads = 0
      const item = new Proxy(
        { text: "x" },
        {
          getOwnPropertyDescriptor: (target, name) => {
            reads++
            return Reflect.getOwnPropertyDescriptor(target, name)
          },
          ownKeys: (target) => {
            reads++
            return Reflect.ownKeys(target)
          }
        }
      )
      apply({ messages: [item] }, { drops: Array.from({ length: paths }, (_, index) => `messages[*].k${index}`) })
      return reads
    }
    expect([readsFor(1) > 0, readsFor(500)]).toEqual([true, readsFor(1)])
  })
  it("edits: members named __proto__ or constructor are ordinary members (P14)", () => {
    const evil: JsonObject = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
    const whole = apply(evil, { defaults: evil, overrides: evil })
    expect(JSON.stringify(whole)).toBe(JSON.stringify(evil))
    expect([Object.hasOwn(whole, "__proto__"), Reflect.get({}, "polluted")]).toEqual([true, undefined])
  })
  it("edits: leave the input unchanged, and applied twice equal applied once (P16)", () => {
    const json = fc.jsonValue({ maxDepth: 3 })
    const object = fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), json)
    const paths = fc.array(fc.constantFrom("a", "b.a", "c[0]", "a[*].b", "a.b.c"), { maxLength: 2 })
    fc.assert(
      fc.property(object, object, object, paths, (body, defaults, overrides, dropped) => {
        const given: JsonObject = JSON.parse(JSON.stringify(body))
        const before = JSON.stringify(given)
        const edits = {
          defaults: JSON.parse(JSON.stringify(defaults)),
          overrides: JSON.parse(JSON.stringify(overrides)),
          drops: dropped.filter((path) => !path.includes("[0]"))
        }
        const once = apply(given, edits)
        expect(JSON.stringify(given)).toBe(before)
        expect(apply(once, { ...edits, defaults: {} })).toEqual(once)
      }),
      { seed: 5 }
    )
  })
  it("edits: overrides of overrides equal merged overrides", () => {
    const inner = fc.dictionary(fc.constantFrom("c", "d"), fc.integer())
    const object = fc.record({ a: fc.integer(), b: inner }, { requiredKeys: [] })
    fc.assert(
      fc.property(object, object, object, (a, b, c) => {
        expect(mergeDeep(mergeDeep(a, b), c)).toEqual(mergeDeep(a, mergeDeep(b, c)))
      }),
      { seed: 5 }
    )
  })
  it.each(["", ".", "a.", ".a", "a..b", "[0]", "[*]", "a[", "a[]", "a[-1]", "a[x]", "a[0]b", "a]"])(
    "drop path: refuses %j",
    (path) => {
      expect(Result.isFailure(parseDropPath(path))).toBe(true)
    }
  )
})
