// The line of a value in a JSON text, for faults that name its path.
// Must not know what the text is for.

/** The names of a path such as `targets[1].provider`. */
const namesOf = (path: string): ReadonlyArray<string> => path.match(/[^.[\]]+/g) ?? []

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g

interface Level {
  readonly isArray: boolean
  name: string
  index: number
}

/** The line, from 1, at which the value of a path begins; undefined where the text has no such value. */
export const lineOf = (text: string, path: string): number | undefined => {
  const wanted = namesOf(path)
  if (wanted.length === 0) return undefined
  const levels: Array<Level> = []
  const isThere = (): boolean =>
    levels.length === wanted.length &&
    levels.every((level, at) => (level.isArray ? String(level.index) : level.name) === wanted[at])
  let isName = false
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const level = levels.at(-1)
    if (token === ",") {
      if (level !== undefined) level.index++
      isName = level?.isArray === false
    } else if (token === "}" || token === "]") {
      levels.pop()
      isName = false
    } else if (isName && level !== undefined && token.startsWith('"')) {
      level.name = token.slice(1, -1)
      isName = false
    } else if (token !== ":") {
      if (isThere()) return text.slice(0, index).split("\n").length
      if (token === "{" || token === "[") {
        levels.push({ isArray: token === "[", name: "", index: 0 })
        isName = token === "{"
      }
    }
  }
  return undefined
}
