// Reduces the schema of a tool to what Claude takes: an object at the root, legal names, the newest draft of JSON Schema.
// Must not depend on a tool's name. What is lost is stated in words (W30).
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import { legalName, type NameGrammar } from "../shared/chat-request/toolCalls.ts"

export interface InputSchema {
  readonly schema: JsonObject
  /** For the description of the tool. */
  readonly words: ReadonlyArray<string>
}

/** Source: Anthropic Messages API, "Property keys should match pattern". */
const propertyNames: NameGrammar = {
  legal: /^[A-Za-z0-9_.-]{1,64}$/,
  illegal: /[^A-Za-z0-9_.-]/gu,
  start: /^/
}

/** The name of a property as Claude takes it. */
const sentProperty = (name: string): string => legalName(name, propertyNames)

const longestWords = 1_000
const mostRefs = 32

/** The same object where nothing is to be changed. */
export const inputSchema = (given: JsonObject): InputSchema => {
  const words: Array<string> = []
  const root = rootOf(given, words)
  const schema = reduced(root, words)
  return { schema: isJsonObject(schema) ? schema : { type: "object" }, words }
}

const combinators = [
  ["anyOf", "at least one"],
  ["oneOf", "exactly one"]
] as const

/** The root is one object: references are followed, `allOf` is merged, and alternatives give all of their properties. */
const rootOf = (given: JsonObject, words: Array<string>): JsonObject => {
  const isPlain = given["type"] === "object" || given["type"] === undefined
  if (isPlain && ["$ref", "allOf", "anyOf", "oneOf"].every((name) => given[name] === undefined))
    return given["type"] === "object" ? given : { type: "object", ...given }
  const { type, ...root } = flattened(given, given, 0)
  const out: Record<string, Json | undefined> = { type: "object", ...root }
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && type.includes("object")))
    words.push(`The arguments were declared as ${JSON.stringify(type)}.`)
  for (const [name, count] of combinators) {
    const branches = out[name]
    delete out[name]
    if (!Array.isArray(branches)) continue
    const read = branches.filter(isJsonObject).map((branch) => flattened(branch, given, 0))
    const listed = branches.map((branch) => JSON.stringify(branch)).join(" or ")
    words.push(`The arguments match ${count} of: ${listed.slice(0, longestWords)}.`)
    out["properties"] = { ...propertiesOf(read), ...(isJsonObject(out["properties"]) ? out["properties"] : {}) }
    const common = commonNames(read)
    if (common.length > 0) out["required"] = [...new Set([...namesIn(out["required"]), ...common])]
  }
  return out
}

const namesIn = (required: Json | undefined): ReadonlyArray<Json> => (Array.isArray(required) ? required : [])

/** All properties; one that differs among the schemas has all their forms. */
const propertiesOf = (schemas: ReadonlyArray<JsonObject>): JsonObject => {
  const forms = new Map<string, Array<Json>>()
  for (const { properties } of schemas)
    for (const [name, schema = true] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const known = forms.get(name)
      if (known === undefined) forms.set(name, [schema])
      else if (known.every((form) => JSON.stringify(form) !== JSON.stringify(schema))) known.push(schema)
    }
  return Object.fromEntries(
    [...forms].map(([name, [first = true, ...others]]) => [
      name,
      others.length === 0 ? first : { anyOf: [first, ...others] }
    ])
  )
}

const commonNames = ([first, ...others]: ReadonlyArray<JsonObject>): ReadonlyArray<Json> =>
  namesIn(first?.["required"]).filter((name) => others.every(({ required }) => namesIn(required).includes(name)))

/** Without a reference and `allOf` at the top of the schema. */
const flattened = (schema: JsonObject, root: JsonObject, depth: number): JsonObject => {
  const { $ref: ref, allOf, ...rest } = schema
  if (depth > mostRefs || (typeof ref !== "string" && !Array.isArray(allOf))) return rest
  const members = [
    ...(typeof ref === "string" ? [targetOf(root, ref)] : []),
    ...(Array.isArray(allOf) ? allOf : [])
  ].filter(isJsonObject)
  const parts = [...members.map((member) => flattened(member, root, depth + 1)), rest]
  const required = [...new Set(parts.flatMap((part) => namesIn(part["required"])))]
  return {
    ...Object.assign({}, ...parts),
    ...(parts.some(({ properties }) => isJsonObject(properties))
      ? {
          properties: Object.assign({}, ...parts.map(({ properties }) => (isJsonObject(properties) ? properties : {})))
        }
      : {}),
    ...(required.length === 0 ? {} : { required })
  }
}

/** The schema at a local pointer. */
const targetOf = (root: JsonObject, ref: string): Json | undefined => {
  if (ref === "#") return root
  if (!ref.startsWith("#/")) return undefined
  return ref
    .slice(2)
    .split("/")
    .reduce<Json | undefined>((at, token) => {
      const name = token.replaceAll("~1", "/").replaceAll("~0", "~")
      return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
    }, root)
}

