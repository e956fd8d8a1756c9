// Tests the reduction of tool schemas for Claude.
// Must not depend on requests.
import { expect, it } from "vitest"
import type { JsonObject } from "../../../src/domain/text/json.ts"
import { inputSchema, renamedProperties } from "../../../src/translate/chat-to-claude/inputSchema.ts"

const text = { type: "string" }
const open = { a: text, b: text }

it.each<readonly [string, JsonObject, JsonObject, ReadonlyArray<string>]>([
  [
    "alternatives that only require become words",
    { type: "object", properties: open, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    { type: "object", properties: open },
    ['The arguments match at least one of: {"required":["a"]} or {"required":["b"]}.']
  ],
  [
    "alternatives give all of their properties, and what all of them require",
    {
      oneOf: [{ type: "object", properties: { a: text, c: text }, required: ["a", "c"] }, { $ref: "#/$defs/B" }],
      $defs: { B: { type: "object", properties: { b: text, c: { type: "number" } }, required: ["b", "c"] } }
    },
    {
      type: "object",
      $defs: { B: { type: "object", properties: { b: text, c: { type: "number" } }, required: ["b", "c"] } },
      properties: { a: text, c: { anyOf: [text, { type: "number" }] }, b: text },
      required: ["c"]
    },
    [
      'The arguments match exactly one of: {"type":"object","properties":{"a":{"type":"string"},"c":{"type":"string"}},"required":["a","c"]} or {"$ref":"#/$defs/B"}.'
    ]
  ],
  [
    "a reference at the root is followed, and allOf merged",
    {
      $ref: "#/definitions/A",
      definitions: {
        A: {
          allOf: [
            { properties: { a: text }, required: ["a"] },
            { properties: { b: text }, required: ["b"] }
          ]
        }
      }
    },
    {
      type: "object",
      properties: open,
      required: ["a", "b"],
      definitions: {
        A: {
          allOf: [
            { properties: { a: text }, required: ["a"] },
            { properties: { b: text }, required: ["b"] }
          ]
        }
      }
    },
    []
  ],
  ["a recursive root ends", { $ref: "#" }, { type: "object" }, []],
  [
    "a nullable root is an object",
    { type: ["object", "null"], properties: open },
    { type: "object", properties: open },
    []
  ],
  [
    "a root of another type becomes words",
    { type: "string" },
    { type: "object" },
    ['The arguments were declared as "string".']
  ],
  [
    "names of properties become legal, also in required, and state their own",
    { type: "object", properties: { "$filter by": { ...text, description: "d" } }, required: ["$filter by"] },
    {
      type: "object",
      properties: { _filter_by_47306452: { ...text, description: 'd\n\nThe property "$filter by".' } },
      required: ["_filter_by_47306452"]
    },
    []
  ],
  [
    "older drafts become the newest one",
    {
      type: "object",
      properties: {
        tuple: { type: "array", items: [text, { type: "number" }], additionalItems: false },
        bound: { type: "number", minimum: 1, exclusiveMinimum: true },
        flag: { type: "Boolean", required: true },
        any: { type: "any" },
        free: true,
        remote: { $ref: "https://example.com/a.json" },
        mixed: { enum: [1, "a", null] },
        map: { type: "object", patternProperties: { "^x": { type: "STRING" } } },
        branch: { if: { required: ["a"] }, then: { required: ["b"] } }
      }
    },
    {
      type: "object",
      properties: {
        tuple: { type: "array", prefixItems: [text, { type: "number" }], items: false },
        bound: { type: "number", minimum: 1, exclusiveMinimum: 1 },
        flag: { type: "boolean" },
        any: {},
        free: true,
        remote: {},
        mixed: { enum: [1, "a", null] },
        map: { type: "object", patternProperties: { "^x": text } },
        branch: { if: { required: ["a"] }, then: { required: ["b"] } }
      }
    },
    ["See https://example.com/a.json."]
  ]
])("a tool's schema for Claude: %s (W30)", (_name, given, schema, words) => {
  expect(inputSchema(given)).toStrictEqual({ schema, words })
})

it("a schema that Claude takes stays the same object (W30)", () => {
  const given: JsonObject = {
    type: "object",
    properties: { a: { anyOf: [text, { $ref: "#/$defs/B" }] } },
    required: ["a"],
    $defs: { B: { type: "array", items: { $ref: "#/$defs/B" } } }
  }
  expect(inputSchema(given).schema).toBe(given)
})

it("renamed properties are found at any depth, by the names that are sent (W30)", () => {
  const sent = inputSchema({
    type: "object",
    properties: { list: { type: "array", items: { type: "object", properties: { "a b": text } } } }
  })
  const renamed = renamedProperties({
    properties: { list: { items: { properties: { "a b": text } } } }
  })
  expect([...(renamed ?? [])].map(([, own]) => own)).toStrictEqual(["a b"])
  for (const name of renamed?.keys() ?? []) expect(JSON.stringify(sent.schema)).toContain(`"${name}"`)
})
