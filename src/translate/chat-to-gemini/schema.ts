// Walks a JSON schema for both of its conversions: references, merging, enums, depth, and one allowance of copies.
// It must not depend on the keywords of an upstream or the position of a schema in the request.
import { isJsonObject, isLongInteger, type Json, type JsonObject } from "../../domain/text/json.ts"

/** Bounds of a conversion: nesting depth of one schema, copies of all schemas of a request. */
export interface SchemaBounds {
  readonly schemaDepth: number
  readonly copies: SchemaCopies
}

/** One conversion: the first fault ends it; counters bound it for every reference structure. */
export interface Walk {
  readonly root: JsonObject
  readonly maxDepth: number
  readonly copies: SchemaCopies
  nodes: number
  fault: string | undefined
}

/** The position of a walk: nesting of the result, and the references on the path. */
export interface Place {
  readonly depth: number
  readonly refs: ReadonlyArray<string>
}

/** Unrolling depth of a recursive schema where references cannot be sent. */
const unrolled = 5
/**
 * Above `manyNodes`, or when copies are scarce, recursion is cut immediately; above `tooManyNodes` the schema is
 * refused.
 */
const manyNodes = 2_000
const tooManyNodes = 20_000

export const startWalk = (root: JsonObject, { copies, schemaDepth: maxDepth }: SchemaBounds): Walk => {
  const walk: Walk = { root, maxDepth, copies, nodes: 0, fault: undefined }
  if (nestsDeeper(root, maxDepth)) failWalk(walk, `the schema nests deeper than ${maxDepth} levels`)
  return walk
}
export const rootPlace: Place = { depth: 0, refs: [] }
export const placeBelow = (place: Place, refs = place.refs): Place => ({ depth: place.depth + 1, refs })

export const failWalk = (walk: Walk, fault: string): void => {
  walk.fault ??= fault
}

/** Counts one more copy of a value in the result. */
export const countCopy = (walk: Walk, value: Json | undefined): void => {
  if (walk.fault === undefined && !walk.copies.copy(value)) failWalk(walk, tooManyCopies)
}

const tooManyCopies =
  "the schemas of the request grow by more than four times its size, and by more than limits.schemaCopyBytes, " +
  "when references and choices are written out; refer to smaller definitions, or to fewer of them"

/** Parts of all converted schemas of a request; each takes 1.5 microseconds. */
const mostNodes = 30_000

const tooManyOfRequest = `the schemas of the request have more than ${mostNodes} parts together; send fewer or smaller ones`

/** Counts one node of the result; false when the walk is over. */
export const enterNode = (walk: Walk, place: Place): boolean => {
  walk.nodes++
  if (!walk.copies.node()) failWalk(walk, tooManyOfRequest)
  if (walk.nodes > tooManyNodes || place.depth > 4 * walk.maxDepth || place.refs.length > walk.maxDepth) {
    failWalk(walk, "the schema grows too large when its references are resolved")
  }
  return walk.fault === undefined
}

/** Keywords whose value maps names to schemas, is a list of schemas, or is one schema. */
export const mapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"])
export const listKeywords: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
export const singleKeywords: ReadonlySet<string> = new Set(["items", "additionalProperties"])

const nestsDeeper = (schema: Json | undefined, allowed: number): boolean => {
  if (!isJsonObject(schema)) return false
  if (allowed < 1) return true
  return Object.entries(schema).some(([keyword, value]) => {
    if (mapKeywords.has(keyword) && isJsonObject(value)) {
      return Object.values(value).some((member) => nestsDeeper(member, allowed - 1))
    }
    if (Array.isArray(value) && (listKeywords.has(keyword) || keyword === "items")) {
      return value.some((member: Json) => nestsDeeper(member, allowed - 1))
    }
    return singleKeywords.has(keyword) && nestsDeeper(value, allowed - 1)
  })
}

/** The schema at a local JSON pointer; undefined and a fault when missing. Remote references are never fetched. */
export const resolveRef = (walk: Walk, ref: string): JsonObject | undefined => {
  const target = ref === "#" ? walk.root : ref.startsWith("#/") ? follow(walk.root, ref) : undefined
  if (target === true) return {}
  if (isJsonObject(target)) return target
  failWalk(
    walk,
    `the reference ${ref.slice(0, 200)} does not lead to a schema inside this one; remote references are not fetched`
  )
  return undefined
}

