// Tests the plan of a request with a config: its targets and their order, their credentials, and the fallback edges.
// Must not depend on HTTP or on upstream calls.
import * as fc from "fast-check"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { builtInModels } from "../../src/domain/models/modelTable.ts"
import type { RequestFacts } from "../../src/domain/config/conditions.ts"
import { BodyInvalid } from "../../src/domain/GatewayError.ts"
import type { GatewayKey } from "../../src/domain/GatewayKey.ts"
import type { Json } from "../../src/domain/text/json.ts"
import type { CarriedCredentials, CatalogView, ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import { orderTargets, resolveTargets } from "../../src/router/configPlan.ts"
import type { Asked, Planned } from "../../src/router/plan.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"
import { config, fallback } from "../support/config.ts"

const accounts: ReadonlyArray<ProviderAccount> = [
  googleAccount,
  vertexAccount,
  { ...googleAccount, slug: "gemini-b", models: ["gemini-2.5-flash"] }
]
const catalog: CatalogView = {
  resolve: (slug) => accounts.find((account) => account.slug === slug),
  list: () => accounts,
  models: builtInModels
}
const key: GatewayKey = requestContext.key
interface More extends Partial<Asked> {
  readonly facts?: RequestFacts
  readonly conditionSteps?: number
  readonly draw?: () => number
  readonly open?: ReadonlyArray<number>
}
const plan = (
  value: Json,
  {
    conditionSteps = 1_000,
    draw = () => 0,
    facts = { metadata: {}, params: {}, path: "" },
    open = [],
    ...asked
  }: More = {}
) =>
  Result.flatMap(
    resolveTargets(
      config(value),
      { model: "gemini-2.5-flash", header: undefined, key, carried: requestContext.carried, ...asked },
      catalog
    ),
    (targets) =>
      orderTargets(config(value), targets, {
        facts: () => facts,
        conditionSteps,
        draw,
        isOpen: ({ target }) => target !== undefined && open.includes(target.index)
      })
  )
const planned = (value: Json, more: More = {}): ReadonlyArray<Planned> =>
  Result.getOrThrowWith(plan(value, more), (fault) => new Error(fault._tag))
/** Slug and model of every target. */
const brief = (value: Json, more: More = {}) =>
  planned(value, more).map(({ account, modelId }) => `${account.slug}/${modelId}`)
const faultOf = (value: Json, more: More = {}) => Result.getFailure(plan(value, more))

const google = { provider: "google" }
const vertex = { provider: "vertex-ai" }

describe("targets of a config", () => {
  it("fallback plan: has all targets in their order", () => {
    expect(
      brief(
        fallback(
          google,
          { provider: "@vertex-ai", override_params: { model: "gemini-2.5-pro" } },
          { virtual_key: "gemini-b" }
        )
      )
    ).toEqual(["google/gemini-2.5-flash", "vertex-ai/gemini-2.5-pro", "gemini-b/gemini-2.5-flash"])
  })
  it("single plan: has the first target", () =>
    expect(brief({ strategy: { mode: "single" }, targets: [vertex, google] })).toEqual(["vertex-ai/gemini-2.5-flash"]))
  it("conditional plan: a request over its budget of steps is refused, and its facts are computed once (TH33)", () => {
    const stage = (name: string): Json => ({
      strategy: {
        mode: "conditional",
        conditions: [{ query: { "params.text": { $regex: "(a|aa)*b" } }, then: name }],
        default: name
      },
      targets: [{ name, provider: "google" }]
    })
    let made = 0
    const order = (conditionSteps: number, value: Json) => {
      const read = config(value)
      const targets = Result.getOrThrow(
        resolveTargets(
          read,
          { model: "gemini-2.5-flash", header: undefined, key, carried: requestContext.carried },
          catalog
        )
      )
      const facts = () => {
        made++
        return { metadata: {}, params: { text: "a".repeat(20) }, path: "" }
      }
      return orderTargets(read, targets, { facts, conditionSteps, draw: () => 0, isOpen: () => false })
    }
    const two = fallback(stage("x"), stage("y"))
    expect([Result.getOrThrow(order(600, two)).length, made]).toEqual([2, 1])
    expect(Result.getOrThrow(order(300, stage("x"))).length).toBe(1)
    expect(Result.merge(order(300, two))).toEqual(
      new BodyInvalid({
        code: "invalid_config",
        param: "x-gateway-config",
        message:
          "The conditions of the config need more than 300 steps for this request (limits.conditionSteps); use fewer or simpler patterns."
      })
    )
  })
  it("conditional plan: has the first target whose query matches, else the default", () => {
    const routed: Json = {
      strategy: {
        mode: "conditional",
        conditions: [
          { query: { "metadata.plan": "paid", "params.temperature": { $gt: 0.5 } }, then: "hot" },
          { query: { "url.pathname": { $regex: "embeddings$" } }, then: "vectors" }
        ],
        default: "rest"
      },
      targets: [
        { name: "rest", provider: "google" },
        { name: "hot", provider: "vertex-ai" },
        { name: "vectors", provider: "gemini-b" }
      ]
    }
    const facts = (plan: string, path: string) => ({ metadata: { plan }, params: { temperature: 0.9 }, path })
    expect(brief(routed, { facts: facts("paid", "/v1/embeddings") })).toEqual(["vertex-ai/gemini-2.5-flash"])
    expect(brief(routed, { facts: facts("free", "/v1/embeddings") })).toEqual(["gemini-b/gemini-2.5-flash"])
    expect(brief(routed, { facts: facts("free", "/v1/chat/completions") })).toEqual(["google/gemini-2.5-flash"])
  })
  it("loadbalance plan: has one target, chosen by weight", () => {
    const weighed: Json = {
      strategy: { mode: "loadbalance" },
      targets: [
        { ...google, weight: 1 },
        { ...vertex, weight: 0 },
        { provider: "gemini-b", weight: 3 }
      ]
    }
    const at = (draw: number) => brief(weighed, { draw: () => draw })
    expect([0, 0.2499, 0.25, 0.9999].map(at)).toEqual([
      ["google/gemini-2.5-flash"],
      ["google/gemini-2.5-flash"],
      ["gemini-b/gemini-2.5-flash"],
      ["gemini-b/gemini-2.5-flash"]
    ])
  })
  it("loadbalance plan: shares follow the weights", () => {
    const weights = fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 })
      .filter((some) => some.some((weight) => weight > 0))
    fc.assert(
      fc.property(weights, (some) => {
        const value: Json = {
          strategy: { mode: "loadbalance" },
          targets: some.map((weight) => ({ ...google, weight }))
        }
        const sum = some.reduce((total, weight) => total + weight, 0)
        const drawn = Array.from(
          { length: sum },
          (_, index) => planned(value, { draw: () => (index + 0.5) / sum })[0]?.target?.index
        )
        expect(some.map((_, index) => drawn.filter((one) => one === index).length)).toEqual(some)
      }),
      { numRuns: 50, seed: 2 }
    )
  })
  it("loadbalance plan: a target that would be refused is skipped while others are allowed", () => {
    const three: Json = {
      strategy: { mode: "loadbalance" },
      targets: [google, { strategy: { mode: "fallback" }, targets: [vertex, google] }, { provider: "gemini-b" }]
    }
    const first = (open: ReadonlyArray<number>) =>
      [0, 0.5, 0.99].map((draw) => planned(three, { open, draw: () => draw })[0]?.target?.index)
    expect(first([])).toEqual([0, 1, 3])
    expect(first([0])).toEqual([1, 3, 3])
    expect(first([1])).toEqual([0, 1, 3])
    expect(first([1, 2])).toEqual([0, 3, 3])
    expect(first([0, 1, 2, 3])).toEqual([0, 1, 3])
  })
  it("nested plan: a failure leaves a group only when its targets are spent", () => {
    const ways = planned(
      {
        strategy: { mode: "fallback", on_status_codes: [429] },
        targets: [
          { strategy: { mode: "fallback", on_status_codes: [503] }, targets: [google, vertex] },
          { strategy: { mode: "loadbalance" }, targets: [google, fallback(vertex, google)] },
          { provider: "gemini-b" }
        ]
      },
      { draw: () => 0.7 }
    ).map((one) => [one.target?.index, one.edges.map(({ codes, to }) => [...(codes ?? ["any"]), to])])
    expect(ways).toEqual([
      [
        0,
        [
          [503, 1],
          [429, 2]
        ]
      ],
      [1, [[429, 2]]],
      [
        3,
        [
          ["any", 3],
          [429, 4]
        ]
      ],
      [4, [[429, 4]]],
      [5, []]
    ])
  })
})

