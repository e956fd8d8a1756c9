// Converts JSON schema for Gemini models with JSON schema fields (`parametersJsonSchema`, `responseJsonSchema`).
// Must not depend on the older OpenAPI subset.
import * as Result from "effect/Result"
import { isJsonObject, type Json, type JsonObject } from "../../domain/text/json.ts"
import {
  countCopy,
  enterNode,
  enumMembers,
  failWalk,
  listKeywords,
  mapKeywords,
  mergeSchemas,
  type Place,
  placeBelow,
  requiredOf,
  resolveRef,
  rootPlace,
  type SchemaBounds,
  singleKeywords,
  startWalk,
  typeOfAll,
  type Walk
} from "./schema.ts"

/** Keywords that Google rejects and that carry no constraint. */
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
  const cleaned = cleanNode(walk, root, { ...rootPlace, refs })
  return walk.fault === undefined ? Result.succeed(cleaned) : Result.fail(walk.fault)
}

/** The target schema, as a replacement for a reference to it. */
const copyTarget = (walk: Walk, ref: string): JsonObject => {
  const target = resolveRef(walk, ref) ?? {}
  countCopy(walk, target)
  return target
}

/** The root must be a schema, not a reference; its definitions stay reachable. */
const rootOf = (walk: Walk): readonly [JsonObject, ReadonlyArray<string>] => {
  let current = walk.root
  const refs: Array<string> = []
  while (typeof current["$ref"] === "string" && walk.fault === undefined) {
    const { $ref, ...rest } = current
    if (typeof $ref !== "string" || refs.includes($ref) || refs.length > walk.maxDepth) {
      failWalk(walk, "the references of the root never end")
      break
    }
    refs.push($ref)
    current = mergeSchemas(walk, [copyTarget(walk, $ref), rest], false)
  }
  return [current, refs]
}

const cleanNode = (walk: Walk, source: JsonObject, place: Place, isProperty = false): JsonObject => {
  if (!enterNode(walk, place)) return {}
  if (typeof source["$ref"] === "string") return reference(walk, source, source["$ref"], place)
  const [schema, refs] = withoutAllOf(walk, source, place.refs)
  const inner = placeBelow(place, refs)
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
    else if (singleKeywords.has(keyword))
      out.push([keyword, isJsonObject(value) ? cleanNode(walk, value, inner) : value])
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

/** Google accepts only siblings of `$ref` that start with `$`. */
const reference = (walk: Walk, source: JsonObject, ref: string, place: Place): JsonObject => {
  resolveRef(walk, ref)
  const siblings = Object.fromEntries(
    Object.entries(source).filter(([keyword]) => keyword.startsWith("$") || keyword === "definitions")
  )
  const { $ref: _, ...rest } = siblings
  return { $ref: rewriteRef(ref), ...cleanNode(walk, rest, placeBelow(place)) }
}

/** Rewrites `#/definitions/X` to `#/$defs/X`; a property or definition named `definitions` stays unchanged. */
const rewriteRef = (ref: string): string => {
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

/** Merges the members of `allOf` with the schema's own keywords; leaves `allOf` in place when merging would not end. */
const withoutAllOf = (
  walk: Walk,
  source: JsonObject,
  refs: ReadonlyArray<string>
): readonly [JsonObject, ReadonlyArray<string>] => {
  const { allOf, ...siblings } = source
  if (!Array.isArray(allOf)) return [source, refs]
  const parts: Array<JsonObject> = []
  const seen = new Set(refs)
  for (const member of allOf) {
    if (!enterNode(walk, { depth: 0, refs }) || !isJsonObject(member)) continue
    let path = refs
    let current: JsonObject = member
    while (typeof current["$ref"] === "string" && walk.fault === undefined) {
      const { $ref, ...rest } = current
      if (typeof $ref !== "string" || path.includes($ref) || path.length > walk.maxDepth) return [source, refs]
      path = path.concat($ref)
      current = mergeSchemas(walk, [copyTarget(walk, $ref), rest], false)
    }
    const [flat, further] = withoutAllOf(walk, current, path)
    if ("allOf" in flat) return [source, refs]
    for (const ref of further) seen.add(ref)
    parts.push(flat)
  }
  return [mergeSchemas(walk, [...parts, siblings], true), [...seen]]
}

const withoutFalse = (properties: Json | undefined): Json | undefined =>
  isJsonObject(properties)
    ? Object.fromEntries(Object.entries(properties).filter(([, schema]) => schema !== false))
    : undefined

const mapOf = (walk: Walk, value: Json | undefined, keyword: string, place: Place): Json | undefined => {
  if (!isJsonObject(value)) {
    failWalk(walk, `${keyword} must be an object`)
    return undefined
  }
  const isProperty = keyword === "properties"
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, schema]) => !(isProperty && schema === false))
      .map(([name, schema]) => [name, cleanMember(walk, schema, place, isProperty)])
  )
}

const listOf = (walk: Walk, value: Json | undefined, place: Place): Json | undefined => {
  if (Array.isArray(value)) return value.map((schema: Json) => cleanMember(walk, schema, place))
  failWalk(walk, "a list of schemas must be an array")
  return undefined
}

const cleanMember = (walk: Walk, schema: Json | undefined, place: Place, isProperty = false): Json => {
  if (schema === true) return {}
  if (schema === false) return false
  if (isJsonObject(schema)) return cleanNode(walk, schema, place, isProperty)
  failWalk(walk, "a schema must be an object")
  return {}
}
