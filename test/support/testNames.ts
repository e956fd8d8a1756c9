// Reads the titles of the tests in a test file from its source, patterns of tables and templates included.
// Must not depend on a particular test.
import { parseAst } from "vitest/node"

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

/** The name at the left of a call: `it` for `it(...)`, `it.each(...)(...)`, `it.live.each(...)(...)`. */
const rootOf = (callee: unknown): string | undefined => {
  if (!isNode(callee)) return undefined
  if (callee.type === "Identifier") return String(callee["name"])
  return rootOf(callee["callee"] ?? callee["object"])
}

export const testNames = (text: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!isNode(value)) return
    const first = Array.isArray(value["arguments"]) ? value["arguments"][0] : undefined
    if (value.type === "CallExpression" && rootOf(value["callee"]) === "it" && isNode(first)) {
      if (first.type === "Literal" && typeof first["value"] === "string") names.push(first["value"])
      if (first.type === "TemplateLiteral") names.push(text.slice(first.start + 1, first.end - 1))
    }
    Object.values(value).forEach(visit)
  }
  visit(parseAst(text, { lang: "ts" }))
  return names
}