describe("provider of a target (interface section 4)", () => {
  it("plan of a config: one target fills in what the request leaves open", () => {
    expect(brief(vertex)).toEqual(["vertex-ai/gemini-2.5-flash"])
    expect(brief(vertex, { header: "google" })).toEqual(["google/gemini-2.5-flash"])
    expect(brief(vertex, { model: "@google/gemini-2.5-flash", header: "vertex-ai" })).toEqual([
      "google/gemini-2.5-flash"
    ])
  })
  it("plan of a config: each of several targets has its own provider, or the request's", () => {
    expect(brief(fallback(google, vertex, {}), { model: "@gemini-b/gemini-2.5-flash" })).toEqual([
      "google/gemini-2.5-flash",
      "vertex-ai/gemini-2.5-flash",
      "gemini-b/gemini-2.5-flash"
    ])
    expect(brief(fallback(google, {}), { header: "vertex-ai" })).toEqual([
      "google/gemini-2.5-flash",
      "vertex-ai/gemini-2.5-flash"
    ])
  })
  it("plan of a config: a model set by a target brings its prefix", () => {
    expect(
      brief(
        { provider: "google", override_params: { model: "@vertex-ai/gemini-2.5-pro" } },
        { model: "@google/x", header: "google" }
      )
    ).toEqual(["vertex-ai/gemini-2.5-pro"])
    expect(brief({ override_params: { model: "gemini-2.5-pro" } }, { model: "@google/x" })).toEqual([
      "google/gemini-2.5-pro"
    ])
  })
  it("plan of a config: an unknown or missing provider is refused before any call (B35, B36)", () => {
    expect(faultOf(fallback(google, { provider: "gone" }))).toMatchObject({
      value: { _tag: "SlugUnknown", slug: "gone", param: "x-gateway-config" }
    })
    expect(faultOf(fallback(google, {}))).toMatchObject({ value: { _tag: "ProviderMissing" } })
    expect(faultOf({}, { header: "gone" })).toMatchObject({
      value: { _tag: "SlugUnknown", param: "x-gateway-provider" }
    })
  })
  it("plan of a config: allow-lists apply to every target (B3)", () => {
    expect(faultOf(fallback(google, vertex), { key: { ...key, providers: ["google"] } })).toMatchObject({
      value: { _tag: "ModelNotAllowed" }
    })
    expect(
      faultOf(fallback(google, { ...google, override_params: { model: "gemini-2.5-pro" } }), {
        key: { ...key, models: ["gemini-2.5-flash"] }
      })
    ).toMatchObject({ value: { _tag: "ModelNotAllowed" } })
    expect(
      faultOf(fallback(google, { provider: "gemini-b", override_params: { model: "gemini-2.5-pro" } }))
    ).toMatchObject({ value: { _tag: "ModelNotAllowed" } })
  })
})

