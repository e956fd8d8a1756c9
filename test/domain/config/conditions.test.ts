// Tests the queries of conditional routing: their results, their budget of steps, and the faults of invalid ones.
// Must not depend on the router.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parseQuery, type RequestFacts } from "../../../src/domain/config/conditions.ts"
import type { JsonObject } from "../../../src/domain/text/json.ts"

const facts: RequestFacts = {
  metadata: { plan: "paid", "a.b": "dotted", level: "7" },
  params: {
    model: "fastest",
    temperature: 0.9,
    stream: true,
    user: null,
    response_format: { type: "json_schema" },
    stop: ["a"]
  },
  path: "/v1/chat/completions"
}
const allowance = () => ({ patterns: 2, mostPatterns: 2 })
const holds = (query: JsonObject): boolean =>
  Result.getOrThrowWith(parseQuery(query, [], allowance()), (fault) => new Error(`${fault.path} ${fault.message}`))(
    facts,
    { left: 10_000 }
  )
const faultOf = (query: JsonObject): string => {
  const parsed = parseQuery(query, ["query"], allowance())
  return Result.isFailure(parsed) ? `${parsed.failure.path}  ${parsed.failure.message}` : "none"
}

const rows: ReadonlyArray<readonly [query: JsonObject, holds: boolean]> = [
  [{ "metadata.plan": "paid" }, true],
  [{ "metadata.plan": { $eq: "paid" } }, true],
  [{ "metadata.plan": { $eq: "free" } }, false],
  [{ "metadata.a.b": { $eq: "dotted" } }, true],
  [{ "metadata.plan": { $ne: "free" } }, true],
  [{ "metadata.plan": { $in: ["free", "paid"] } }, true],
  [{ "metadata.plan": { $nin: ["free", "paid"] } }, false],
  [{ "metadata.level": { $gt: 6, $lte: "7" } }, true],
  [{ "metadata.level": { $gte: 7.5 } }, false],
  [{ "metadata.plan": { $lt: 7 } }, false],
  [{ "params.temperature": { $gt: 0.7 } }, true],
  [{ "params.temperature": { $lt: "1" } }, true],
  [{ "params.temperature": 0.9 }, true],
  [{ "params.temperature": "0.9" }, false],
  [{ "params.stream": true }, true],
  [{ "params.stream": { $eq: "true" } }, false],
  [{ "params.user": null }, true],
  [{ "params.response_format.type": "json_schema" }, true],
  [{ "params.stop": { $regex: "a" } }, false],
  [{ "params.model": { $regex: "^fast" } }, true],
  [{ "params.model": { $regex: "fast$" } }, false],
  [{ "params.temperature": { $regex: "^0\\.9$" } }, true],
  [{ "url.pathname": { $regex: "/chat/" } }, true],
  [{ "url.pathname": "/v1/embeddings" }, false],
  // What is missing equals nothing and is in no list; nothing else holds of it.
  [{ "metadata.gone": { $ne: "x" } }, true],
  [{ "metadata.gone": { $nin: ["x"] } }, true],
  ...["$eq", "$gt", "$lt", "$gte", "$lte"].map((operator) => [{ "metadata.gone": { [operator]: 0 } }, false] as const),
  [{ "metadata.gone": { $in: [0] } }, false],
  [{ "metadata.gone": { $regex: "" } }, false],
  [{ "metadata.constructor": { $ne: "x" }, "metadata.toString": { $eq: "x" } }, false],
  // All members hold, those that join as well.
  [{ "metadata.plan": "paid", "params.model": "fastest" }, true],
  [{ "metadata.plan": "paid", "params.model": "smartest" }, false],
  [{ $and: [{ "metadata.plan": "paid" }, { "params.model": "smartest" }] }, false],
  [{ $or: [{ "metadata.plan": "free" }, { "params.model": "fastest" }] }, true],
  [{ $or: [{ "metadata.plan": "paid" }], "params.model": "smartest" }, false],
  [
    {
      $or: [
        { $and: [{ "metadata.plan": "free" }] },
        { $and: [{ "metadata.plan": "paid" }, { "params.temperature": { $gt: 0.5 } }] }
      ]
    },
    true
  ]
]

