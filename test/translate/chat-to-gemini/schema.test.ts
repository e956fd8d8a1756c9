// Tests both JSON schema conversions: the rules of table 3 by id, and the laws of the subset converter.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/text/json.ts"
import { SchemaCopies } from "../../../src/translate/chat-to-gemini/schema.ts"
import { lightSchema } from "../../../src/translate/chat-to-gemini/schemaLight.ts"
import { subsetSchema } from "../../../src/translate/chat-to-gemini/schemaSubset.ts"
import { deepFreeze } from "../../support/chat.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../support/shared.ts"

const bounds = () => ({ schemaDepth: 64, copies: new SchemaCopies(1024 * 1024, {}) })
const oracles = {
  google: schemaOracle("google-generativelanguage-v1beta.schema.json", "GenerateContentRequest"),
  "vertex-ai": schemaOracle("google-aiplatform-v1.schema.json", "GenerateContentRequest")
}
if (sharedDir() === undefined) loudlySkipped("converted schemas against the published request schema")

type Kind = "google" | "vertex-ai"

const valid = (kind: Kind, schema: JsonObject): void => {
  const check = oracles[kind]
  if (check === undefined) return
  const body = { contents: [], tools: [{ functionDeclarations: [{ name: "f", parameters: schema }] }] }
  expect([check(body), check.errors]).toStrictEqual([true, null])
}

const subset = (schema: JsonObject, kind: Kind = "google", ordered = false): Json => {
  const converted = Result.getOrThrow(subsetSchema(deepFreeze(schema), { kind, bounds: bounds(), ordered }))
  valid(kind, converted)
  return converted
}
const light = (schema: JsonObject): Json => Result.getOrThrow(lightSchema(deepFreeze(schema), bounds()))
const faults = (schema: JsonObject): ReadonlyArray<string | undefined> =>
  [lightSchema(schema, bounds()), subsetSchema(schema, { kind: "google", bounds: bounds(), ordered: false })].map(
    (result) => (Result.isFailure(result) ? result.failure : undefined)
  )
/** The conversion of a schema in the place of a property. */
const property = (schema: Json, kind: Kind = "google"): Json | undefined => {
  const root = subset({ type: "object", properties: { p: schema } }, kind)
  return isJsonObject(root) && isJsonObject(root["properties"]) ? root["properties"]["p"] : undefined
}
const recursive: JsonObject = {
  $ref: "#/$defs/Node",
  $defs: {
    Node: {
      type: "object",
      description: "a node",
      properties: { value: { type: "integer" }, next: { $ref: "#/$defs/Node" } }
    }
  }
}

