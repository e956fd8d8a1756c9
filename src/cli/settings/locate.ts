// Finds the line and column of a key in YAML or JSON text, for parsers that report none.
// Must not know the schema. For text it cannot follow it returns the nearest position above.
import type { FaultPath } from "../../domain/faults.ts"

/** Both count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

const positionOf = (text: string, offset: number): Position => {
  const before = text.slice(0, offset).split("\n")
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const indentOf = (row: string): number => row.length - row.trimStart().length
const isIgnored = (row: string): boolean => /^\s*(#.*|---\s*)?$/.test(row)
const isItem = (row: string): boolean => /^\s*-(\s|$)/.test(row)
const unquote = (key: string): string => (/^(["']).*\1$/.test(key) ? key.slice(1, -1) : key)

/** Offset after the quoted or plain flow token that starts at `from`. */
const tokenEnd = (text: string, from: number): number => {
  const quote = text[from]
  if (quote !== '"' && quote !== "'") {
    const length = text.slice(from).search(/[,:{}[\]\n]/)
    return length < 0 ? text.length : from + length
  }
  let end = from + 1
  while (end < text.length && text[end] !== quote) end += text[end] === "\\" && quote === '"' ? 2 : 1
  return end + 1
}

/** Offset of the comma or bracket that ends the flow value at `from`. */
const valueEnd = (text: string, from: number): number => {
  let depth = 0
  let at = from
  while (at < text.length) {
    const char = text[at] ?? ""
    if (depth === 0 && ",}]".includes(char)) return at
    if ("{[".includes(char)) depth++
    if ("}]".includes(char)) depth--
    at = char === '"' || char === "'" ? tokenEnd(text, at) : at + 1
  }
  return at
}

const skipBlank = (text: string, from: number): number =>
  from + (/^(\s|,|#[^\n]*\n)*/.exec(text.slice(from))?.[0].length ?? 0)

/** Follows the path inside the flow collection at `from`. Returns the offset of the last part found. */
const locateFlow = (text: string, from: number, path: FaultPath): number | undefined => {
  const [part, ...rest] = path
  let at = skipBlank(text, from + 1)
  for (let index = 0; at < text.length && !"}]".includes(text[at] ?? ""); index++) {
    let name: string | number = index
    let value = at
    if (text[from] === "{") {
      const end = tokenEnd(text, at)
      name = unquote(text.slice(at, end).trim())
      value = skipBlank(text, text.indexOf(":", end) + 1)
    }
    if (name === part) {
      const below = rest.length > 0 && "{[".includes(text[value] ?? "") ? locateFlow(text, value, rest) : undefined
      return below ?? at
    }
    at = skipBlank(text, valueEnd(text, value))
  }
  return undefined
}

const keyOf = (row: string): string => unquote(/^\s*("[^"]*"|'[^']*'|[^:]*?)\s*:(\s|$)/.exec(row)?.[1] ?? "")

/** The row with its dash or key replaced by spaces, so that the rest reads as a block of its own. */
const blankPart = (row: string, part: string | number): string => {
  const length = typeof part === "number" ? indentOf(row) + 1 : row.indexOf(":", row.indexOf(part) + part.length) + 1
  return " ".repeat(length) + row.slice(length)
}

/** Line and column of the deepest part of the path that exists in the text. */
export const locatePath = (text: string, path: FaultPath): Position | undefined => {
  const rows = text.split("\n")
  let [from, to] = [0, rows.length]
  let found: Position | undefined
  for (const [depth, part] of path.entries()) {
    while (from < to && isIgnored(rows[from] ?? "")) from++
    const first = rows[from] ?? ""
    const indent = indentOf(first)
    if (from < to && "{[".includes(first[indent] ?? " ")) {
      const offset = locateFlow(
        text,
        text.split("\n", from).join("\n").length + Math.min(from, 1) + indent,
        path.slice(depth)
      )
      return offset === undefined ? found : positionOf(text, offset)
    }
    const ends = (row: string) =>
      !isIgnored(row) &&
      (indentOf(row) < indent || (indentOf(row) === indent && isItem(row) === (typeof part === "number")))
    let seen = -1
    const line = rows.findIndex(
      (row, index) =>
        index >= from &&
        index < to &&
        indentOf(row) === indent &&
        !isIgnored(row) &&
        (typeof part === "number" ? isItem(row) && ++seen === part : !isItem(row) && keyOf(row) === part)
    )
    if (line < 0) return found
    found = { line: line + 1, column: indent + 1 }
    const next = rows.findIndex((row, index) => index > line && index < to && ends(row))
    rows[line] = blankPart(rows[line] ?? "", part)
    ;[from, to] = [line, next < 0 ? to : next]
  }
  return found
}
