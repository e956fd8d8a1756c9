// Tests the conversion of schemas to the subset of Claude's structured output (M-421).
// Must not depend on requests.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../../../src/domain/text/json.ts"
import { nativeSchema } from "../../../src/translate/chat-to-claude/nativeSchema.ts"

const object = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required
})
const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  ...object(properties, required),
  additionalProperties: false
})
const string = { type: "string" }

describe("schemas for Claude's structured output (M-421)", () => {
  it("every object is closed, at any depth", () => {
    expect(
      nativeSchema({
        ...object({ a: object({ b: string }), c: { type: "array", items: object({ d: string }), minItems: 1 } }),
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: { e: object({ f: { anyOf: [object({ g: string }), { type: "null" }] } }) }
      })
    ).toStrictEqual({
      schema: {
        $defs: { e: closed({ f: { anyOf: [closed({ g: string }), { type: "null" }] } }) },
        ...closed({ a: closed({ b: string }), c: { type: "array", minItems: 1, items: closed({ d: string }) } })
      },
      loosened: false
    })
  })
  it("a schema without objects stays as it is", () => {
    for (const schema of [
      { type: "array", items: string },
      { enum: ["a", 1, null] },
      { const: "a" },
      { type: ["string", "null"], format: "date", title: "t", description: "d", default: "x" },
      { type: "object", additionalProperties: false }
    ])
      expect(nativeSchema(schema)).toStrictEqual({ schema, loosened: false })
  })
  it("bounds become part of the description", () => {
    expect(
      nativeSchema({
        type: "array",
        description: "Names.",
        items: { ...string, minLength: 2 },
        minItems: 3,
        maxItems: 9
      })
    ).toStrictEqual({
      schema: {
        type: "array",
        items: { ...string, description: "{minLength: 2}" },
        description: "Names.\n\n{minItems: 3, maxItems: 9}"
      },
      loosened: true
    })
    expect(nativeSchema({ ...string, format: "phone" })).toStrictEqual({
      schema: { ...string, description: '{format: "phone"}' },
      loosened: true
    })
  })
  it("one of several becomes any of several", () => {
    expect(nativeSchema({ oneOf: [string, { type: "null" }] })?.schema).toStrictEqual({
      anyOf: [string, { type: "null" }]
    })
  })
  it("references without a cycle stay", () => {
    const schema = {
      ...closed({ a: { $ref: "#/$defs/b" }, c: { $ref: "#/$defs/b" } }),
      $defs: { b: closed({ d: { $ref: "#/$defs/e" } }), e: string }
    }
    expect(nativeSchema(schema)).toStrictEqual({ schema, loosened: false })
  })
  it.each<readonly [string, JsonObject]>([
    ["a reference to the whole", object({ a: { $ref: "#" } })],
    [
      "a definition within itself",
      { ...object({ a: { $ref: "#/$defs/b" } }), $defs: { b: object({ c: { $ref: "#/$defs/b" } }) } }
    ],
    [
      "a cycle of two definitions",
      {
        ...object({ a: { $ref: "#/$defs/b" } }),
        $defs: { b: object({ c: { $ref: "#/$defs/d" } }), d: { type: "array", items: { $ref: "#/$defs/b" } } }
      }
    ],
    ["a reference to another document", object({ a: { $ref: "https://example.com/a" } })],
    ["an object of any members", { type: "object" }],
    ["an object of no members", { type: "object", properties: {} }],
    ["a map of strings", { type: "object", additionalProperties: string }],
    ["a map with members", { ...object({ a: string }), additionalProperties: true }],
    ["members by pattern", { ...object({ a: string }), patternProperties: { "^x": string } }],
    ["an open map inside", object({ a: { type: "array", items: { type: "object" } } })],
    ["a member of any type", object({ a: {} })],
    ["a member that is no schema", object({ a: true })],
    ["a negation", { ...string, not: { const: "a" } }],
    ["a tuple", { type: "array", items: [string, string] }],
    ["both ways to list variants", { anyOf: [string], oneOf: [string] }],
    [
      "11 optional members",
      object({ a: object(Object.fromEntries([..."abcdefghijk"].map((name) => [name, string])), []) })
    ]
  ])("a schema beyond the subset is left to a tool: %s", (_name, schema) => {
    expect(nativeSchema(schema)).toBe(undefined)
  })
  it("ten optional members are allowed", () => {
    const schema = closed(Object.fromEntries([..."abcdefghij"].map((name) => [name, string])), [])
    expect(nativeSchema(schema)).toStrictEqual({ schema, loosened: false })
  })
  it("a long chain of definitions is read in one pass", () => {
    const count = 20_000
    const defs = Object.fromEntries(
      Array.from({ length: count }, (_, at): readonly [string, JsonObject] => [
        `d${at}`,
        at + 1 < count ? { $ref: `#/$defs/d${at + 1}` } : string
      ])
    )
    const schema = { $defs: defs, ...closed({ a: { $ref: "#/$defs/d0" } }) }
    expect(nativeSchema(schema)).toStrictEqual({ schema, loosened: false })
  })
  it("a converted schema converts to itself, and every object in it is closed", () => {
    const { schema } = fc.letrec<{ readonly schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<JsonObject>(string, { type: "number", minimum: 1 }, { enum: ["a"] }, { type: "object" }),
        fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { minKeys: 1 }).map((one) => object(one)),
        fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { minKeys: 1 }).map((one) => object(one, [])),
        tie("schema").map((items): JsonObject => ({ type: "array", items })),
        fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((anyOf): JsonObject => ({ anyOf }))
      )
    }))
    const open = (value: Json | undefined): boolean =>
      typeof value === "object" &&
      value !== null &&
      (Array.isArray(value)
        ? value.some(open)
        : (!Array.isArray(value) &&
            "type" in value &&
            value["type"] === "object" &&
            value["additionalProperties"] !== false) ||
          Object.values(value).some(open))
    fc.assert(
      fc.property(schema, (given) => {
        const converted = nativeSchema(given)
        if (converted === undefined) return
        expect(nativeSchema(converted.schema)).toStrictEqual({ schema: converted.schema, loosened: false })
        expect(open(converted.schema)).toBe(false)
      })
    )
  })
})