describe("JSON schema for newer models", () => {
  it("the light conversion changes only what it must, and keeps key order (T302)", () => {
    const schema = {
      title: "Root",
      type: ["object", "null"],
      additionalProperties: false,
      properties: {
        b: { type: "string", minLength: 1, pattern: "^a", format: "email", default: null },
        a: { type: ["string", "null"], description: "d" },
        list: { type: "array" },
        any: { type: "array", items: true },
        one: { oneOf: [{ type: "string" }, { type: "number" }] },
        number: { type: "integer", enum: [1, 2], exclusiveMinimum: 0, multipleOf: 2 },
        free: { type: "object", patternProperties: { "^x": { type: "string" } }, not: { required: ["y"] } }
      },
      required: ["a", "b"],
      propertyOrdering: ["b", "a"]
    }
    expect(JSON.stringify(light(schema))).toBe(JSON.stringify(schema))
  })
  it("keywords without a constraint are dropped (T302)", () => {
    expect(
      light({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $comment: "c",
        type: "object",
        "x-order": 1,
        properties: { a: { type: "string", examples: ["x"], deprecated: true, readOnly: true, writeOnly: false } },
        discriminator: { propertyName: "a" }
      })
    ).toStrictEqual({ type: "object", properties: { a: { type: "string" } } })
  })
  it("property names are not keywords; titles of properties are dropped, the root's stays (T304, T325)", () => {
    expect(
      light({
        title: "T",
        type: "object",
        properties: {
          title: { type: "string", title: "Title" },
          default: { type: "string" },
          $ref: { type: "string" },
          examples: { type: "string" },
          "x-a": { type: "string" }
        },
        required: ["title", "$ref"]
      })
    ).toStrictEqual({
      title: "T",
      type: "object",
      properties: {
        title: { type: "string" },
        default: { type: "string" },
        $ref: { type: "string" },
        examples: { type: "string" },
        "x-a": { type: "string" }
      },
      required: ["title", "$ref"]
    })
  })
  it("definitions become $defs, references follow, siblings of $ref are dropped (T305)", () => {
    expect(
      light({
        type: "object",
        properties: {
          a: { $ref: "#/definitions/A", description: "gone", $anchor: "kept" },
          definitions: { $ref: "#/properties/definitions2" },
          definitions2: { type: "string" }
        },
        definitions: { A: { type: "string" } }
      })
    ).toStrictEqual({
      type: "object",
      properties: {
        a: { $ref: "#/$defs/A", $anchor: "kept" },
        definitions: { $ref: "#/properties/definitions2" },
        definitions2: { type: "string" }
      },
      $defs: { A: { type: "string" } }
    })
  })
  it("a recursive schema is kept, and only its root is resolved (T306, T805)", () => {
    const node = {
      type: "object",
      description: "a node",
      properties: { value: { type: "integer" }, next: { $ref: "#/$defs/Node" } }
    }
    expect(light(recursive)).toStrictEqual({ ...node, $defs: { Node: node } })
  })
  it("allOf is merged with references resolved; recursion through it ends (T312)", () => {
    expect(
      light({
        type: "object",
        properties: { a: { description: "mine", allOf: [{ $ref: "#/$defs/A" }] } },
        allOf: [{ properties: { b: { type: "string" } }, required: ["b"] }],
        required: ["a"],
        $defs: { A: { type: "object", description: "A's", properties: { again: { allOf: [{ $ref: "#/$defs/A" }] } } } }
      })
    ).toStrictEqual({
      properties: {
        b: { type: "string" },
        a: {
          type: "object",
          description: "mine",
          properties: { again: { allOf: [{ $ref: "#/$defs/A" }] } }
        }
      },
      required: ["b", "a"],
      type: "object",
      $defs: {
        A: {
          type: "object",
          description: "A's",
          properties: {
            again: { type: "object", description: "A's", properties: { again: { allOf: [{ $ref: "#/$defs/A" }] } } }
          }
        }
      }
    })
  })
  it("constants, enums, tuples, boolean schemas and required are converted (T313, T315, T317, T318, T324)", () => {
    expect(
      light({
        type: "object",
        properties: {
          c: { const: "x" },
          n: { const: null },
          e: { type: "string", enum: ["a", "", "a", null] },
          empty: { type: "string", enum: [""] },
          tuple: { type: "array", items: [{ type: "string" }, true] },
          any: true,
          never: false
        },
        required: ["c", "never", "absent"]
      })
    ).toStrictEqual({
      type: "object",
      properties: {
        c: { type: "string", enum: ["x"] },
        n: { type: "null", enum: [null] },
        e: { type: "string", enum: ["a", null] },
        empty: { type: "string" },
        tuple: { type: "array", prefixItems: [{ type: "string" }, {}] },
        any: {}
      },
      required: ["c"]
    })
    expect(light({ type: "object", required: null, properties: {} })).toStrictEqual({ type: "object", properties: {} })
  })
})

