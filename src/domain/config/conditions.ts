// Conditional routing: compiles and evaluates the queries of a config's conditions on metadata, params and path.
// It must not know targets or routes. Syntax and meaning are Portkey's, so existing configs work.
import * as Result from "effect/Result"
import { type Fault, faultAt, type FaultPath, hint, quoteValue, readEach } from "../faults.ts"
import { isJsonObject, type Json, type JsonObject } from "../text/json.ts"
import { parsePattern, type StepBudget } from "../text/linearPattern.ts"

/** The parts of a request that a query can test. */
export interface RequestFacts {
  readonly metadata: Readonly<Record<string, string>>
  /** The body as the client sent it. */
  readonly params: Readonly<Record<string, unknown>>
  readonly path: string
}

/** Every test costs one step, a pattern as many as it runs. When the budget is below 0, the result is void. */
export type Query = (facts: RequestFacts, budget: StepBudget) => boolean

/** How many patterns the queries of one config may still contain. */
export interface QueryAllowance {
  patterns: number
  readonly mostPatterns: number
}

type Read<A> = Result.Result<A, Fault>
type Test = (value: unknown, budget: StepBudget) => boolean
type Operator = (bound: Json, at: FaultPath, allowance: QueryAllowance) => Read<Test>

const refuse = (at: FaultPath, message: string): Read<never> => Result.fail(faultAt(at, message))

/** Longer text is not read as a number, so the cost of a comparison has a bound. */
const longestNumber = 64

/** The value of a number or of numeric text. Any other value is NaN, for which every comparison is false. */
const numberOf = (value: unknown): number => {
  if (typeof value === "number") return value
  return typeof value === "string" && value.length <= longestNumber && value.trim() !== "" ? Number(value) : Number.NaN
}

const ordered =
  (holds: (value: number, bound: number) => boolean): Operator =>
  (bound, at) => {
    const number = numberOf(bound)
    return Number.isNaN(number)
      ? refuse(at, "expected a number")
      : Result.succeed((value) => holds(numberOf(value), number))
  }

const listed =
  (isIn: boolean): Operator =>
  (bound, at) => {
    if (!Array.isArray(bound)) return refuse(at, "expected a list")
    const members = new Set<unknown>(bound)
    return Result.succeed((value) => members.has(value) === isIn)
  }

/** Rejects objects and lists as bounds, because no value equals them. */
const plain =
  (isEqual: boolean): ((bound: Json, at: FaultPath) => Read<Test>) =>
  (bound, at) =>
    typeof bound === "object" && bound !== null
      ? refuse(at, "expected text, a number, true or false")
      : Result.succeed((value) => (value === bound) === isEqual)

const patterned: Operator = (bound, at, allowance) => {
  if (typeof bound !== "string") return refuse(at, "expected text")
  if (allowance.patterns === 0)
    return refuse(at, `is one pattern too many: a config has at most ${allowance.mostPatterns}`)
  allowance.patterns--
  return Result.mapBoth(parsePattern(bound), {
    onSuccess:
      (matches): Test =>
      (value, budget) =>
        typeof value !== "object" && value !== undefined && matches(String(value), budget),
    onFailure: (fault) => faultAt(at, `the pattern ${fault}`)
  })
}

/** A missing member has no value, so only `$ne` and `$nin` are true for it. */
const operators: Readonly<Record<string, Operator>> = {
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

/** Reads the value under test; `steps` is the cost of reading it. */
interface Subject {
  readonly read: (facts: RequestFacts) => unknown
  readonly steps: number
}

/** Parses `metadata.NAME`, `params.NAME` or deeper, and `url.pathname`. */
const subjectOf = (key: string, at: FaultPath): Read<Subject> => {
  if (key === "url.pathname") return Result.succeed({ read: ({ path }) => path, steps: 1 })
  const [from, ...names] = key.split(".")
  if (names.length > 0 && !names.includes("")) {
    const name = names.join(".")
    if (from === "metadata") return Result.succeed({ read: ({ metadata }) => memberOf(metadata, name), steps: 1 })
    if (from === "params")
      return Result.succeed({ read: ({ params }) => names.reduce<unknown>(memberOf, params), steps: names.length })
  }
  return refuse(at, "asks for nothing a request has; write metadata.NAME, params.NAME or url.pathname")
}

const testOf: Operator = (bound, at, allowance) => {
  if (!isJsonObject(bound)) return plain(true)(bound, at)
  const read = readEach(Object.entries(bound), ([name, value]) => {
    const here = [...at, name]
    const make = Object.hasOwn(operators, name) ? operators[name] : undefined
    return make === undefined
      ? refuse(here, `unknown operator${hint(name, Object.keys(operators))}`)
      : make(value ?? null, here, allowance)
  })
  return Result.flatMap(read, (tests) =>
    tests.length === 0
      ? refuse(at, "asks nothing")
      : Result.succeed((value, budget) => tests.every((holds) => --budget.left >= 0 && holds(value, budget)))
  )
}

const groups: Readonly<Record<string, (queries: ReadonlyArray<Query>) => Query>> = {
  $and: (queries) => (facts, budget) => queries.every((holds) => holds(facts, budget)),
  $or: (queries) => (facts, budget) => queries.some((holds) => holds(facts, budget))
}

const groupOf = (name: string, value: Json | undefined, at: FaultPath, allowance: QueryAllowance): Read<Query> => {
  const join = groups[name]
  if (join === undefined) return refuse(at, `${quoteValue(name)} joins nothing${hint(name, Object.keys(groups))}`)
  if (!Array.isArray(value) || value.length === 0) return refuse(at, "expected a list of queries")
  const queries = readEach(value, (one, index) => {
    const here = [...at, index]
    return isJsonObject(one) ? parseQuery(one, here, allowance) : refuse(here, "expected a query")
  })
  return Result.map(queries, join)
}

/** Compiles a query; all of its members must match. Each pattern reduces the allowance. */
export const parseQuery = (
  query: JsonObject,
  at: FaultPath,
  allowance: QueryAllowance
): Result.Result<Query, Fault> => {
  const read = readEach(Object.entries(query), ([key, value]) =>
    key.startsWith("$")
      ? groupOf(key, value, [...at, key], allowance)
      : memberQuery(key, value ?? null, [...at, key], allowance)
  )
  return Result.flatMap(read, (queries) =>
    queries.length === 0
      ? refuse(at, "asks nothing")
      : Result.succeed((facts, budget) => queries.every((holds) => holds(facts, budget)))
  )
}

const memberQuery = (key: string, bound: Json, at: FaultPath, allowance: QueryAllowance): Read<Query> =>
  Result.flatMap(subjectOf(key, at), ({ read, steps }) =>
    Result.map(
      testOf(bound, at, allowance),
      (test): Query =>
        (facts, budget) =>
          (budget.left -= steps) >= 0 && test(read(facts), budget)
    )
  )
