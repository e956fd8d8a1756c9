// JSON schema for models that read JSON schema: almost as the client wrote it.
// It must not know the older OpenAPI subset.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../../../domain/text/json.ts"
import {
  below,
  copy,
  enter,
  enumMembers,
  fail,
  listKeywords,
  mapKeywords,
  merge,
  requiredOf,
  resolveRef,
  singleKeywords,
  start,
  startWalk,
  typeOfAll,
  type Place,
  type SchemaBounds,
  type Walk
} from "./schema.ts"

/** Keywords that Google does not know and that carry no constraint. */
const dropped: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "discriminator",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly"
])

/** Cleans a schema for `parametersJsonSchema` and `responseJsonSchema`; the failure is one sentence. */
export const lightSchema = (schema: JsonObject, bounds: SchemaBounds): Result.Result<JsonObject, string> => {
  const walk = startWalk(schema, bounds)
  const [root, refs] = rootOf(walk)
  const cleaned = node(walk, root, { ...start, refs })
  return walk.fault === undefined ? Result.succeed(cleaned) : Result.fail(walk.fault)
}

/** The schema in the place of a reference to it. */
const copied = (walk: Walk, ref: string): JsonObject => {
  const target = resolveRef(walk, ref) ?? {}
  copy(walk, target)
  return target
}

/** The root itself must be a schema, not a reference to one; its definitions stay reachable. */
const rootOf = (walk: Walk): readonly [JsonObject, ReadonlyArray<string>] => {
  let current = walk.root
  const refs: Array<string> = []
  while (typeof current["$ref"] === "string" && walk.fault === undefined) {
    const { $ref, ...rest } = current
    if (typeof $ref !== "string" || refs.includes($ref) || refs.length > walk.maxDepth) {
      fail(walk, "the references of the root never end")
      break
    }
    refs.push($ref)
    current = merge(walk, [copied(walk, $ref), rest], false)
  }
  return [current, refs]
}

const node = (walk: Walk, source: JsonObject, place: Place, isProperty = false): JsonObject => {
  if (!enter(walk, place)) return {}
  if (typeof source["$ref"] === "string") return reference(walk, source, source["$ref"], place)
  const [schema, refs] = withoutAllOf(walk, source, place.refs)
  const inner = below(place, refs)
  const out: Array<readonly [string, Json | undefined]> = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (dropped.has(keyword) || keyword.startsWith("x-") || (keyword === "title" && isProperty)) continue
    if (keyword === "const") {
      if (schema["enum"] === undefined) out.push(...constant(schema, value))
    } else if (keyword === "definitions") {
      if (schema["$defs"] === undefined) out.push(["$defs", mapOf(walk, value, keyword, inner)])
    } else if (keyword === "$defs" && isJsonObject(value) && isJsonObject(schema["definitions"])) {
      out.push(["$defs", mapOf(walk, { ...schema["definitions"], ...value }, keyword, inner)])
    } else if (mapKeywords.has(keyword)) out.push([keyword, mapOf(walk, value, keyword, inner)])
    else if (keyword === "items" && Array.isArray(value)) out.push(["prefixItems", listOf(walk, value, inner)])
    else if (listKeywords.has(keyword)) out.push([keyword, listOf(walk, value, inner)])
    else if (singleKeywords.has(keyword)) out.push([keyword, isJsonObject(value) ? node(walk, value, inner) : value])
    else if (keyword === "required") out.push([keyword, requiredOf(value, withoutFalse(schema["properties"]))])
    else if (keyword === "enum" && Array.isArray(value)) out.push([keyword, orNothing(enumMembers(value))])
    else out.push([keyword, value])
  }
  return Object.fromEntries(out.filter(([, value]) => value !== undefined))
}

const orNothing = (members: ReadonlyArray<Json>): Json | undefined => (members.length === 0 ? undefined : members)

const constant = (schema: JsonObject, value: Json | undefined): ReadonlyArray<readonly [string, Json | undefined]> => {
  const type = schema["type"] === undefined ? typeOfAll([value ?? null]) : undefined
  const members = orNothing(enumMembers([value ?? null]))
  return type === undefined
    ? [["enum", members]]
    : [
        ["type", type],
        ["enum", members]
      ]
}

/** Google takes no sibling of `$ref` but those that start with `$`. */
const reference = (walk: Walk, source: JsonObject, ref: string, place: Place): JsonObject => {
  resolveRef(walk, ref)
  const siblings = Object.fromEntries(
    Object.entries(source).filter(([keyword]) => keyword.startsWith("$") || keyword === "definitions")
  )
  const { $ref: _, ...rest } = siblings
  return { $ref: rewritten(ref), ...node(walk, rest, below(place)) }
}

/** `#/definitions/X` as `#/$defs/X`; a property or definition of that name is left alone. */
const rewritten = (ref: string): string => {
  let isName = false
  return ref
    .split("/")
    .map((token) => {
      const keyword = !isName
      isName = keyword && mapKeywords.has(token)
      return keyword && token === "definitions" ? "$defs" : token
    })
    .join("/")
}

/** The members of `allOf` merged under the schema's own words; left alone when that would never end. */
const withoutAllOf = (
  walk: Walk,
  source: JsonObject,
  refs: ReadonlyArray<string>
): readonly [JsonObject, ReadonlyArray<string>] => {
  const { allOf, ...own } = source
  if (!Array.isArray(allOf)) return [source, refs]
  const parts: Array<JsonObject> = []
  const seen = new Set(refs)
  for (const member of allOf) {
    if (!enter(walk, { depth: 0, refs }) || !isJsonObject(member)) continue
    let path = refs
    let current: JsonObject = member
    while (typeof current["$ref"] === "string" && walk.fault === undefined) {
      const { $ref, ...rest } = current
      if (typeof $ref !== "string" || path.includes($ref) || path.length > walk.maxDepth) return [source, refs]
      path = path.concat($ref)
      current = merge(walk, [copied(walk, $ref), rest], false)
    }
    const [flat, further] = withoutAllOf(walk, current, path)
    if ("allOf" in flat) return [source, refs]
    for (const ref of further) seen.add(ref)
    parts.push(flat)
  }
  return [merge(walk, [...parts, own], true), [...seen]]
}

const withoutFalse = (properties: Json | undefined): Json | undefined =>
  isJsonObject(properties)
    ? Object.fromEntries(Object.entries(properties).filter(([, schema]) => schema !== false))
    : undefined

const mapOf = (walk: Walk, value: Json | undefined, keyword: string, place: Place): Json | undefined => {
  if (!isJsonObject(value)) {
    fail(walk, `${keyword} must be an object`)
    return undefined
  }
  const isProperty = keyword === "properties"
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, schema]) => !(isProperty && schema === false))
      .map(([name, schema]) => [name, member(walk, schema, place, isProperty)])
  )
}

const listOf = (walk: Walk, value: Json | undefined, place: Place): Json | undefined => {
  if (Array.isArray(value)) return value.map((schema: Json) => member(walk, schema, place))
  fail(walk, "a list of schemas must be an array")
  return undefined
}

const member = (walk: Walk, schema: Json | undefined, place: Place, isProperty = false): Json => {
  if (schema === true) return {}
  if (schema === false) return false
  if (isJsonObject(schema)) return node(walk, schema, place, isProperty)
  fail(walk, "a schema must be an object")
  return {}
}