const follow = (root: JsonObject, ref: string): Json | undefined => {
  let node: Json | undefined = root
  for (const raw of ref.slice(2).split("/")) {
    const token = decoded(raw)
    if (Array.isArray(node)) node = /^\d+$/.test(token) ? node[Number(token)] : undefined
    else if (isJsonObject(node) && Object.hasOwn(node, token)) node = node[token]
    else return undefined
  }
  return node
}

const decoded = (token: string): string => {
  let text = token
  try {
    text = decodeURIComponent(token)
  } catch {
    // Invalid percent-encoding: the token is used literally.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~")
}

/** True when one more resolution of `ref` would exceed the unrolling depth. */
export const isUnrolledEnough = (walk: Walk, refs: ReadonlyArray<string>, ref: string): boolean => {
  if (!refs.includes(ref)) return false
  return walk.nodes > manyNodes || walk.copies.isScarce || refs.length - new Set(refs).size >= unrolled - 1
}

/**
 * Merges schemas: later keywords win; properties, required names and definitions are united. Each schema is read once.
 * With `sameTypes` all schemas describe one value, so contradictory types are a fault.
 */
export const mergeSchemas = (walk: Walk, parts: ReadonlyArray<JsonObject>, sameTypes: boolean): JsonObject => {
  const merged = new Map<string, Json | undefined>()
  const maps = new Map<string, Map<string, Array<Json>>>()
  const required = new Set<Json>()
  const allOf: Array<Json> = []
  let type: Json | undefined
  for (const part of parts) {
    for (const [keyword, value] of Object.entries(part)) merged.set(keyword, value)
    type = sameTypes ? commonType(walk, type, part["type"]) : (part["type"] ?? type)
    if (Array.isArray(part["required"])) for (const name of part["required"]) required.add(name)
    if (Array.isArray(part["allOf"])) for (const member of part["allOf"]) allOf.push(member)
    for (const keyword of united) collect(walk, maps, keyword, part[keyword])
  }
  for (const [keyword, byName] of maps) merged.set(keyword, combined(walk, byName, keyword === "properties"))
  if (required.size > 0) merged.set("required", [...required])
  if (allOf.length > 0) merged.set("allOf", allOf)
  if (type !== undefined) merged.set("type", type)
  return Object.fromEntries(merged)
}

const united = ["properties", "$defs", "definitions"] as const

const collect = (
  walk: Walk,
  maps: Map<string, Map<string, Array<Json>>>,
  keyword: string,
  value: Json | undefined
): void => {
  if (!isJsonObject(value) || walk.fault !== undefined) return
  const byName = maps.get(keyword) ?? new Map<string, Array<Json>>()
  maps.set(keyword, byName)
  const members = Object.entries(value)
  if (!walk.copies.names(members.length)) failWalk(walk, tooManyCopies)
  for (const [name, schema] of members) {
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [schema ?? true])
    else known.push(schema ?? true)
  }
}

/** A property described by several schemas must satisfy all of them; the last definition of a name wins. */
const combined = (walk: Walk, byName: ReadonlyMap<string, ReadonlyArray<Json>>, all: boolean): JsonObject =>
  Object.fromEntries(
    [...byName].map(([name, schemas]): readonly [string, Json | undefined] => {
      if (!all || schemas.length === 1) return [name, schemas.at(-1)]
      const distinct = [...valuesByText(walk, schemas).values()]
      return [name, distinct.length === 1 ? distinct[0] : { allOf: distinct }]
    })
  )

/** Values by their JSON text; each text counts as a copy of the value. */
export const valuesByText = <A extends Json>(walk: Walk, values: ReadonlyArray<A>): ReadonlyMap<string, A> => {
  const texts = new Map<string, A>()
  for (const value of values) {
    countCopy(walk, value)
    if (walk.fault !== undefined) break
    texts.set(JSON.stringify(value), value)
  }
  return texts
}

export const sameJson = (first: Json | undefined, second: Json | undefined): boolean =>
  JSON.stringify(first) === JSON.stringify(second)

/** JSON schema has seven types. */
const shownTypes = 7

