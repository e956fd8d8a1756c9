// Converts JSON schema to the OpenAPI subset of older Gemini models (`parameters`, `responseSchema`).
// Must not depend on models; every keyword of the result is listed here.
import * as Result from "effect/Result"
import type { ProviderKind } from "../../domain/ProviderAccount.ts"
import { isJsonObject, isLongInteger, type Json, type JsonObject } from "../../domain/text/json.ts"
import {
  countCopy,
  enterNode,
  enumMembers,
  failWalk,
  isUnrolledEnough,
  mergeSchemas,
  type Place,
  placeBelow,
  requiredOf,
  resolveRef,
  rootPlace,
  sameJson,
  type SchemaBounds,
  startWalk,
  typeOfAll,
  typeWords,
  valuesByText,
  type Walk
} from "./schema.ts"

interface SubsetOptions {
  /** The two products differ in `additionalProperties` and in the allowed siblings of `anyOf`. */
  readonly kind: ProviderKind
  readonly bounds: SchemaBounds
  /** True to write the client's key order into every object; without it answers come in alphabetical order. */
  readonly ordered: boolean
}

type Subset = Walk & { readonly options: SubsetOptions }
type Writable = Record<string, Json | undefined>

/** Converts a schema; the failure is one sentence. A schema in the subset stays unchanged. */
export const subsetSchema = (schema: JsonObject, options: SubsetOptions): Result.Result<JsonObject, string> => {
  const walk: Subset = { ...startWalk(schema, options.bounds), options }
  const converted = convert(walk, schema, rootPlace)
  return walk.fault === undefined ? Result.succeed(converted) : Result.fail(walk.fault)
}

const convert = (walk: Subset, source: Json | undefined, place: Place, isProperty = false): JsonObject => {
  if (!enterNode(walk, place)) return {}
  if (typeof source === "boolean") return { type: "STRING" }
  if (!isJsonObject(source)) {
    failWalk(walk, "a schema must be an object")
    return {}
  }
  const [flat, refs] = flatten(walk, source, place.refs)
  const { const: constant, oneOf, title, ...rest } = flat
  const plain: Writable = { ...rest }
  if (title !== undefined && !isProperty) plain["title"] = title
  if (constant !== undefined && plain["enum"] === undefined) plain["enum"] = [constant]
  if (oneOf !== undefined && plain["anyOf"] === undefined) plain["anyOf"] = oneOf
  return convertTyped(walk, plain, placeBelow(place, refs), isProperty)
}

/** Resolves `$ref` and `allOf`; a recursive schema ends in a bare object after `unrolled` rounds. */
const flatten = (
  walk: Subset,
  source: JsonObject,
  refs: ReadonlyArray<string>
): readonly [JsonObject, ReadonlyArray<string>] => {
  let current = source
  let path = refs
  while (enterNode(walk, { depth: 0, refs: path })) {
    const { $ref, allOf, ...rest } = current
    if (typeof $ref === "string") {
      const target = resolveRef(walk, $ref) ?? {}
      const siblings = allOf === undefined ? rest : { ...rest, allOf }
      if (isUnrolledEnough(walk, path, $ref)) {
        const description = rest["description"] ?? target["description"]
        return [{ type: "object", ...(description === undefined ? {} : { description }) }, path]
      }
      countCopy(walk, target)
      path = path.concat($ref)
      current = mergeSchemas(walk, [target, siblings], false)
    } else if (Array.isArray(allOf)) {
      const through = [...path]
      const parts: Array<JsonObject> = []
      for (const member of allOf) {
        if (!isJsonObject(member)) continue
        const [flat, further] = flatten(walk, member, path)
        through.push(...further.slice(path.length))
        parts.push(flat)
      }
      path = through
      current = mergeSchemas(walk, [...parts, rest], true)
    } else return [current, path]
  }
  return [{}, path]
}

