// Queries of conditional routing: which requests a condition fits.
// It must not know targets or routes. Words and meaning are those of the closest peer's configs.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, shown } from "./faults.ts"
import { isJsonObject, type Json, type JsonObject } from "./json.ts"
import { parsePattern } from "./linearPattern.ts"
import { hint } from "./nearest.ts"

/** What a query may ask of a request. */
export interface RequestFacts {
  readonly metadata: Readonly<Record<string, string>>
  /** The body as the client sent it. */
  readonly params: Readonly<Record<string, unknown>>
  readonly path: string
}

export type Query = (facts: RequestFacts) => boolean

type Read<A> = Result.Result<A, Fault>
type Test = (value: unknown) => boolean

const refuse = (at: FaultPath, message: string): Read<never> => Result.fail(faultAt(at, message))

/** Sense of a number, or of text that is one; NaN compares with nothing. */
const numberOf = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN

const ordered = (holds: (value: number, bound: number) => boolean) => (bound: Json, at: FaultPath): Read<Test> => {
  const number = numberOf(bound)
  return Number.isNaN(number) ? refuse(at, "expected a number") : Result.succeed((value) => holds(numberOf(value), number))
}

const listed = (isIn: boolean) => (bound: Json, at: FaultPath): Read<Test> =>
  Array.isArray(bound)
    ? Result.succeed((value) => bound.some((one: Json) => one === value) === isIn)
    : refuse(at, "expected a list")

/** A bound that is an object or a list equals nothing. */
const plain = (isEqual: boolean) => (bound: Json, at: FaultPath): Read<Test> =>
  typeof bound === "object" && bound !== null
    ? refuse(at, "expected text, a number, true or false")
    : Result.succeed((value) => (value === bound) === isEqual)

const patterned = (bound: Json, at: FaultPath): Read<Test> => {
  if (typeof bound !== "string") return refuse(at, "expected text")
  return Result.mapBoth(parsePattern(bound), {
    onSuccess: (matches): Test => (value) => typeof value !== "object" && value !== undefined && matches(String(value)),
    onFailure: (fault) => faultAt(at, `the pattern ${fault}`)
  })
}

/** A member that is missing has no value: only `$ne` and `$nin` hold of it. */
const operators: Readonly<Record<string, (bound: Json, at: FaultPath) => Read<Test>>> = {
  $eq: plain(true),
  $ne: plain(false),
  $in: listed(true),
  $nin: listed(false),
  $gt: ordered((value, bound) => value > bound),
  $gte: ordered((value, bound) => value >= bound),
  $lt: ordered((value, bound) => value < bound),
  $lte: ordered((value, bound) => value <= bound),
  $regex: patterned
}

const memberOf = (value: unknown, key: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** `metadata.NAME`, `params.NAME` or deeper, `url.pathname`. */
const subjectOf = (key: string, at: FaultPath): Read<(facts: RequestFacts) => unknown> => {
  if (key === "url.pathname") return Result.succeed(({ path }) => path)
  const [from, ...names] = key.split(".")
  if (names.length > 0 && !names.includes("")) {
    if (from === "metadata") return Result.succeed(({ metadata }) => memberOf(metadata, names.join(".")))
    if (from === "params") return Result.succeed(({ params }) => names.reduce<unknown>(memberOf, params))
  }
  return refuse(at, "asks for nothing a request has; write metadata.NAME, params.NAME or url.pathname")
}

const testOf = (bound: Json, at: FaultPath): Read<Test> => {
  if (!isJsonObject(bound)) return plain(true)(bound, at)
  const tests: Array<Test> = []
  for (const [name, value] of Object.entries(bound)) {
    const here = [...at, name]
    const make = Object.hasOwn(operators, name) ? operators[name] : undefined
    if (make === undefined) return refuse(here, `unknown operator${hint(name, Object.keys(operators))}`)
    const test = make(value ?? null, here)
    if (Result.isFailure(test)) return Result.fail(test.failure)
    tests.push(test.success)
  }
  return tests.length === 0 ? refuse(at, "asks nothing") : Result.succeed((value) => tests.every((holds) => holds(value)))
}

const groups: Readonly<Record<string, (queries: ReadonlyArray<Query>) => Query>> = {
  $and: (queries) => (facts) => queries.every((holds) => holds(facts)),
  $or: (queries) => (facts) => queries.some((holds) => holds(facts))
}

const groupOf = (name: string, value: Json | undefined, at: FaultPath): Read<Query> => {
  const join = groups[name]
  if (join === undefined) return refuse(at, `${shown(name)} joins nothing${hint(name, Object.keys(groups))}`)
  if (!Array.isArray(value) || value.length === 0) return refuse(at, "expected a list of queries")
  const queries: Array<Query> = []
  for (const [index, one] of value.entries()) {
    const here = [...at, index]
    const query: Read<Query> = isJsonObject(one) ? parseQuery(one, here) : refuse(here, "expected a query")
    if (Result.isFailure(query)) return query
    queries.push(query.success)
  }
  return Result.succeed(join(queries))
}

/** A query made ready; all of its members must hold. */
export const parseQuery = (query: JsonObject, at: FaultPath): Result.Result<Query, Fault> => {
  const queries: Array<Query> = []
  for (const [key, value] of Object.entries(query)) {
    const here = [...at, key]
    if (key.startsWith("$")) {
      const group = groupOf(key, value, here)
      if (Result.isFailure(group)) return group
      queries.push(group.success)
      continue
    }
    const subject = subjectOf(key, here)
    if (Result.isFailure(subject)) return Result.fail(subject.failure)
    const test = testOf(value ?? null, here)
    if (Result.isFailure(test)) return Result.fail(test.failure)
    queries.push((facts) => test.success(subject.success(facts)))
  }
  return queries.length === 0 ? refuse(at, "asks nothing") : Result.succeed((facts) => queries.every((holds) => holds(facts)))
}
