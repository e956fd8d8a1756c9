// Reads JSON: the one parser of the console, values of unknown form, and the lines of faults and of values in a text.
// It must not know what a text means, or any dialect.

/** The value of a text; undefined for a text that is no JSON. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The last is a text without its end. */
const jsonTokens = /"(?:[^"\\\n]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|"/g

type Expected = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end"

/** What may follow a token; undefined for a token that may not be there. `open` has the brackets that are not closed. */
const expectedAfter = (expected: Expected, token: string, open: Array<string>): Expected | undefined => {
  const closes = (token === "}" && open.at(-1) === "{") || (token === "]" && open.at(-1) === "[")
  if (closes && (expected === "comma or end" || expected.endsWith(token))) {
    open.pop()
    return "comma or end"
  }
  if (expected === "comma or end")
    return token !== "," || open.length === 0 ? undefined : open.at(-1) === "{" ? "name" : "value"
  if (expected === "colon") return token === ":" ? "value" : undefined
  if (expected.startsWith("name")) return token.startsWith('"') && readJson(token) !== undefined ? "colon" : undefined
  if (token === "{" || token === "[") {
    open.push(token)
    return token === "{" ? "name or }" : "value or ]"
  }
  return readJson(token) === undefined ? undefined : "comma or end"
}

/** The line, from 1, of the first token that may not be there; undefined for JSON. */
export const jsonFaultLine = (text: string): number | undefined => {
  const open: Array<string> = []
  let expected: Expected = "value"
  for (const { 0: token, index } of text.matchAll(jsonTokens)) {
    const next = expectedAfter(expected, token, open)
    if (next === undefined) return text.slice(0, index).split("\n").length
    expected = next
  }
  return expected === "comma or end" && open.length === 0 ? undefined : text.split("\n").length
}

// Reads values of JSON whose form is not known: what is not of the wanted kind is empty.

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

// The line of a value in a JSON text, for faults that name its path.

/** The names of a path such as `targets[1].provider`. */
const namesOf = (path: string): ReadonlyArray<string> => path.match(/[^.[\]]+/g) ?? []

const pathTokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g

interface Level {
  readonly isArray: boolean
  name: string
  index: number
}

/** The line, from 1, at which the value of a path begins; undefined where the text has no such value. */
export const lineOfPath = (text: string, path: string): number | undefined => {
  const wanted = namesOf(path)
  if (wanted.length === 0) return undefined
  const levels: Array<Level> = []
  const isThere = (): boolean =>
    levels.length === wanted.length &&
    levels.every((level, at) => (level.isArray ? String(level.index) : level.name) === wanted[at])
  let isName = false
  for (const { 0: token, index } of text.matchAll(pathTokens)) {
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
