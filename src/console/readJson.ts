// Reads JSON: the one reader of the console, and the line at which a text stops being JSON.
// Must not know what a text means.

/** The value of a text; undefined for a text that is no JSON. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The last is a text without its end. */
const tokens = /"(?:[^"\\\n]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|"/g

type Expected = "value" | "value or ]" | "name" | "name or }" | "colon" | "comma or end"

/** What may follow a token; undefined for a token that may not be there. `open` has the brackets that are not closed. */
const after = (expected: Expected, token: string, open: Array<string>): Expected | undefined => {
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
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const next = after(expected, token, open)
    if (next === undefined) return text.slice(0, index).split("\n").length
    expected = next
  }
  return expected === "comma or end" && open.length === 0 ? undefined : text.split("\n").length
}
