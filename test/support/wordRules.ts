// The word list: words that comments, docs and test titles avoid, each with the better word.
// Must not depend on the file system; it checks one text at a time.

interface Avoided {
  readonly word: RegExp
  readonly better: string
}

const avoid = (words: string, better: string): Avoided => ({ word: new RegExp(`\\b(?:${words})\\b`, "gi"), better })

/** Rules 2, 3, 4 and 9 of the project's English. */
const avoided: ReadonlyArray<Avoided> = [
  avoid(
    "nobody|no one|somebody|someone|everybody|everyone|anybody|whoever",
    "name the part: the client, the caller, the worker"
  ),
  avoid("told|tells?|telling|untold", "report, return, send, log, print"),
  avoid("says?|said|saying", "report, return, state, print"),
  avoid("dear|dearer|dearest", "expensive, with the number"),
  avoid("anew", "again"),
  avoid("besides?", "next to, alongside"),
  avoid("behind", "after"),
  avoid("borne|bears?", "allowed, accepts"),
  avoid("laid (?:onto|over|on)|lays? (?:onto|over)", "applied to"),
  avoid("wish|wishes|wished", "options, request"),
  avoid("at once", "together, immediately"),
  avoid("stands? in|stood in", "contains, is in"),
  avoid("cures?|cured", "fix, remedy"),
  avoid("(?:closest |the )peers?", "Portkey"),
  avoid("of raw|than raw|raw's|raw itself|raw does|raw proxy", "the bare proxy")
]

const findings = (line: string): ReadonlyArray<string> =>
  avoided.flatMap(({ better, word }) => [...line.matchAll(word)].map(([found]) => `"${found}": ${better}`))

/** Code, quotations and addresses keep their words. */
const prose = (text: string): string => text.replace(/`[^`]*`/g, "``").replace(/https?:\/\/\S+/g, "")

/** The texts of a line, such as messages: literals of three words or more, without the values in them. */
const messages = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*(?:`|$)/g)]
    .map(([literal]) => literal.replaceAll("`", "").replace(/\$\{[^}]*\}/g, "x"))
    .filter((literal) => /\S \S+ \S/.test(literal))

/** The comments of a TypeScript file, the titles of its tests, and with `hasMessages` its texts, by line. */
const codeProse = (text: string, hasMessages: boolean): ReadonlyArray<readonly [number, string]> => {
  let inBlock = false
  return text.split("\n").flatMap((line, index): ReadonlyArray<readonly [number, string]> => {
    const title = /\b(?:it|test|describe|layer)(?:\.\w+)*\(\s*(["'`])(.*?)\1\s*,/.exec(line)?.[2]
    const wasInBlock = inBlock
    if (/^\s*\/\*/.test(line)) inBlock = true
    const comment = inBlock || wasInBlock ? line : /(?:^|\s)\/\/ (.*)$/.exec(line)?.[1]
    if (inBlock && line.includes("*/")) inBlock = false
    const texts = hasMessages && comment === undefined ? messages(line) : []
    return [title, comment, ...texts].flatMap((one) => (one === undefined ? [] : [[index + 1, one] as const]))
  })
}

/** The prose of a Markdown file by line: fenced code is left out. */
const pageProse = (text: string): ReadonlyArray<readonly [number, string]> => {
  let fenced = false
  return text.split("\n").flatMap((line, index): ReadonlyArray<readonly [number, string]> => {
    if (/^\s*```/.test(line)) {
      fenced = !fenced
      return []
    }
    return fenced || line.startsWith("    ") ? [] : [[index + 1, line]]
  })
}

/** Tests and the simulator quote the texts of other services. */
const writesMessages = (path: string): boolean => path.startsWith("src/") && !path.startsWith("src/demo/")

/** R9: the avoided words of a source file or a page, one line each. */
export const avoidedWords = (path: string, text: string): ReadonlyArray<string> => {
  const lines = path.endsWith(".md") ? pageProse(text) : codeProse(text, writesMessages(path))
  return lines.flatMap(([line, words]) =>
    findings(prose(words)).map((finding) => `${path}:${line} R9 words: ${finding}`)
  )
}
