// Tests prompt templates: variables, partials, the exact message of every fault, and the laws of filling once.
// Must not depend on stored prompts.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { compileTemplate, readVariables, renderTemplate, type Variables } from "../../src/catalog/renderTemplate.ts"
import { BodyInvalid, BodyTooLarge } from "../../src/domain/GatewayError.ts"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"

const limits = { promptDepth: 3, promptPartials: 5 }
const known = (partials: Readonly<Record<string, string>>) => (reference: string) =>
  Object.hasOwn(partials, reference)
    ? Result.succeed(partials[reference] ?? "")
    : Result.fail(`there is no "${reference}"`)

const compile = (value: JsonObject, partials: Readonly<Record<string, string>> = {}) =>
  compileTemplate(value, known(partials), limits)
const render = (
  value: JsonObject,
  variables: Variables = {},
  partials: Readonly<Record<string, string>> = {},
  most = defaultLimits.bodyBytes
) => renderTemplate(compile(value, partials).template, variables, most)
const text = (
  written: string,
  variables: Variables = {},
  partials: Readonly<Record<string, string>> = {}
): Json | undefined => Result.getOrThrow(render({ text: written }, variables, partials))["text"]
const faults = (written: string, partials: Readonly<Record<string, string>> = {}) =>
  compile({ text: written }, partials).faults

describe("variables of a template", () => {
  it.each<readonly [string, Variables, string]>([
    ["Hello {{name}}!", { name: "Ann" }, "Hello Ann!"],
    ["{{a}}{{ b }}{{a}}", { a: "1", b: "2" }, "121"],
    ["{{a}}", { a: "" }, ""],
    ["{{user.first-name_1}}", { "user.first-name_1": "x" }, "x"],
    ["{{a}}", { a: "{{b}} {{>c}} \\{{a}}", b: "no" }, "{{b}} {{>c}} \\{{a}}"],
    ["{{a}}b}}", { a: "{{" }, "{{b}}"],
    ["\\{{a}} }} { {a} {", { a: "no" }, "{{a}} }} { {a} {"],
    ["{{a}}\\{{\\{{b", { a: "1" }, "1{{{{b"],
    ["$& $1 {{a}}", { a: "$& $1 $$" }, "$& $1 $& $1 $$"],
    ["no tag at all \\ }}", {}, "no tag at all \\ }}"],
    ["", {}, ""]
  ])("template: renders %j", (written, variables, expected) => {
    expect(text(written, variables)).toBe(expected)
  })

  it("variables: are replaced in every string of the value, and nowhere else", () => {
    const value = {
      messages: [
        {
          role: "{{role}}",
          content: [
            { type: "text", text: "{{a}}" },
            { "{{a}}": 1, n: null, b: true, list: [["{{a}}", 2.5]] }
          ]
        }
      ],
      stop: ["{{a}}"]
    }
    expect(Result.getOrThrow(render(value, { role: "user", a: "A" }))).toStrictEqual({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "A" },
            { "{{a}}": 1, n: null, b: true, list: [["A", 2.5]] }
          ]
        }
      ],
      stop: ["A"]
    })
  })

  it("missing variables: are reported together; inherited properties count as missing (B101)", () => {
    expect(render({ text: "{{a}} {{b}} {{a}} {{valueOf}} {{toString}}" }, { b: "1" })).toStrictEqual(
      Result.fail(
        new BodyInvalid({
          code: "missing_variable",
          param: "variables.a",
          message: "The prompt needs a, valueOf, toString; send each as a string in variables."
        })
      )
    )
  })

  it("template: the size is known before any text is made (TH15)", () => {
    const value = { text: `12${"{{a}}".repeat(3)}`, other: "3" }
    expect(render(value, { a: "ab" }, {}, 9)).toStrictEqual(Result.succeed({ text: "12ababab", other: "3" }))
    expect(render(value, { a: "ab" }, {}, 8)).toStrictEqual(
      Result.fail(new BodyTooLarge({ limitBytes: 8, param: "variables" }))
    )
  })

  it("variables: a value without variables is returned unchanged", () => {
    const { template } = compile({ messages: [{ content: "x" }] })
    expect(template.filledBy({})).toBe(template.filledBy({ a: "1" }))
  })
})

describe("partials of a template", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ["{{>a}}!", { a: "Hi {{name}}" }, "Hi Ann!"],
    ["{{> a@2 }}{{>a@production}}", { "a@2": "two", "a@production": "live" }, "twolive"],
    ["{{>a}}", { a: "<{{>b}}{{>b}}>", b: "{{>c}}.", c: "\\{{c}}" }, "<{{c}}.{{c}}.>"],
    ["{{>a}}", { a: "" }, ""]
  ])("template: partials render %j", (written, partials, expected) => {
    expect(faults(written, partials)).toStrictEqual([])
    expect(text(written, { name: "Ann" }, partials)).toBe(expected)
  })
})

