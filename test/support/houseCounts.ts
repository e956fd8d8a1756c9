// Counts the size and the habits of source files: their lines, importers, ladders and names.
// Must not depend on the file system; the texts come with their paths.
import { dirname, join } from "node:path/posix"

/** A source file: its path from the root of the repository, and its text. */
export interface CountedFile {
  readonly path: string
  readonly text: string
}

const linesOf = ({ text }: CountedFile): number => text.trimEnd().split("\n").length
const total = (files: ReadonlyArray<CountedFile>): string =>
  `${files.length} / ${files.reduce((sum, file) => sum + linesOf(file), 0)}`

const importsOf = ({ path, text }: CountedFile): ReadonlyArray<string> =>
  [...text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(([, to = ""]) => join(dirname(path), to))

/** All that a file imports, directly or not. */
const reachable = (files: ReadonlyMap<string, CountedFile>, start: string): ReadonlyArray<CountedFile> => {
  const seen = new Set<string>()
  const visit = (path: string): void => {
    const file = files.get(path)
    if (file === undefined || seen.has(path)) return
    seen.add(path)
    importsOf(file).forEach(visit)
  }
  visit(start)
  return [...seen].flatMap((path) => files.get(path) ?? [])
}

const countOf = (files: ReadonlyArray<CountedFile>, pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)

/** Words without a meaning of their own as the whole of a name. */
const bareName =
  /\b(?:const|let|function) (?:met|own|held|found|kept|told)\b|[({,]\s*(?:met|own|held|found|kept|told)(?=[:,)}?])|\breadonly (?:met|own|held|found|kept|told)\b/g

/** The counts, each with what it counts. */
export const houseCounts = (sources: ReadonlyArray<CountedFile>): ReadonlyArray<readonly [string, number | string]> => {
  const files = new Map(sources.map((file) => [file.path, file]))
  const importers = Map.groupBy(
    sources.flatMap((file) => [...new Set(importsOf(file))].map((to) => ({ to, from: file.path }))),
    ({ to }) => to
  )
  const lonely = sources.filter(({ path }) => {
    const [only, ...more] = importers.get(path) ?? []
    return only !== undefined && more.length === 0 && dirname(only.from) === dirname(path)
  })
  const [, shown = ""] =
    /export const publicLimits = \{([\s\S]*?)\n\}/.exec(files.get("src/domain/Limits.ts")?.text ?? "") ?? []
  return [
    ["source files / lines", total(sources)],
    ["of it the service (all that Gateway.ts imports)", total(reachable(files, "src/Gateway.ts"))],
    ["files under 40 lines", sources.filter((file) => linesOf(file) < 40).length],
    ["files with one importer, which is in the same folder", lonely.length],
    ["limits that an operator reads", shown.match(/^ {2}\w+: /gm)?.length ?? 0],
    ["ladders (`if (Result.isFailure`)", countOf(sources, /if \(Result\.isFailure/g)],
    ["bare names (met, own, held, found, kept, told)", countOf(sources, bareName)]
  ]
}
