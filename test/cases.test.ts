// Holds docs/internals/cases.md to the tree: every rule id in use has its sentence there.
// Must not judge a sentence.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const page = "docs/internals/cases.md"
const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** An id: the letter of its kind, its number, and perhaps a letter for a variant. */
const id = /\b(?:(?:TH|M-|[TBFMPSGNRLHWK])\d{1,4}|D\d{3})[a-z]?\b/g

/** Words of this form that are no ids: a slug of a test. */
const otherWords: ReadonlyArray<string> = ["S4"]

const texts = ["src", "test", "docs", "examples"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
      .filter(
        (path) =>
          /\.(?:ts|md)$/.test(path) &&
          !path.startsWith("test/fixtures/") &&
          path !== page &&
          path !== "test/cases.test.ts"
      )
  )
  .concat("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")

const used = texts.flatMap((path) =>
  [...read(path).matchAll(id)].map(([word]): readonly [string, string] => [path, word])
)
const rows = [...read(page).matchAll(/^\| (\S+) \| (.+) \|$/gm)].filter(
  ([, first]) => first !== "id" && first !== "---"
)
const listed = rows.map(([, first = ""]) => first)

describe("page of cases", () => {
  it("cases page: lists every id that the tree uses", () => {
    const missing = used.filter(([, word]) => !otherWords.includes(word) && !listed.includes(word))
    expect(missing.map(([path, word]) => `${path}: ${word} needs a row in ${page}`)).toEqual([])
  })

  it("cases page: lists no id that the tree does not use, and none twice", () => {
    const words = new Set(used.map(([, word]) => word))
    expect(listed.filter((word, at) => !words.has(word) || listed.indexOf(word) !== at)).toEqual([])
  })

  it("cases page: has a sentence of at most 25 words for each id", () => {
    expect(
      rows
        .filter(([, , sentence = ""]) => !/^[A-Z].*\.$/.test(sentence) || sentence.split(" ").length > 25)
        .map(([row]) => row)
    ).toEqual([])
  })

  it("cases test: needs each of its exceptions", () => {
    expect(otherWords.filter((word) => !used.some(([, what]) => what === word))).toEqual([])
  })
})