describe("JSON schema subset for older models", () => {
  it("only the listed keywords pass (T303)", () => {
    expect(
      subset({
        $schema: "s",
        $id: "i",
        type: "object",
        additionalProperties: false,
        minProperties: 1,
        properties: {
          a: {
            type: "number",
            minimum: 0,
            maximum: 9,
            exclusiveMinimum: 0,
            multipleOf: 2,
            examples: [1],
            "x-b": 1,
            readOnly: true,
            unknown: { $ref: "nowhere" }
          },
          b: { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2, uniqueItems: true, contains: {} }
        },
        patternProperties: { "^a": {} },
        propertyNames: { pattern: "a" },
        dependentRequired: { a: ["b"] },
        if: {},
        not: {}
      })
    ).toStrictEqual({
      type: "OBJECT",
      minProperties: 1,
      properties: {
        a: { type: "NUMBER", minimum: 0, maximum: 9 },
        b: { type: "ARRAY", items: { type: "BOOLEAN" }, minItems: 1, maxItems: 2 }
      }
    })
  })
  it("additionalProperties is sent to Vertex AI only (table 3)", () => {
    const schema = { type: "object", additionalProperties: { type: "string" } }
    expect(subset(schema)).toStrictEqual({ type: "OBJECT" })
    expect(subset(schema, "vertex-ai")).toStrictEqual({ type: "OBJECT", additionalProperties: { type: "STRING" } })
    expect(subset({ type: "object", additionalProperties: false }, "vertex-ai")).toStrictEqual({
      type: "OBJECT",
      additionalProperties: false
    })
  })
  it("property names are not keywords; titles and null defaults of properties are dropped (T304, T325)", () => {
    const string = { type: "STRING" }
    expect(
      subset({
        title: "Root",
        properties: {
          title: { type: "string", title: "gone", default: null },
          default: { type: "string" },
          additionalProperties: { type: "string" },
          $ref: { type: "string" },
          __proto__x: { type: "string" }
        }
      })
    ).toStrictEqual({
      title: "Root",
      type: "OBJECT",
      properties: { title: string, default: string, additionalProperties: string, $ref: string, __proto__x: string }
    })
  })
  it("references are inlined, their siblings take precedence, escapes are decoded (T305)", () => {
    expect(
      subset({
        type: "object",
        properties: {
          a: { $ref: "#/$defs/A", description: "mine" },
          b: { $ref: "#/definitions/a~1b~0c%20d" },
          c: { $ref: "#/properties/a" }
        },
        $defs: { A: { type: "string", description: "A's", title: "A" } },
        definitions: { "a/b~c d": { type: "integer" } }
      })
    ).toStrictEqual({
      type: "OBJECT",
      properties: {
        a: { type: "STRING", description: "mine" },
        b: { type: "INTEGER" },
        c: { type: "STRING", description: "mine" }
      }
    })
  })
  it("recursion is unrolled five times (T306)", () => {
    const at = (depth: number): JsonObject =>
      depth === 0
        ? { type: "OBJECT", description: "a node" }
        : { type: "OBJECT", description: "a node", properties: { value: { type: "INTEGER" }, next: at(depth - 1) } }
    expect(subset(recursive)).toStrictEqual(at(5))
  })
  it("lists of types become anyOf (T308)", () => {
    expect(property({ type: ["string", "null"] })).toStrictEqual({ type: "STRING", nullable: true })
    expect(property({ type: ["null"] })).toStrictEqual({ type: "STRING", nullable: true })
    expect(property({ type: ["string", "number"], description: "d", minimum: 1, maxLength: 3 })).toStrictEqual({
      description: "d",
      anyOf: [
        { type: "STRING", maxLength: 3 },
        { type: "NUMBER", minimum: 1 }
      ]
    })
    expect(property({ type: ["string", "number", "null"], description: "d" }, "vertex-ai")).toStrictEqual({
      anyOf: [
        { type: "STRING", description: "d", nullable: true },
        { type: "NUMBER", description: "d", nullable: true }
      ]
    })
  })
  it("a null branch makes the other branches nullable (T309)", () => {
    expect(property({ anyOf: [{ type: "string" }, { type: "null" }], description: "d", title: "t" })).toStrictEqual({
      type: "STRING",
      description: "d",
      nullable: true
    })
    expect(property({ anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] })).toStrictEqual({
      nullable: true,
      anyOf: [{ type: "STRING" }, { type: "INTEGER" }]
    })
    expect(property({ anyOf: [{ type: "null" }, { const: null }] })).toStrictEqual({ type: "STRING", nullable: true })
  })
  it("siblings of anyOf stay on the Gemini API, and move into the branches on Vertex AI (T310)", () => {
    const schema = {
      type: "object",
      description: "d",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [
        { properties: { c: { type: "string" } }, required: ["a"] },
        { type: "string", description: "own" }
      ]
    }
    const string = { type: "STRING" }
    expect(property(schema)).toStrictEqual({
      type: "OBJECT",
      description: "d",
      properties: { a: string, b: string },
      anyOf: [
        { type: "OBJECT", properties: { c: string } },
        { type: "STRING", description: "own" }
      ]
    })
    expect(property(schema, "vertex-ai")).toStrictEqual({
      anyOf: [
        { type: "OBJECT", description: "d", properties: { a: string, b: string, c: string }, required: ["a"] },
        { type: "STRING", description: "own", properties: { a: string, b: string } }
      ]
    })
  })
  it("branches with required alone are dropped (T310)", () => {
    expect(
      property({
        type: "object",
        properties: { a: { type: "string" } },
        anyOf: [{ required: ["a"] }, { required: ["b"] }]
      })
    ).toStrictEqual({ type: "OBJECT", properties: { a: { type: "STRING" } } })
  })
  it("oneOf is read as anyOf (T311)", () => {
    expect(
      property({ oneOf: [{ type: "string" }, { type: "integer" }], discriminator: { propertyName: "x" } })
    ).toStrictEqual({ anyOf: [{ type: "STRING" }, { type: "INTEGER" }] })
  })
  it("allOf is merged (T312)", () => {
    expect(
      property({
        description: "mine",
        allOf: [
          { type: "object", description: "first", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { a: { maxLength: 3 }, b: { type: "integer" } }, required: ["b"] }
        ]
      })
    ).toStrictEqual({
      type: "OBJECT",
      description: "mine",
      properties: { a: { type: "STRING", maxLength: 3 }, b: { type: "INTEGER" } },
      required: ["a", "b"]
    })
  })
  it("constants and enums are converted (T313, T314, T315)", () => {
    expect(property({ const: "a" })).toStrictEqual({ type: "STRING", enum: ["a"] })
    expect(property({ const: 3 })).toStrictEqual({ type: "INTEGER", description: "One of: 3" })
    expect(property({ type: "integer", enum: [1, 2], description: "Level" })).toStrictEqual({
      type: "INTEGER",
      description: "Level\nOne of: 1, 2"
    })
    expect(property({ enum: ["a", "", "a", null] })).toStrictEqual({ type: "STRING", nullable: true, enum: ["a"] })
    expect(property({ type: "string", enum: [""] })).toStrictEqual({ type: "STRING" })
    expect(property({ enum: ["a", 1] })).toStrictEqual({ type: "STRING", description: 'One of: "a", 1' })
  })
  it("an array always has items (T316)", () => {
    const strings = { type: "ARRAY", items: { type: "STRING" } }
    for (const items of [undefined, null, {}, true]) expect(property({ type: "array", items })).toStrictEqual(strings)
  })
  it("tuples become arrays of a union (T317)", () => {
    const two = [{ type: "string" }, { type: "integer" }]
    const tuple = {
      type: "ARRAY",
      items: { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
      minItems: 2,
      maxItems: 2
    }
    expect(property({ type: "array", prefixItems: two })).toStrictEqual(tuple)
    expect(property({ type: "array", items: two })).toStrictEqual(tuple)
    expect(property({ prefixItems: [{ type: "number" }, { type: "number" }] })).toStrictEqual({
      type: "ARRAY",
      items: { type: "NUMBER" },
      minItems: 2,
      maxItems: 2
    })
  })
  it("boolean schemas, empty objects, missing types and required are converted (T318, T319, T321, T324)", () => {
    expect(
      subset({
        properties: {
          any: true,
          never: false,
          object: { type: "object", properties: {} },
          list: { items: { type: "string" } },
          words: { enum: ["a"] },
          either: { anyOf: [{ type: "string" }, { type: "integer" }] },
          plain: { description: "d" },
          strange: { type: "file" }
        },
        required: ["any", "never", "absent"]
      })
    ).toStrictEqual({
      type: "OBJECT",
      properties: {
        any: { type: "STRING" },
        object: { type: "OBJECT" },
        list: { type: "ARRAY", items: { type: "STRING" } },
        words: { type: "STRING", enum: ["a"] },
        either: { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
        plain: { type: "STRING", description: "d" },
        strange: { type: "STRING" }
      },
      required: ["any"]
    })
  })
  it("formats pass where the subset has them (T322)", () => {
    expect(property({ type: "string", format: "date-time" })).toStrictEqual({ type: "STRING", format: "date-time" })
    expect(property({ type: "integer", format: "int64" })).toStrictEqual({ type: "INTEGER", format: "int64" })
    expect(property({ type: "number", format: "double" })).toStrictEqual({ type: "NUMBER", format: "double" })
    expect(property({ type: "string", format: "email" })).toStrictEqual({
      type: "STRING",
      description: "format: email"
    })
    expect(property({ type: "string", format: "uri", description: "d" })).toStrictEqual({
      type: "STRING",
      description: "d\nformat: uri"
    })
  })
  it("the client's key order is written on request (T804)", () => {
    expect(
      subset(
        { type: "object", properties: { z: { type: "object", properties: { y: true, b: true } }, a: true } },
        "google",
        true
      )
    ).toStrictEqual({
      type: "OBJECT",
      properties: {
        z: {
          type: "OBJECT",
          properties: { y: { type: "STRING" }, b: { type: "STRING" } },
          propertyOrdering: ["y", "b"]
        },
        a: { type: "STRING" }
      },
      propertyOrdering: ["z", "a"]
    })
  })
})

describe("schemas that both conversions refuse", () => {
  const unresolved = (ref: string) =>
    `the reference ${ref} does not lead to a schema inside this one; remote references are not fetched`
  it.each(["https://example.com/schema.json", "#/$defs/Missing", "#anchor", "other.json#/$defs/A", "#/properties/a/0"])(
    "a bad reference is refused: %s (T307)",
    (ref) => {
      const fault = unresolved(ref)
      expect(faults({ type: "object", properties: { a: { type: "string" }, b: { $ref: ref } } })).toStrictEqual([
        fault,
        fault
      ])
    }
  )
  it("contradictory types are refused (T312)", () => {
    const fault = "allOf joins contradictory types: string and integer"
    expect(faults({ properties: { a: { allOf: [{ type: "string" }, { type: "integer" }] } } })).toStrictEqual([
      fault,
      fault
    ])
  })
  it("nesting over 64 levels is refused (T326)", () => {
    const nested = (levels: number): JsonObject =>
      levels === 1 ? { type: "string" } : { type: "object", properties: { a: nested(levels - 1) } }
    const fault = "the schema nests deeper than 64 levels"
    expect(faults(nested(64))).toStrictEqual([undefined, undefined])
    expect(faults(nested(65))).toStrictEqual([fault, fault])
  })
  it("a node that is not a schema is refused", () => {
    const fault = "a schema must be an object"
    expect(faults({ properties: { a: "string" } })).toStrictEqual([fault, fault])
  })
  it("multiplying references are bounded", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `D${n}`,
        n === 59
          ? { type: "string" }
          : { type: "object", properties: { a: { $ref: `#/$defs/D${n + 1}` }, b: { $ref: `#/$defs/D${n + 1}` } } }
      ])
    )
    const result = subsetSchema(
      { $ref: "#/$defs/D0", $defs: defs },
      { kind: "google", bounds: bounds(), ordered: false }
    )
    expect(Result.isFailure(result) ? result.failure : "").toBe(
      "the schema grows too large when its references are resolved"
    )
  })
  it("allOf of thousands is merged in one pass, then refused for its size", () => {
    const members = Array.from({ length: 5000 }, (_, n) => ({
      properties: Object.fromEntries(Array.from({ length: 5 }, (_, k) => [`p${n}-${k}`, { type: "string" }]))
    }))
    const fault = "the schema grows too large when its references are resolved"
    expect(faults({ properties: { a: { allOf: members } } })).toStrictEqual([fault, fault])
  })
  it.each([
    { $ref: "#" },
    { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } },
    { allOf: [{ $ref: "#" }, { $ref: "#" }] },
    { properties: { a: { allOf: Array.from({ length: 50 }, () => ({ $ref: "#" })) } } },
    {
      $defs: { A: { anyOf: Array.from({ length: 9 }, () => ({ $ref: "#/$defs/A" })) } },
      properties: { a: { $ref: "#/$defs/A" } }
    }
  ])("recursion of any kind ends: %j (T306)", (schema) => {
    expect(faults(schema).map((fault) => typeof fault)).toHaveLength(2)
  })
})