/** Determines type and `nullable`; a union of types becomes `anyOf`. */
const convertTyped = (walk: Subset, source: Writable, place: Place, isProperty: boolean): JsonObject => {
  const { type, anyOf, ...rest } = source
  const words = typeWords(type).filter((word) => knownTypes.has(word))
  const kinds = [...new Set(words.filter((word) => word !== "null"))]
  if (words.includes("null")) rest["nullable"] = true
  if (Array.isArray(anyOf) && anyOf.length > 0) {
    return convertChoice(walk, kinds.length === 1 ? { ...rest, type: kinds[0] } : rest, anyOf, place, isProperty)
  }
  if (kinds.length > 1) {
    const branches = kinds.map((kind) => ({ ...pickKeywords(rest, keywordsOf[kind] ?? []), type: kind }))
    for (const branch of branches.slice(1)) countCopy(walk, branch)
    return convertChoice(
      walk,
      pickKeywords(rest, ["title", "description", "default", "nullable"]),
      branches,
      place,
      isProperty
    )
  }
  return leaf(walk, rest, kinds[0] ?? (words.length > 0 ? "string" : undefined), place)
}

const knownTypes: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"])
const ofNumbers = ["minimum", "maximum", "format", "enum"]
const keywordsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  string: ["minLength", "maxLength", "pattern", "format", "enum"],
  number: ofNumbers,
  integer: ofNumbers,
  array: ["items", "prefixItems", "minItems", "maxItems"],
  object: ["properties", "required", "minProperties", "maxProperties", "additionalProperties", "propertyOrdering"]
}

const pickKeywords = (source: Writable, keywords: ReadonlyArray<string>): Writable =>
  Object.fromEntries(Object.entries(source).filter(([keyword]) => keywords.includes(keyword)))

const convertChoice = (
  walk: Subset,
  source: Writable,
  members: ReadonlyArray<Json>,
  place: Place,
  isProperty: boolean
): JsonObject => {
  const branches = members.filter((member) => !isNull(member) && !isMereConstraint(member))
  const rest = members.some(isNull) ? { ...source, nullable: true } : source
  const [first] = branches
  if (first === undefined) return convertTyped(walk, rest, place, isProperty)
  if (branches.length === 1 && members.length > 1) {
    const one = isJsonObject(first) ? first : {}
    return convert(walk, mergeSchemas(walk, [one, rest], false), place, isProperty)
  }
  // Vertex AI accepts no siblings of `anyOf`, so the siblings move into every branch.
  if (walk.options.kind === "vertex-ai") {
    const alone = (branch: Json, index: number): JsonObject => {
      if (index > 0) countCopy(walk, rest)
      if (walk.fault !== undefined) return {}
      return convert(walk, isJsonObject(branch) ? mergeSchemas(walk, [rest, branch], false) : rest, place)
    }
    return { anyOf: branches.map(alone) }
  }
  const outer = leaf(walk, rest, typeof rest["type"] === "string" ? rest["type"] : undefined, place, true)
  return { ...outer, anyOf: branches.map((branch) => convert(walk, branch, place)) }
}

const isNull = (member: Json): boolean =>
  isJsonObject(member) &&
  (member["const"] === null || sameJson(member["enum"], [null]) || sameJson(typeWords(member["type"]), ["null"]))

