// Tests the text of configuration files: merge keys, and aliases that stand for more than memory holds.
// Must not depend on the settings.
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parseSettingsText } from "../../src/cli/settings/SettingsText.ts"

const read = (text: string, name = "gateway.yaml") =>
  Result.match(parseSettingsText(name, text), {
    onSuccess: ({ value }) => value,
    onFailure: ({ line, message }) => [line, message]
  })

const lines = (count: number, line: (at: number) => string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => line(at))

/** Ten aliases of ten aliases and so on: 10 to the power of `levels` values. */
const laughs = (levels: number): string =>
  [
    "a0: &a0 [x,x,x,x,x,x,x,x,x,x]",
    ...lines(levels - 1, (at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(",")}]`)
  ].join("\n")

const tooLarge = [
  undefined,
  "its aliases stand for more than 200000 values; use fewer aliases (*name, <<), or write out the values that are needed"
]
const tooDeep = "lists and mappings are nested deeper than 128 levels; nest them less"

describe("aliases of configuration texts", () => {
  it("settings text: aliases and merges give what they stand for (TH14b)", () => {
    const text = `
base: &base { a: 1, b: "${"${NAME}"} << x" }
more: &more
  b: 3
  <<: *base
list:
  - <<: [*more, *base]
    c: *base
  - { a: 0, <<: *base, "<<": kept }
after: { <<: *base, a: 2 }
`
    const base = { a: 1, b: "${NAME} << x" }
    expect(read(text)).toEqual({
      base,
      more: { b: 3, a: 1 },
      list: [
        { a: 1, b: 3, c: base },
        { a: 0, b: base.b, "<<": "kept" }
      ],
      after: { a: 2, b: base.b }
    })
  })

  it("settings text: a merge of no mapping and two merges in one mapping are refused (TH14b)", () => {
    expect([read("a: &a [1]\nb:\n  <<: *a"), read("a: &a {}\nb:\n  <<: *a\n  <<: *a")]).toEqual([
      [undefined, "Merge key values must be mappings"],
      [4, "Duplicate key '<<'"]
    ])
  })

  it("settings text: aliases that stand for billions of values are refused before they are written out (TH14b)", () => {
    expect([read(laughs(10)), read(laughs(40))]).toEqual([tooLarge, tooLarge])
    expect(Object.keys(Object(read(laughs(5))))).toEqual(["a0", "a1", "a2", "a3", "a4"])
  })

  it("settings text: merges and long texts count as what they stand for (TH14b)", () => {
    const keys = lines(1_000, (at) => `  k${at}: 1`).join("\n")
    const merged = lines(600, (at) => `m${at}:\n  <<: *a`).join("\n")
    const long = `a: &a ${"x".repeat(64_000)}\nb: [${Array(600).fill("*a").join(",")}]`
    expect([read(`a: &a\n${keys}\n${merged}`), read(long)]).toEqual([tooLarge, tooLarge])
  })

  it("settings text: a text without aliases may be as large as it is (TH14b)", () => {
    const text = JSON.stringify(lines(600_000, () => "1"))
    expect(Object(read(text, "gateway.json")).length).toBe(600_000)
  })

  it.each([
    ["YAML in brackets", "gateway.yaml", `a: ${"[".repeat(50_000)}${"]".repeat(50_000)}`, 1],
    ["YAML in lines", "gateway.yaml", lines(200, (at) => `${" ".repeat(at)}a:`).join("\n"), undefined],
    [
      "YAML by aliases",
      "gateway.yaml",
      ["a0: &a0 []", ...lines(200, (at) => `a${at + 1}: &a${at + 1} [*a${at}]`)].join("\n"),
      undefined
    ],
    [
      "YAML by aliases, read from the last",
      "gateway.yaml",
      ["1000: &a0 []", ...lines(900, (at) => `${999 - at}: &a${at + 1} [*a${at}]`)].join("\n"),
      undefined
    ],
    ["JSON", "gateway.json", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, undefined]
  ])("settings text: %s that is nested too deep is refused (TH14b)", (_, name, text, line) => {
    expect(read(text, name)).toEqual([line, tooDeep])
  })
})