const commonType = (walk: Walk, first: Json | undefined, second: Json | undefined): Json | undefined => {
  const a = new Set(typeWords(first))
  const b = new Set(typeWords(second))
  if (a.size === 0 || b.size === 0) return second ?? first
  const common = [...a].filter((word) => b.has(word) || (word === "integer" && b.has("number")))
  if (a.has("number") && b.has("integer") && !a.has("integer")) common.push("integer")
  if (common.length === 0) {
    const [one, other] = [a, b].map((words) => [...words].slice(0, shownTypes).join(", "))
    failWalk(walk, `allOf joins contradictory types: ${one} and ${other}`)
  }
  return common.length === 1 ? common[0] : common
}

/** The type words of a schema in lower case. */
export const typeWords = (type: Json | undefined): ReadonlyArray<string> => {
  const list: ReadonlyArray<Json> = Array.isArray(type) ? type : [type ?? null]
  return list.filter((word) => typeof word === "string").map((word) => word.toLowerCase())
}

/** Enum members without duplicates and without the empty string, which Google rejects. */
export const enumMembers = (members: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const seen = new Set<string>()
  return members.filter((member) => {
    const text = JSON.stringify(member)
    if (member === "" || seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/** The common JSON schema type of all values; undefined when the types differ. */
export const typeOfAll = (values: ReadonlyArray<Json>): string | undefined => {
  const types = new Set(values.map(typeOfValue))
  if (types.size === 2 && types.has("integer") && types.has("number")) return "number"
  const [only] = types
  return types.size === 1 ? only : undefined
}

const typeOfValue = (value: Json): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (isLongInteger(value)) return "integer"
  return typeof value === "number" ? (Number.isInteger(value) ? "integer" : "number") : typeof value
}

/** `required` without names of missing properties; undefined when empty. */
export const requiredOf = (
  required: Json | undefined,
  properties: Json | undefined
): ReadonlyArray<Json> | undefined => {
  if (!Array.isArray(required) || !isJsonObject(properties)) return undefined
  const known = required.filter((name: Json) => typeof name === "string" && Object.hasOwn(properties, name))
  return known.length === 0 ? undefined : known
}

// The allowance of copies: one for all tools and the response format

/** Writing a name again in a merge takes about as long as copying 32 characters. */
const nameSize = 32

/** Multiple of the whole request's size, but no more than this multiple of the least allowance. */
const mostTimes = 4
const mostLeasts = 8

/** The rest of `left` after a value's JSON text; measuring stops when nothing is left. */
const without = (value: Json | undefined, left: number): number => {
  if (typeof value === "string") return left - value.length - 2
  if (typeof value !== "object" || value === null) return left - 4
  let rest = left - 2
  if (Array.isArray(value)) {
    for (const member of value) {
      if (rest < 0) break
      rest = without(member, rest - 1)
    }
    return rest
  }
  for (const [key, member] of Object.entries(value)) {
    if (rest < 0) break
    rest = without(member, rest - key.length - 4)
  }
  return rest
}

/** Sizes are characters of JSON text. */
export class SchemaCopies {
  private left: number
  private readonly least: number
  private nodes = 0
  /** The request to measure, only when `least` does not suffice. */
  private request: object | undefined
  spent = false

  /** The allowance is `least`, or four times the size of the request if that is more, up to eight times `least`. */
  constructor(least: number, request: object) {
    this.left = least
    this.least = least
    this.request = request
  }

  /** Half of `least`, or of the parts, is used: optional copies should be avoided. */
  get isScarce(): boolean {
    return this.left < this.least / 2 || this.nodes > mostNodes / 2
  }

  /** Counts one copy of a value; false when the allowance is exceeded. */
  copy(value: Json | undefined): boolean {
    return this.spend((left) => without(value, left))
  }

  /** Counts one part of a converted schema; false when there are too many. */
  node(): boolean {
    return ++this.nodes <= mostNodes
  }

  /** Counts the names that a merge writes again. */
  names(count: number): boolean {
    return this.spend((left) => left - nameSize * count)
  }

  private spend(rest: (left: number) => number): boolean {
    let left = rest(this.left)
    if (left < 0 && this.request !== undefined) {
      // Cast: a request is the parsed JSON of a body.
      const size = Number.MAX_SAFE_INTEGER - without(this.request as Json, Number.MAX_SAFE_INTEGER)
      this.request = undefined
      const most = Math.min(mostTimes * size, mostLeasts * this.least)
      this.left = Math.max(this.left, this.left + most - this.least)
      left = rest(this.left)
    }
    this.left = left
    this.spent ||= left < 0
    return !this.spent
  }
}