const types: ReadonlySet<Json> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"])
const named: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas"
])
/** Values are data, not schemas. */
const opaque: ReadonlySet<string> = new Set(["enum", "const", "default", "examples", "example"])

/** A schema in the newest draft; the same value where nothing changes. */
const reduced = (schema: Json | undefined, words: Array<string>): Json => {
  if (Array.isArray(schema))
    return same(
      schema,
      schema.map((member) => reduced(member, words))
    )
  if (!isJsonObject(schema)) return schema ?? null
  const out: Record<string, Json> = {}
  for (const [name, value = null] of Object.entries(schema)) {
    if (opaque.has(name)) out[name] = value
    else if (name === "type") put(out, name, knownTypes(value))
    else if (name === "required") put(out, name, Array.isArray(value) ? sameNames(value) : undefined)
    else if (named.has(name)) out[name] = reducedNamed(name, value, words)
    // Before draft 2020-12, the list of a tuple was in `items`, and what follows it in `additionalItems`.
    else if (name === "items" && Array.isArray(value)) out["prefixItems"] = reduced(value, words)
    else if (name === "additionalItems")
      put(out, "items", Array.isArray(schema["items"]) ? reduced(value, words) : undefined)
    // In draft 4 these were flags of the bounds.
    else if (typeof value === "boolean" && (name === "exclusiveMinimum" || name === "exclusiveMaximum"))
      put(out, name, value ? schema[name === "exclusiveMinimum" ? "minimum" : "maximum"] : undefined)
    else if (name === "$ref" && typeof value === "string" && !value.startsWith("#"))
      words.push(`See ${value.slice(0, 200)}.`)
    else out[name] = isJsonObject(value) || Array.isArray(value) ? reduced(value, words) : value
  }
  return sameObject(schema, out)
}

const put = (out: Record<string, Json>, name: string, value: Json | undefined): void => {
  if (value !== undefined) out[name] = value
}

const knownTypes = (value: Json): Json | undefined => {
  if (typeof value === "string")
    return types.has(value) ? value : types.has(value.toLowerCase()) ? value.toLowerCase() : undefined
  if (!Array.isArray(value)) return undefined
  const known = value.filter((word) => types.has(word))
  return known.length === value.length ? value : known.length === 0 ? undefined : known
}

const sameNames = (required: ReadonlyArray<Json>): Json =>
  same(
    required,
    required.map((name) => (typeof name === "string" ? sentProperty(name) : name))
  )

const reducedNamed = (keyword: string, value: Json, words: Array<string>): Json => {
  if (!isJsonObject(value)) return {}
  const out: Record<string, Json> = {}
  for (const [name, schema = true] of Object.entries(value)) {
    const sent = keyword === "properties" ? sentProperty(name) : name
    const inner = reduced(schema, words)
    out[sent] = sent === name ? inner : describedAs(name, inner)
  }
  return sameObject(value, out)
}

/** A property whose name was changed states its own one. */
const describedAs = (name: string, schema: Json): Json => {
  const keywords = isJsonObject(schema) ? schema : {}
  const before =
    typeof keywords["description"] === "string" && keywords["description"] !== ""
      ? `${keywords["description"]}\n\n`
      : ""
  return { ...keywords, description: `${before}The property ${JSON.stringify(name)}.` }
}

const same = (before: ReadonlyArray<Json>, after: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  before.every((value, at) => value === after[at]) ? before : after

const sameObject = (before: JsonObject, after: JsonObject): JsonObject => {
  const names = Object.keys(before)
  return names.length === Object.keys(after).length && names.every((name) => before[name] === after[name])
    ? before
    : after
}

/** By the name that is sent, the client's own name of each property that is sent under another one. */
export const renamedProperties = (schema: Json | undefined): ReadonlyMap<string, string> | undefined => {
  const renamed = new Map<string, string>()
  const open: Array<Json> = schema === undefined ? [] : [schema]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) for (const inner of value) open.push(inner)
    if (!isJsonObject(value)) continue
    const { properties } = value
    if (isJsonObject(properties))
      for (const name of Object.keys(properties)) {
        const sent = sentProperty(name)
        if (sent !== name) renamed.set(sent, name)
      }
    for (const [name, inner] of Object.entries(value)) if (inner !== undefined && !opaque.has(name)) open.push(inner)
  }
  return renamed.size === 0 ? undefined : renamed
}

/** A value with the members of its objects renamed. */
export const withNames = (value: Json, rename: (name: string) => string): Json => {
  if (Array.isArray(value)) return value.map((inner) => withNames(inner, rename))
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner = null]) => [rename(name), withNames(inner, rename)]))
    : value
}
