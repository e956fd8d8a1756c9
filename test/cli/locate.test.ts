// Tests the search for the line and column of a key in YAML and JSON text, and other readers of configuration text.
// Must not depend on the settings.
import { describe, expect, it } from "vitest"
import { locatePath, parseSettingsText } from "../../src/cli/settings/SettingsText.ts"
import { editDistance, type FaultPath, hint, nearest } from "../../src/domain/faults.ts"
import { nodeVersionFault } from "../../src/cli/process/platform.ts"
import { regionFault } from "../../src/domain/settings/readAccount.ts"
import * as Result from "effect/Result"

const yaml = `# a comment: with a colon
---
server: { host: "a,b: c", port: 1 }   # flow
providers:
  - slug: one
    provider: google

    # region: not this one
    region: x
    credentials:
      type: a
      json: { "k:1": [1, { deep: 2 }], 'q''s': 3 }
  -
    slug: two
    "quoted key": 1
    models: [a, b, "c]"]
keys:
- name: first
- { name: second,
    key: k }
limits:
  region: |
    keys: no
  idle: 3
`
const json = `{
  "server": { "port": "}" },
  "providers": [
    { "slug": "one" },
    { "slug": "two", "endpoints": { "x": { "dialect": "zz" } } }
  ]
}`

describe("locate", () => {
  const table: ReadonlyArray<readonly [text: string, path: FaultPath, place: string | undefined]> = [
    [yaml, ["server"], "3:1"],
    [yaml, ["server", "port"], "3:27"],
    [yaml, ["providers", 0, "slug"], "5:5"],
    [yaml, ["providers", 0, "region"], "9:5"],
    [yaml, ["providers", 0, "credentials", "type"], "11:7"],
    [yaml, ["providers", 0, "credentials", "json", "k:1", 1, "deep"], "12:28"],
    [yaml, ["providers", 1, "slug"], "14:5"],
    [yaml, ["providers", 1, "quoted key"], "15:5"],
    [yaml, ["providers", 1, "models", 2], "16:20"],
    [yaml, ["keys", 0, "name"], "18:3"],
    [yaml, ["keys", 1, "key"], "20:5"],
    [yaml, ["limits", "idle"], "24:3"],
    [yaml, ["limits", "region"], "22:3"],
    [yaml, ["providers", 1, "absent"], "13:3"],
    [yaml, ["absent"], undefined],
    [json, ["server", "port"], "2:15"],
    [json, ["providers", 0, "slug"], "4:7"],
    [json, ["providers", 1, "endpoints", "x", "dialect"], "5:44"],
    [json, ["providers", 1, "absent"], "5:5"],
    ["", ["a"], undefined],
    ["{ a: [", ["a", 3, "b"], "1:3"]
  ]
  it.each(table)("locate: row %# finds %j at %s", (text, path, place) => {
    const found = locatePath(text, path)
    expect(found === undefined ? undefined : `${found.line}:${found.column}`).toBe(place)
  })
})

describe("text of a configuration file", () => {
  it("file text: accepts ${NAME} inside a flow collection, and CRLF", () => {
    const read = Result.getOrThrow(
      parseSettingsText("a.yaml", 'keys:\r\n  - { name: ci, key: ${CI_KEY}, x: "${A:-b c}" }\r\n')
    )
    expect(read.value).toEqual({ keys: [{ name: "ci", key: "${CI_KEY}", x: "${A:-b c}" }] })
    expect(read.locate(["keys", 0, "x"])).toEqual({ line: 2, column: 33 })
  })
  it("YAML: reports the line of invalid text", () => {
    expect(parseSettingsText("a.yaml", "a: 1\na: 2")).toEqual(Result.fail({ message: "Duplicate key 'a'", line: 2 }))
    expect(parseSettingsText("a.yaml", "a: { b: 1")).toEqual(
      Result.fail({ message: "Expected ',' in a flow collection", line: 1 })
    )
    const long = "server:\n  port: 1\nlist: [\n  { a: 1 },\n  { b: 2 }\n]\n"
    expect(parseSettingsText("a.yaml", `${long}x: { b: 1\ny: 2\n`)).toEqual(
      Result.fail({ message: "Expected ',' in a flow collection", line: 7 })
    )
    expect(parseSettingsText("a.yaml", long.replace("},", "}"))).toEqual(
      Result.fail({ message: "Expected ',' in a flow collection", line: 5 })
    )
  })
  it("file text: the error repeats nothing of a file that is not JSON", () => {
    expect(parseSettingsText("a.json", '{\n"a": sekret }')).toEqual(
      Result.fail({ message: "not JSON", line: undefined })
    )
    expect(parseSettingsText("a.json", '{\n"a" 1 }')).toEqual(Result.fail({ message: "not JSON", line: 2 }))
  })
})

describe("nearest name", () => {
  it("nearest name: counts edits, and a swap of neighbours as one", () => {
    expect([
      editDistance("", "abc"),
      editDistance("kitten", "sitting"),
      editDistance("prot", "port"),
      editDistance("same", "same")
    ]).toEqual([3, 3, 1, 0])
  })
  it("nearest name: is offered only when it is near", () => {
    expect(nearest("apiKey", ["base_url", "api_key"])).toBe("api_key")
    expect(nearest("colour", ["slug", "region"])).toBe(undefined)
    expect([hint("regoin", ["region"]), hint("colour", ["slug", "region"]), hint("x", [])]).toEqual([
      "; did you mean region?",
      "; known: slug, region",
      ""
    ])
  })
})

describe("regions", () => {
  it.each(["global", "us", "eu", "us-central1", "europe-west12", "us-central9", "moon-base1"])(
    "region: %s is valid",
    (text) => {
      expect(regionFault(text)).toBe(undefined)
    }
  )
  it("region: one letter away from a known area is a misspelling, with any number", () => {
    expect(regionFault("europ-west4")).toBe("; did you mean europe-west4?")
    expect(regionFault("US-CENTRAL1")).toBe("; did you mean us-central1?")
  })
})

describe("supported Node versions (M1)", () => {
  it.each([
    ["20.19.5", false],
    ["22.18.0", false],
    ["22.19.0", true],
    ["24.0.0", true],
    ["22.20.1", true]
  ] as const)("Node version: %s is supported: %s (M1)", (version, fits) => {
    expect(nodeVersionFault(version)).toBe(
      fits
        ? undefined
        : `model-gateway needs Node 22.19 or newer, this is ${version}: install a newer one, from https://nodejs.org for example.`
    )
  })
})