describe("faults of a template", () => {
  const forms = "a variable is written {{name}}, a partial {{>id}}, and braces that are text \\{{"
  it.each<readonly [string, Readonly<Record<string, string>>, ReadonlyArray<string>]>([
    [
      "{{#if a}}x{{/if}}",
      {},
      [`"{{#if a}}" is neither variable nor partial: ${forms}`, `"{{/if}}" is neither variable nor partial: ${forms}`]
    ],
    ["{{{a}}}", {}, [`"{{{a}}" is neither variable nor partial: ${forms}`]],
    ["{{}}", {}, [`"{{}}" is neither variable nor partial: ${forms}`]],
    [
      "{{ä}} {{1}}",
      {},
      [`"{{?}}" is neither variable nor partial: ${forms}`, `"{{1}}" is neither variable nor partial: ${forms}`]
    ],
    ["x {{a", {}, [`"{{a" has no closing braces: ${forms}`]],
    ["{{>gone}}", {}, ['there is no "gone"']],
    ["{{>../a}}", {}, [`"{{>../a}}" is neither variable nor partial: ${forms}`]],
    ["{{>a}}", { a: "{{>b}}", b: "{{>a}}" }, ["the partials a > b > a go round in a circle"]],
    ["{{>a}}", { a: "{{>a}}" }, ["the partials a > a go round in a circle"]],
    [
      "{{>a}}",
      { a: "{{>b}}", b: "{{>c}}", c: "{{>d}}", d: "" },
      ["the partials a > b > c > d are nested deeper than 3"]
    ],
    ["{{>a}}".repeat(6), { a: "" }, ["more than 5 partials in one prompt"]],
    ["{{>a}}", { a: "{{>b}}{{>b}}{{>b}}", b: "{{>c}}", c: "" }, ["more than 5 partials in one prompt"]]
  ])("template: reports the faults of %j", (written, partials, expected) => {
    expect(faults(written, partials)).toStrictEqual(expected.map((message) => ({ at: ["text"], message })))
  })

  it("template: faults name their path", () => {
    expect(
      compile({ messages: [{ content: "ok" }, { content: [{ text: "{{" }] }] }).faults.map(({ at }) => at)
    ).toStrictEqual([["messages", 1, "content", 0, "text"]])
  })
})

describe("variables of a request", () => {
  it("request variables: are an object of strings, or absent", () => {
    expect([undefined, null, {}, { a: "1" }].map((value) => readVariables(value))).toStrictEqual(
      [{}, {}, {}, { a: "1" }].map((value) => Result.succeed(value))
    )
  })
  it.each<readonly [Json, string, string, string]>([
    [["a"], "invalid_type", "variables", "variables has the wrong type: expected object."],
    ["a", "invalid_type", "variables", "variables has the wrong type: expected object."],
    [{ a: "1", b: 2 }, "missing_variable", "variables.b", "variables.b has the wrong type: expected string."],
    [{ b: null }, "missing_variable", "variables.b", "variables.b has the wrong type: expected string."],
    [{ b: { toString: "x" } }, "missing_variable", "variables.b", "variables.b has the wrong type: expected string."]
  ])("request variables: refuses %j (B101)", (value, code, param, message) => {
    expect(readVariables(value)).toStrictEqual(Result.fail(new BodyInvalid({ code, param, message })))
  })
})

describe("laws of rendering", () => {
  const hostile = fc.oneof(fc.string(), fc.constantFrom("{{a}}", "{{>p}}", "\\{{", "}}", '"},{"role":"system"', "$&"))
  const plain = fc.string().map((some) => some.replaceAll("{", "(").replaceAll("\\", "/"))
  const piece = fc.oneof(
    plain,
    fc.constantFrom("a", "b").map((name) => ({ name }))
  )
  const variables = fc.record({ a: hostile, b: hostile })

  it("rendering: equals putting each value once into the written text", () => {
    fc.assert(
      fc.property(fc.array(piece), variables, (pieces, values) => {
        const written = pieces.map((one) => (typeof one === "string" ? one : `{{${one.name}}}`)).join("")
        const expected = pieces.map((one) => (typeof one === "string" ? one : values[one.name as "a" | "b"])).join("")
        expect(text(written, values)).toBe(expected)
      })
    )
  })

  it("rendering: no value changes the shape, and only strings with a tag differ", () => {
    const shapeOf = (value: unknown): unknown =>
      typeof value === "string"
        ? "text"
        : Array.isArray(value)
          ? value.map(shapeOf)
          : typeof value === "object" && value !== null
            ? Object.entries(value).map(([key, member]) => [key, shapeOf(member)])
            : value
    const tree = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<Json>("{{a}}", "x{{b}}{{a}}", "plain", 1, true, null),
        fc.array(tie("value")),
        fc.dictionary(fc.constantFrom("role", "content", "__proto__"), tie("value"))
      )
    })).value
    fc.assert(
      fc.property(tree, variables, (value, values) => {
        expect(shapeOf(Result.getOrThrow(render({ value }, values)))).toStrictEqual(shapeOf({ value }))
      })
    )
  })

  it("rendering: escaped text renders to itself", () => {
    fc.assert(
      fc.property(
        hostile.filter((some) => !some.includes("\\") && !some.includes("{{{")),
        (some) => {
          expect(text(some.replaceAll("{{", "\\{{"))).toBe(some)
        }
      )
    )
  })

  it("compileTemplate: any text gives a template or faults, and without faults it renders", () => {
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const { faults: found, template } = compile({ one: one + other })
        const rendered = renderTemplate(
          template,
          Object.fromEntries([...template.uses.keys()].map((name) => [name, "v"])),
          defaultLimits.bodyBytes
        )
        expect(found.length > 0 || Result.isSuccess(rendered)).toBe(true)
      })
    )
  })
})
