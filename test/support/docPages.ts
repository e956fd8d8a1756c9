// The pages of the documentation: their shell commands, links and headings.
// Must not judge or run anything.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

export const repository = fileURLToPath(new URL("../../", import.meta.url))
export const readPage = (path: string): string => readFileSync(join(repository, path), "utf8")

/** Every page, by its path in the repository. */
export const docPages: ReadonlyArray<string> = [
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "examples/README.md",
  ...readdirSync(join(repository, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .toSorted()
]

/** Blocks that a reader may take for shell. */
const shellBlock = /^```(?:sh|bash|shell|console)\n([\s\S]*?)^```/gm

/** The commands of the shell blocks, in order: one a line, continued lines together. */
export const shellCommands = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(shellBlock)].flatMap(([, block = ""]) =>
    block
      .split(/(?<!\\)\n|(?<=^npm ci) && /m)
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"))
  )

/** Commands inside a sentence or a table that start with one of these programs. */
export const inlineCommands = (text: string, program: string): ReadonlyArray<string> =>
  [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)]
    .map(([, code = ""]) => code)
    .filter((code) => code === program || code.startsWith(`${program} `))

export const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, "")

/** The anchors of a page as GitHub makes them: words in lower case, with numbers for headings of the same text. */
export const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  return new Set(
    [...withoutBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-")
      const before = seen.get(anchor) ?? 0
      seen.set(anchor, before + 1)
      return before === 0 ? anchor : `${anchor}-${before}`
    })
  )
}

export interface DocLink {
  readonly link: string
  /** The file that it names, by its path in the repository. */
  readonly file: string
  readonly anchor: string | undefined
}

/** The links of a page to files and headings of the repository, pictures included. */
export const localLinks = (page: string, text: string): ReadonlyArray<DocLink> =>
  [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path = "", anchor] = link.split("#")
      return { link, file: path === "" ? page : normalize(join(dirname(page), path)), anchor }
    })
