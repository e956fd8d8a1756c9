// Converts a JSON schema to the subset that Claude's own structured output enforces.
// Must not depend on tools or requests. Source: Anthropic, structured outputs, "JSON Schema limitations"; M-421.
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"

interface NativeSchema {
  readonly schema: JsonObject
  /** True when a constraint became part of a description, because the model does not enforce it. */
  readonly loosened: boolean
}

const mostOptional = 10

/** Undefined for a schema with recursion, open maps, unnamed types or over 10 optional members. */
export const nativeSchema = (schema: JsonObject): NativeSchema | undefined => {
  const walk: Walk = { optional: 0, loosened: false, refs: new Map() }
  const converted = convert(schema, root, walk)
  if (converted === undefined || walk.optional > mostOptional || isCyclic(walk.refs)) return undefined
  return { schema: converted, loosened: walk.loosened }
}

/** Counts and references found on the way; mutated by one conversion only. */
interface Walk {
  optional: number
  loosened: boolean
  /** By definition, the definitions it refers to. */
  readonly refs: Map<string, Set<string>>
}

/** The place of everything outside a definition. */
const root = "#"

/** Keywords that keep their value. */
const copied = new Set(["type", "enum", "const", "title", "default", "required"])
/** Keywords without an effect on the answer. */
const dropped = new Set(["$schema", "$id", "$comment", "discriminator", "deprecated", "readOnly", "writeOnly"])
/** Keywords with schemas inside that the subset lacks. */
const foreign = new Set([
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "propertyNames",
  "dependentSchemas",
  "dependencies",
  "prefixItems",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems"
])
const formats = new Set<Json | undefined>([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid"
])

const typesOf = ({ type }: JsonObject): ReadonlyArray<Json> =>
  Array.isArray(type) ? type : type === undefined ? [] : [type]

const isObjectSchema = (schema: JsonObject): boolean =>
  typesOf(schema).includes("object") || isJsonObject(schema["properties"])

/** A schema needs a type, or a keyword that stands for one. */
const isNamed = (schema: JsonObject): boolean =>
  ["type", "properties", "enum", "const", "anyOf", "oneOf", "allOf"].some((word) => schema[word] !== undefined)

type Fields = { [name: string]: Json }

const convert = (schema: Json | undefined, place: string, walk: Walk): JsonObject | undefined => {
  if (!isJsonObject(schema)) return undefined
  const out: Fields = {}
  for (const name of ["$defs", "definitions"]) {
    if (schema[name] === undefined) continue
    const defs = convertNamed(schema[name], (key) => `#/${name}/${key}`, walk)
    if (defs === undefined) return undefined
    out[name] = defs
  }
  const { $ref: ref } = schema
  if (ref !== undefined) return refer(ref, place, walk) ? { ...out, $ref: ref } : undefined
  if (!isNamed(schema)) return undefined
  const bounds: Array<string> = []
  for (const [name, value = null] of Object.entries(schema)) {
    if (foreign.has(name)) return undefined
    if (copied.has(name)) out[name] = value
    else if (!structural.has(name) && !dropped.has(name)) {
      if (isEnforced(name, value)) out[name] = value
      else bounds.push(`${name}: ${JSON.stringify(value)}`)
    }
  }
  const inner = convertInner(schema, place, walk)
  if (inner === undefined) return undefined
  if (bounds.length > 0) walk.loosened = true
  const description = [schema["description"], ...(bounds.length === 0 ? [] : [`{${bounds.join(", ")}}`])]
    .filter((text) => typeof text === "string" && text !== "")
    .join("\n\n")
  return { ...out, ...inner, ...(description === "" ? {} : { description }) }
}

const structural = new Set([
  "$defs",
  "definitions",
  "description",
  "properties",
  "additionalProperties",
  "items",
  "anyOf",
  "oneOf",
  "allOf"
])

const isEnforced = (name: string, value: Json): boolean =>
  name === "format" ? formats.has(value) : name === "minItems" && (value === 0 || value === 1)

const convertInner = (schema: JsonObject, place: string, walk: Walk): JsonObject | undefined => {
  const out: Fields = {}
  if (isObjectSchema(schema)) {
    const object = convertObject(schema, place, walk)
    if (object === undefined) return undefined
    Object.assign(out, object)
  }
  if (schema["items"] !== undefined) {
    const items = convert(schema["items"], place, walk)
    if (items === undefined) return undefined
    out["items"] = items
  }
  for (const [name, as] of [
    ["anyOf", "anyOf"],
    ["oneOf", "anyOf"],
    ["allOf", "allOf"]
  ] as const) {
    const list = schema[name]
    if (list === undefined) continue
    const variants = Array.isArray(list) ? list.map((one) => convert(one, place, walk)) : [undefined]
    if (out[as] !== undefined || !variants.every((one) => one !== undefined)) return undefined
    out[as] = variants
  }
  return out
}

/** An object without members, or with members of any name, is an open map. */
const convertObject = (schema: JsonObject, place: string, walk: Walk): JsonObject | undefined => {
  const { additionalProperties: others, properties, required } = schema
  if (others !== undefined && others !== false) return undefined
  if (properties === undefined) return others === false ? { additionalProperties: false } : undefined
  const members = convertNamed(properties, () => place, walk)
  if (members === undefined || (others === undefined && Object.keys(members).length === 0)) return undefined
  const needed = new Set(Array.isArray(required) ? required : [])
  walk.optional += Object.keys(members).filter((name) => !needed.has(name)).length
  return { properties: members, additionalProperties: false }
}

const convertNamed = (
  schemas: Json | undefined,
  placeOf: (name: string) => string,
  walk: Walk
): JsonObject | undefined => {
  if (!isJsonObject(schemas)) return undefined
  const out: Array<readonly [string, JsonObject]> = []
  for (const [name, schema] of Object.entries(schemas)) {
    const converted = convert(schema, placeOf(name), walk)
    if (converted === undefined) return undefined
    out.push([name, converted])
  }
  return Object.fromEntries(out)
}

/** False for a reference to the whole schema or to another document. */
const refer = (ref: Json, place: string, { refs }: Walk): boolean => {
  if (typeof ref !== "string" || !/^#\/(\$defs|definitions)\/[^/]+$/.test(ref)) return false
  const from = refs.get(place)
  if (from === undefined) refs.set(place, new Set([ref]))
  else from.add(ref)
  return true
}

/** Removes definitions without a reference to them, again and again; what stays is part of a cycle or below one. */
const isCyclic = (refs: ReadonlyMap<string, ReadonlySet<string>>): boolean => {
  const incoming = new Map<string, number>()
  for (const targets of refs.values())
    for (const target of targets) incoming.set(target, (incoming.get(target) ?? 0) + 1)
  const free = [...refs.keys()].filter((place) => !incoming.has(place))
  let left = refs.size
  for (let place = free.pop(); place !== undefined; place = free.pop()) {
    const targets = refs.get(place)
    if (targets === undefined) continue
    left--
    for (const target of targets) {
      const count = (incoming.get(target) ?? 0) - 1
      incoming.set(target, count)
      if (count === 0) free.push(target)
    }
  }
  return left > 0
}