const keywords = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "items",
  "properties",
  "required",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "minLength",
  "maxLength",
  "pattern",
  "minProperties",
  "maxProperties",
  "default",
  "example",
  "propertyOrdering",
  "additionalProperties"
])

/** Calls `visit` with every schema node of a converted schema. */
const eachNode = (schema: Json | undefined, visit: (node: JsonObject) => void): void => {
  if (!isJsonObject(schema)) return
  visit(schema)
  if (isJsonObject(schema["properties"]))
    for (const inner of Object.values(schema["properties"])) eachNode(inner, visit)
  if (Array.isArray(schema["anyOf"])) for (const inner of schema["anyOf"]) eachNode(inner, visit)
  eachNode(schema["items"], visit)
  eachNode(schema["additionalProperties"], visit)
}

/** JSON text with the keys of every object in order. */
const sorted = (value: Json | undefined): string => {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`)
    .join()}}`
}

const name = fc.constantFrom("a", "b", "title", "$ref", "properties", "default", "__proto__", "constructor", "x y")
const leafArb = fc.record(
  {
    type: fc.constantFrom<Json>(
      "string",
      "integer",
      "number",
      "boolean",
      ["string", "null"],
      ["string", "integer"],
      "null",
      "file"
    ),
    description: fc.constant("d"),
    title: fc.constant("t"),
    enum: fc.constantFrom<Json>(["a", "b"], ["a", "", null], [1, 2], [], [null], [true]),
    const: fc.constantFrom<Json>("a", 1, null),
    format: fc.constantFrom("date-time", "email", "int32"),
    default: fc.constantFrom<Json>(null, 1, "a"),
    minimum: fc.constantFrom<Json>(0, "x"),
    nullable: fc.boolean(),
    "x-a": fc.constant(1),
    examples: fc.constant([1])
  },
  { requiredKeys: [] }
)
const schemaArb = fc.letrec<{ schema: Json }>((tie) => {
  const required = fc.constantFrom<Json>(["a"], ["a", "zz", "b"], [], null)
  const list = fc.array(tie("schema"), { minLength: 1, maxLength: 3 })
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leafArb,
      fc.boolean(),
      fc.record(
        {
          type: fc.constant("object"),
          properties: fc.dictionary(name, tie("schema"), { maxKeys: 4 }),
          required,
          title: fc.constant("t")
        },
        { requiredKeys: ["properties"] }
      ),
      fc.record({ type: fc.constant("array"), items: fc.oneof(tie("schema"), list) }, { requiredKeys: ["type"] }),
      fc.record(
        { anyOf: list, description: fc.constant("d"), type: fc.constantFrom("object", "string") },
        { requiredKeys: ["anyOf"] }
      ),
      fc.record({ oneOf: list }),
      fc.record(
        { $ref: fc.constantFrom("#", "#/$defs/A", "#/$defs/B"), description: fc.constant("r") },
        { requiredKeys: ["$ref"] }
      ),
      fc.record({ allOf: list, title: fc.constant("t") }, { requiredKeys: ["allOf"] }),
      fc.record({ additionalProperties: tie("schema"), type: fc.constant("object") })
    )
  }
}).schema
const rootArb = fc
  .tuple(schemaArb, schemaArb, fc.dictionary(name, schemaArb, { maxKeys: 4 }))
  .map(([A, B, properties]): JsonObject => ({ type: "object", properties, required: ["a", "zz"], $defs: { A, B } }))