describe("credential of a target (TH34)", () => {
  const secret = Redacted.make("carried")
  const own = Redacted.make("own")
  const carried = (some: Partial<CarriedCredentials>): More => ({ carried: { ...requestContext.carried, ...some } })
  const tokens = (value: Json, more: More) => planned(value, more).map((one) => one.carried.authorization)
  it("target credential: an Authorization goes to all targets of one kind of provider (TH34)", () => {
    expect(tokens(fallback(google, { provider: "gemini-b" }), carried({ authorization: secret }))).toEqual([
      secret,
      secret
    ])
  })
  it("target credential: among several kinds it goes to the one the request selects, or to none (TH34)", () => {
    const mixed = fallback(google, vertex)
    expect(tokens(mixed, carried({ authorization: secret }))).toEqual([undefined, undefined])
    expect(tokens(mixed, { ...carried({ authorization: secret }), header: "vertex-ai" })).toEqual([undefined, secret])
    expect(tokens(mixed, { ...carried({ authorization: secret }), model: "@google/gemini-2.5-flash" })).toEqual([
      secret,
      undefined
    ])
  })
  it("target credential: a target's own goes to the account it names, and to no other (TH34)", () => {
    const keyed = { provider: "google", api_key: "own" }
    expect(tokens(fallback(keyed, google), carried({ authorization: secret }))).toEqual([own, secret])
    expect(tokens(keyed, { ...carried({}), header: "vertex-ai" })).toEqual([undefined])
    expect(tokens({ ...keyed, override_params: { model: "@gemini-b/gemini-2.5-flash" } }, {})).toEqual([undefined])
  })
  it("target credential: a target's place replaces the request's, without the request's credential (TH34)", () => {
    const [one] = planned(
      { provider: "vertex-ai", vertex_region: "eu" },
      carried({ authorization: secret, vertexRegion: "us", vertexProjectId: "my-project" })
    )
    expect([one?.carried.authorization, one?.account, one?.ignored]).toEqual([
      secret,
      { ...vertexAccount, project_id: "my-project", region: "eu" },
      ["x-gateway-vertex-region"]
    ])
  })
  it("target credential: a target's service account replaces the request's (TH34)", () => {
    const [one] = planned(
      { provider: "vertex-ai", vertex_service_account_json: { type: "service_account" } },
      carried({ authorization: secret, vertexServiceAccountJson: secret })
    )
    expect(one?.carried).toEqual({
      ...requestContext.carried,
      vertexServiceAccountJson: Redacted.make('{"type":"service_account"}')
    })
  })
})
