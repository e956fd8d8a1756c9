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

export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** The last is a text without its end. */
const jsonTokens = /"(?:[^"\\\n]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|"/g

/** Where each value of a text begins, by the names of its path joined by dots, and where the text stops being JSON. */
interface Lines {
  readonly ofValues: ReadonlyMap<string, number>
  readonly fault: number | undefined
}

/** Reads the tokens of a text once, without a stack of calls: a config may be nested deeply. */
const linesOf = (text: string): Lines => {
  const ofValues = new Map<string, number>()
  const open: Array<{ readonly end: "}" | "]"; name: string; index: number }> = []
  let expected: "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end" = "value"
  let [line, read] = [1, 0]
  for (const { 0: token, index } of text.matchAll(jsonTokens)) {
    line += text.slice(read, index).split("\n").length - 1
    read = index
    const level = open.at(-1)
    if (token === level?.end && expected.endsWith("end")) {
      open.pop()
      expected = "comma or end"
    } else if (expected === "comma or end" && token === "," && level !== undefined) {
      level.index++
      expected = level.end === "}" ? "name" : "value"
    } else if (expected.startsWith("name") && level !== undefined && token.startsWith('"')) {
      const name = readJson(token)
      if (typeof name !== "string") return { ofValues, fault: line }
      level.name = name
      expected = "colon"
    } else if (expected === "colon" && token === ":") expected = "value"
    else if (expected.startsWith("value") && (token === "{" || token === "[" || readJson(token) !== undefined)) {
      ofValues.set(open.map(({ end, index: at, name }) => (end === "]" ? at : name)).join("."), line)
      if (token === "{" || token === "[") open.push({ end: token === "{" ? "}" : "]", name: "", index: 0 })
      expected = token === "{" ? "name or end" : token === "[" ? "value or end" : "comma or end"
    } else return { ofValues, fault: line }
  }
  return { ofValues, fault: expected === "comma or end" && open.length === 0 ? undefined : text.split("\n").length }
}

/** The line, from 1, of the first token that may not be there; undefined for JSON. */
export const jsonFaultLine = (text: string): number | undefined => linesOf(text).fault

/** The line, from 1, at which the value of a path such as `targets[1].provider` begins; undefined where there is none. */
export const lineOfPath = (text: string, path: string): number | undefined => {
  const names = path.match(/[^.[\]]+/g)
  return names === null ? undefined : linesOf(text).ofValues.get(names.join("."))
}