describe("schema conversion laws (L20)", () => {
  it.each(["google", "vertex-ai"] as const)("the subset conversion keeps its laws on %s", (kind) => {
    fc.assert(
      fc.property(rootArb, (root) => {
        const options = { kind, bounds: bounds(), ordered: false }
        const first = subsetSchema(deepFreeze(root), options)
        if (Result.isFailure(first)) return
        const schema = first.success
        valid(kind, schema)
        const again = subsetSchema(deepFreeze(schema), options)
        // As text: the comparison of objects is misled by properties named `constructor`. Unrolled recursion may nest
        // deeper than a client's schema may; then there is no second time.
        const tooDeep = Result.isFailure(again) && again.failure === "the schema nests deeper than 64 levels"
        expect(tooDeep ? sorted(schema) : sorted(Result.getOrThrow(again))).toBe(sorted(schema))
        const given = isJsonObject(root["properties"]) ? root["properties"] : {}
        const names = Object.keys(given).filter((key) => given[key] !== false)
        expect(isJsonObject(schema["properties"]) ? Object.keys(schema["properties"]) : []).toStrictEqual(names)
        eachNode(schema, (node) => {
          expect(Object.keys(node).filter((keyword) => !keywords.has(keyword))).toStrictEqual([])
          const properties = isJsonObject(node["properties"]) ? node["properties"] : {}
          const required = Array.isArray(node["required"]) ? node["required"] : []
          expect(required.filter((key: string) => !Object.hasOwn(properties, key))).toStrictEqual([])
        })
      }),
      { numRuns: 1000 }
    )
  })
  it("the light conversion ends on the same schemas and keeps every property", () => {
    fc.assert(
      fc.property(rootArb, (root) => {
        const first = lightSchema(deepFreeze(root), bounds())
        if (Result.isFailure(first)) return
        const properties = isJsonObject(root["properties"]) ? root["properties"] : {}
        const kept = Object.keys(properties).filter((key) => properties[key] !== false)
        expect(Object.keys(first.success["properties"] ?? {})).toStrictEqual(kept)
      }),
      { numRuns: 500 }
    )
    expect.hasAssertions()
  })
  it("a schema in the subset stays unchanged except for the case of its types", () => {
    const schema = {
      title: "T",
      type: "object",
      description: "d",
      nullable: true,
      properties: {
        a: {
          type: "string",
          format: "date-time",
          minLength: 1,
          maxLength: "9",
          pattern: "p",
          default: "x",
          example: "y"
        },
        b: { type: "array", items: { type: "number", minimum: 0, maximum: 1 }, minItems: 1, maxItems: 2 },
        c: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
        d: { type: "string", enum: ["a", "b"] }
      },
      required: ["a"],
      propertyOrdering: ["a", "b", "c", "d"]
    }
    const upper = (value: Json): Json =>
      JSON.parse(
        JSON.stringify(value).replace(/"type":"(\w+)"/g, (_, type: string) => `"type":"${type.toUpperCase()}"`)
      )
    expect(subset(schema)).toStrictEqual(upper(schema))
    expect(subset(schema, "vertex-ai")).toStrictEqual(upper(schema))
  })
})
