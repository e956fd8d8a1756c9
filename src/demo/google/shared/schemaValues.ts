// Makes values that fit a JSON Schema or Google's OpenAPI subset, taken from the prompt where it offers some.
// Must not depend on requests or tools. It is deterministic, and its depth is bounded.

import type { JsonSchema } from "./generateRequest.ts"

export interface Hints {
  /** The text of the prompt. */
  readonly text: string
  /** The place for this value, if the prompt names several. */
  readonly place: string | undefined
  /** `all` for JSON answers; `required` for tool arguments: only required properties, if the schema names any. */
  readonly properties: "all" | "required"
}

const capital = "\\p{Lu}[\\p{L}'’-]*"
const name = `${capital}(?:\\s+${capital})*`
const places = new RegExp(
  `\\b(?:in|for|at|near|of|between|from|to)\\s+(${name}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|\\s+or\\s+)${name})*)`,
  "gu"
)

/** Places in the prompt: capitalised words after "in", "for", "near" and the like, or the word after "in". */
export const placesIn = (text: string): ReadonlyArray<string> => {
  const found = [...text.matchAll(places)].flatMap((match) =>
    (match[1] ?? "").split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+/u)
  )
  if (found.length > 0) return [...new Set(found)]
  const plain = /\bin\s+([\p{L}-]+)/u.exec(text)?.[1]
  return plain === undefined ? [] : [plain]
}

const numbersIn = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map((match) => Number(match[0]))

interface Walk {
  readonly hints: Hints
  readonly root: JsonSchema
  readonly numbers: Array<number>
}

const resolve = (schema: JsonSchema, root: JsonSchema): JsonSchema => {
  const pointer = schema.$ref ?? schema.ref
  if (pointer === undefined) return schema
  if (pointer === "#") return root
  const key = pointer.split("/").at(-1) ?? ""
  return root.$defs?.[key] ?? root.definitions?.[key] ?? root.defs?.[key] ?? {}
}

const typeOf = (schema: JsonSchema): string => {
  const listed = Array.isArray(schema.type) ? schema.type.find((type: string) => type !== "null") : schema.type
  if (typeof listed === "string" && listed !== "TYPE_UNSPECIFIED") return listed.toLowerCase()
  if (schema.properties !== undefined) return "object"
  return schema.items !== undefined || schema.prefixItems !== undefined ? "array" : "string"
}

const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-01-15T09:30:00Z",
  date: "2026-01-15",
  time: "09:30:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "123e4567-e89b-42d3-a456-426614174000"
}

const stringFor = (key: string, schema: JsonSchema, { text, place }: Hints): string => {
  const format = schema.format?.toLowerCase() ?? ""
  const word = key.toLowerCase()
  if (byFormat[format] !== undefined) return byFormat[format]
  if (/city|location|place|destination|town|address|origin|country/.test(word)) return place ?? "Paris"
  if (/e-?mail/.test(word)) return /\S+@\S+\.\w+/.exec(text)?.[0] ?? "ada@example.com"
  if (/url|link|uri/.test(word)) return /https?:\/\/\S+/.exec(text)?.[0] ?? "https://example.com/"
  if (/date|day/.test(word)) return /\d{4}-\d{2}-\d{2}/.exec(text)?.[0] ?? "2026-01-15"
  if (/expression|formula|equation/.test(word)) return /[\d(][\d\s.+*/()^-]*[\d)]/.exec(text)?.[0] ?? "1 + 1"
  const quoted = /["“']([^"”']+)["”']/.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  if (/query|question|text|prompt|message|input|content|search|answer|summary|description/.test(word))
    return text === "" ? "nothing" : text
  return place ?? (key === "" ? text || "text" : `a ${key.replaceAll("_", " ")}`)
}

const withinLength = (value: string, schema: JsonSchema): string =>
  value.slice(0, Number(schema.maxLength ?? value.length)).padEnd(Number(schema.minLength ?? 0), ".")

const numberFor = (schema: JsonSchema, walk: Walk, whole: boolean): number => {
  const value = walk.numbers.shift() ?? schema.minimum ?? Math.min(1, schema.maximum ?? 1)
  const bounded = Math.min(schema.maximum ?? value, Math.max(schema.minimum ?? value, value))
  return whole ? Math.round(bounded) : bounded
}

const objectFor = (schema: JsonSchema, walk: Walk, depth: number): Record<string, unknown> => {
  const properties = schema.properties ?? {}
  const required = schema.required ?? []
  const named = schema.propertyOrdering ?? Object.keys(properties)
  const wanted =
    walk.hints.properties === "required" && required.length > 0 ? named.filter((key) => required.includes(key)) : named
  const entries = wanted.flatMap((key) => {
    const property = properties[key]
    // Optional properties are omitted below depth 4, so a recursive schema ends.
    if (property === undefined || (depth > 4 && !required.includes(key))) return []
    return [[key, valueFor(key, property, walk, depth + 1)] as const]
  })
  return Object.fromEntries(entries)
}

const arrayFor = (key: string, schema: JsonSchema, walk: Walk, depth: number): ReadonlyArray<unknown> => {
  if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => valueFor(key, item, walk, depth + 1))
  const length = Math.max(Number(schema.minItems ?? 0), depth > 4 ? 0 : 1)
  return Array.from({ length: Math.min(length, 100) }, () => valueFor(key, schema.items ?? {}, walk, depth + 1))
}

const valueFor = (key: string, unresolved: JsonSchema, walk: Walk, depth: number): unknown => {
  const schema = resolve(unresolved, walk.root)
  if (depth > 12) return null
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined && schema.enum.length > 0) {
    const words = walk.hints.text.toLowerCase()
    return schema.enum.find((word) => typeof word === "string" && words.includes(word.toLowerCase())) ?? schema.enum[0]
  }
  const branches = (schema.anyOf ?? schema.oneOf)?.map((branch) => resolve(branch, walk.root))
  const branch = branches?.find((candidate) => candidate.type !== "null" && candidate.type !== "NULL")
  if (branch !== undefined) return valueFor(key, branch, walk, depth + 1)
  if (schema.allOf !== undefined) {
    return Object.assign(
      {},
      objectFor(schema, walk, depth),
      ...schema.allOf.map((part) => valueFor(key, part, walk, depth + 1))
    )
  }
  const type = typeOf(schema)
  if (type === "object") return objectFor(schema, walk, depth)
  if (type === "array") return arrayFor(key, schema, walk, depth)
  if (schema.default !== undefined) return schema.default
  if (type === "integer" || type === "number") return numberFor(schema, walk, type === "integer")
  if (type === "boolean") return true
  if (type === "null") return null
  return withinLength(stringFor(key, schema, walk.hints), schema)
}

/** A value of `schema`; uses the numbers of the prompt in order, and enum values that the prompt contains. */
export const synthesise = (schema: JsonSchema, hints: Hints): unknown =>
  valueFor("", schema, { hints, root: schema, numbers: [...numbersIn(hints.text)] }, 0)