const shaping = ["type", "properties", "items", "prefixItems", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"]

/**
 * A branch such as `{required: ["a"]}` restricts its parent. The subset cannot express that, and alone it would be a
 * string.
 */
const isMereConstraint = (member: Json): boolean =>
  isJsonObject(member) && "required" in member && !shaping.some((keyword) => keyword in member)

/** Converts one node of one type; `open` permits a missing type, for the parent of an `anyOf`. */
const leaf = (walk: Subset, source: Writable, kind: string | undefined, place: Place, open = false): JsonObject => {
  const out: Writable = {}
  const listed = Array.isArray(source["enum"]) ? enumMembers(source["enum"]) : []
  const members = listed.filter((member) => member !== null)
  const type = kind ?? (open ? undefined : inferredType(source, members))
  for (const [keyword, value] of Object.entries(source)) if (copied.get(keyword)?.(value) === true) out[keyword] = value
  if (type !== undefined) out["type"] = type.toUpperCase()
  if (members.length < listed.length) out["nullable"] = true
  if (members.length > 0) {
    if (type === "string" && typeOfAll(members) === "string") out["enum"] = members
    else describe(out, `One of: ${members.map((member) => JSON.stringify(member)).join(", ")}`)
  }
  const format = source["format"]
  if (typeof format === "string") {
    if (formats[type ?? ""]?.includes(format) === true) out["format"] = format
    else describe(out, `format: ${format}`)
  }
  if (isJsonObject(source["properties"])) Object.assign(out, propertiesOf(walk, source, source["properties"], place))
  if (type === "array") Object.assign(out, itemsOf(walk, source, place))
  const additional = source["additionalProperties"]
  if (walk.options.kind === "vertex-ai" && additional !== undefined && additional !== null) {
    out["additionalProperties"] = typeof additional === "boolean" ? additional : convert(walk, additional, place)
  }
  return out
}

const describe = (out: Writable, remark: string): void => {
  const description = out["description"]
  out["description"] = typeof description === "string" && description !== "" ? `${description}\n${remark}` : remark
}

const isString = (value: Json | undefined): boolean => typeof value === "string"
const isNumber = (value: Json | undefined): boolean => Number.isFinite(value) || isLongInteger(value)
const isCount = (value: Json | undefined): boolean =>
  typeof value === "string" ? /^-?\d{1,19}$/.test(value) : Number.isSafeInteger(value)
const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null

/** Keywords copied unchanged when their value has the kind that the subset requires. */
const copied: ReadonlyMap<string, (value: Json | undefined) => boolean> = new Map([
  ["title", isString],
  ["description", isString],
  ["pattern", isString],
  ["nullable", (value) => typeof value === "boolean"],
  ["minimum", isNumber],
  ["maximum", isNumber],
  ["minLength", isCount],
  ["maxLength", isCount],
  ["minItems", isCount],
  ["maxItems", isCount],
  ["minProperties", isCount],
  ["maxProperties", isCount],
  ["default", isPresent],
  ["example", isPresent]
])
const formats: Readonly<Record<string, ReadonlyArray<string>>> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"]
}

const inferredType = (source: Writable, members: ReadonlyArray<Json>): string => {
  if (isJsonObject(source["properties"])) return "object"
  if (isPresent(source["items"]) || isPresent(source["prefixItems"])) return "array"
  const common = members.length === 0 ? undefined : typeOfAll(members)
  return common ?? "string"
}

const propertiesOf = (walk: Subset, source: Writable, properties: JsonObject, place: Place): Writable => {
  const allowed = Object.entries(properties).filter(([, schema]) => schema !== false)
  if (allowed.length === 0) return {}
  const converted = Object.fromEntries(allowed.map(([name, schema]) => [name, convert(walk, schema, place, true)]))
  const required = requiredOf(source["required"], converted)
  const given = requiredOf(source["propertyOrdering"], converted)
  const ordering = given ?? (walk.options.ordered ? Object.keys(converted) : undefined)
  return {
    properties: converted,
    ...(required === undefined ? {} : { required }),
    ...(ordering === undefined ? {} : { propertyOrdering: ordering })
  }
}

/** An array always gets `items`; a tuple becomes an array of its length with a union of its members. */
const itemsOf = (walk: Subset, source: Writable, place: Place): Writable => {
  const tuple = source["prefixItems"] ?? source["items"]
  if (Array.isArray(tuple) && tuple.length > 0) {
    const unique = [
      ...valuesByText(
        walk,
        tuple.map((member: Json) => convert(walk, member, place))
      ).values()
    ]
    const [first] = unique
    const items = unique.length === 1 && first !== undefined ? first : { anyOf: unique }
    return { items, minItems: tuple.length, maxItems: tuple.length }
  }
  const items = source["items"]
  const isOpen = !isJsonObject(items) || Object.keys(items).length === 0
  return { items: isOpen ? { type: "STRING" } : convert(walk, items, place) }
}