describe("routing queries", () => {
  it.each(rows)("query: %j gives %s", (query, expected) => {
    expect(holds(query)).toBe(expected)
  })

  it("query: never agrees with its negation", () => {
    const bound = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constantFrom("paid", 0.9, "fastest"))
    const subject = fc.constantFrom("metadata.plan", "metadata.gone", "params.temperature", "params.model")
    fc.assert(
      fc.property(subject, bound, (name, value) => {
        expect(holds({ [name]: { $eq: value } })).toBe(!holds({ [name]: { $ne: value } }))
        expect(holds({ [name]: { $in: [value] } })).toBe(!holds({ [name]: { $nin: [value] } }))
        expect(holds({ $and: [{ [name]: value }] })).toBe(holds({ $or: [{ [name]: value }] }))
      }),
      { seed: 3 }
    )
  })

  it.each<readonly [query: JsonObject, steps: number]>([
    [{ "metadata.plan": "paid" }, 1],
    [{ "params.response_format.type": { $ne: "text", $eq: "json_schema" } }, 4],
    [{ "metadata.plan": { $in: Array.from({ length: 5_000 }, (_, index) => index) } }, 2],
    [{ $or: [{ "metadata.plan": "free" }, { $and: [{ "metadata.plan": "paid" }, { "params.model": "fastest" }] }] }, 3],
    [{ "params.model": { $regex: "^f" } }, 7]
  ])("query: %j takes its steps from the budget: %s", (query, steps) => {
    const budget = { left: 100 }
    Result.getOrThrow(parseQuery(query, [], allowance()))(facts, budget)
    expect(100 - budget.left).toBe(steps)
  })

  it("query: stops when the budget of steps is spent", () => {
    const asked: Array<string> = []
    const params = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: (_target, name) => {
          asked.push(String(name))
          return undefined
        }
      }
    )
    const budget = { left: 2 }
    const query = { $or: Array.from({ length: 9 }, (_, index) => ({ [`params.p${index}`]: 1 })) }
    expect(Result.getOrThrow(parseQuery(query, [], allowance()))({ ...facts, params }, budget)).toBe(false)
    expect([asked, budget.left < 0]).toEqual([["p0", "p1"], true])
  })

  it("query: does not parse a long text as a number", () => {
    const compare = (text: string) =>
      Result.getOrThrow(parseQuery({ "params.n": { $gt: 1 } }, [], allowance()))(
        { ...facts, params: { n: text } },
        { left: 10 }
      )
    expect([compare("2".padStart(64)), compare("2".padStart(65))]).toEqual([true, false])
  })

  it.each<readonly [JsonObject, string]>([
    [{}, "query  asks nothing"],
    [
      { $or: ["a", "b", "c"].map(($regex) => ({ "params.n": { $regex } })) },
      "query.$or[2].params.n.$regex  is one pattern too many: a config has at most 2"
    ],
    [{ "metadata.plan": {} }, "query.metadata.plan  asks nothing"],
    [{ plan: "paid" }, "query.plan  asks for nothing a request has; write metadata.NAME, params.NAME or url.pathname"],
    [
      { "metadata.": 1 },
      "query.metadata.  asks for nothing a request has; write metadata.NAME, params.NAME or url.pathname"
    ],
    [
      { "headers.x": 1 },
      "query.headers.x  asks for nothing a request has; write metadata.NAME, params.NAME or url.pathname"
    ],
    [{ "metadata.plan": { $eqq: 1 } }, "query.metadata.plan.$eqq  unknown operator; did you mean $eq?"],
    [
      { "metadata.plan": { constructor: 1 } },
      "query.metadata.plan.constructor  unknown operator; known: $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $regex"
    ],
    [{ "metadata.plan": { $eq: ["paid"] } }, "query.metadata.plan.$eq  expected text, a number, true or false"],
    [{ "metadata.plan": ["paid"] }, "query.metadata.plan  expected text, a number, true or false"],
    [{ "metadata.plan": { $in: "paid" } }, "query.metadata.plan.$in  expected a list"],
    [{ "params.n": { $gt: "many" } }, "query.params.n.$gt  expected a number"],
    [{ "params.n": { $regex: 1 } }, "query.params.n.$regex  expected text"],
    [
      { "params.n": { $regex: "(?=a)" } },
      "query.params.n.$regex  the pattern may not use lookahead, lookbehind or named groups"
    ],
    [{ $xor: [] }, 'query.$xor  "$xor" joins nothing; did you mean $or?'],
    [{ $and: [] }, "query.$and  expected a list of queries"],
    [{ $or: { "metadata.plan": 1 } }, "query.$or  expected a list of queries"],
    [{ $or: ["x"] }, "query.$or[0]  expected a query"],
    [
      { $or: [{ "metadata.plan": 1 }, { $and: [{ "params.n": { $lt: [] } }] }] },
      "query.$or[1].$and[0].params.n.$lt  expected a number"
    ]
  ])("query: refuses %j", (query, fault) => {
    expect(faultOf(query)).toBe(fault)
  })
})
