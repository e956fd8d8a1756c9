import { describe, expect, it } from "vitest"
import type { JsonSchema } from "../../../../src/demo/google/shared/generateRequest.ts"
import { placesIn, synthesise } from "../../../../src/demo/google/shared/simulatedModel.ts"

describe("values for schemas", () => {
  const hints = { text: "Buy 3 red shoes in Hamburg for ada@x.org", place: "Hamburg", properties: "all" as const }
  const rows: ReadonlyArray<readonly [name: string, schema: JsonSchema, value: unknown]> = [
    ["an enum word that is mentioned", { type: "STRING", enum: ["blue", "red"] }, "red"],
    [
      "numbers of the words, kept in range",
      { type: "OBJECT", properties: { n: { type: "INTEGER" }, m: { type: "NUMBER", minimum: 5 } } },
      { n: 3, m: 5 }
    ],
    [
      "nested objects and arrays",
      {
        type: "object",
        properties: {
          list: { type: "array", minItems: 2, items: { type: "object", properties: { city: { type: "string" } } } }
        }
      },
      { list: [{ city: "Hamburg" }, { city: "Hamburg" }] }
    ],
    [
      "mail and dates",
      { properties: { email: {}, on: { type: "string", format: "date" } } },
      { email: "ada@x.org", on: "2026-01-15" }
    ],
    ["a reference", { $ref: "#/$defs/Size", $defs: { Size: { const: "L" } } }, "L"],
    ["the first branch that is not null", { anyOf: [{ type: "null" }, { type: "boolean" }] }, true],
    ["a nullable type list", { type: ["null", "string"], maxLength: 3 }, "Ham"],
    [
      "an end to recursion",
      { type: "object", properties: { next: { $ref: "#" } } },
      { next: { next: { next: { next: { next: {} } } } } }
    ]
  ]
  for (const [name, schema, value] of rows)
    it(`schema value: ${name}`, () => expect(synthesise(schema, hints)).toEqual(value))

  it("placesIn: reads places", () => {
    expect(placesIn("Compare the weather in New York, Paris and Tokyo")).toEqual(["New York", "Paris", "Tokyo"])
    expect(placesIn("weather in paris")).toEqual(["paris"])
    expect(placesIn("Hello")).toEqual([])
  })
})
