// Tests the reader of gateway configs: every fault with its path, and the values read from sound configs.
// Must not depend on the router.
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { ConfigTarget, GatewayConfig } from "../../../src/domain/config/GatewayConfig.ts"
import type { Json } from "../../../src/domain/text/json.ts"
import { readConfig } from "../../../src/domain/config/readConfig.ts"

const limits = { configDepth: 2, configTargets: 4, configPatterns: 2 }
const read = (value: Json): GatewayConfig =>
  Result.getOrThrowWith(readConfig(value, limits), (fault) => new Error(`${fault.path} ${fault.message}`))
const fault = (value: Json): string =>
  Result.match(readConfig(value, limits), {
    onSuccess: () => "none",
    onFailure: ({ message, path }) => `${path}  ${message}`
  })

const two = (...more: ReadonlyArray<object>): Json => ({
  strategy: { mode: "fallback" },
  targets: [{}, {}, ...more].slice(0, 2 + more.length) as Json
})
const conditional = (strategy: object, targets: Json = [{ name: "a" }, { name: "b" }]): Json => ({
  strategy: {
    mode: "conditional",
    conditions: [{ query: { "metadata.x": 1 }, then: "a" }],
    default: "b",
    ...strategy
  } as Json,
  targets
})
const nested = (depth: number): Json =>
  depth === 0 ? {} : { strategy: { mode: "single" }, targets: [nested(depth - 1)] }

describe("faults of a config (B112)", () => {
  it.each<readonly [name: string, config: Json, said: string]>([
    ["a value that is not an object", [], "  expected a mapping of keys"],
    ["an unknown field", { overide_params: {} }, "overide_params  unknown key; did you mean override_params?"],
    [
      "camelCase",
      { targets: [{ overrideParams: {} }] },
      "targets[0].overrideParams  unknown key; did you mean override_params?"
    ],
    [
      "a host (TH4)",
      { provider: "google", custom_host: "http://evil" },
      "custom_host  is not taken: where a provider lives is the operator's decision"
    ],
    [
      "a host of a target (TH4)",
      { targets: [{ base_url: "http://evil" }] },
      "targets[0].base_url  is not taken: where a provider lives is the operator's decision"
    ],
    [
      "unknown mode",
      { strategy: { mode: "fallbacks" } },
      'strategy.mode  "fallbacks" is not known here; did you mean fallback?'
    ],
    ["no mode", { targets: [{}] }, "strategy  is missing: its mode states what the targets are to each other"],
    ["strategy without mode", { strategy: {}, targets: [{}] }, "strategy.mode  is missing"],
    ["no targets", { strategy: { mode: "fallback" } }, "targets  names no target"],
    ["empty targets", { strategy: { mode: "loadbalance" }, targets: [] }, "targets  names no target"],
    ["too deep", nested(3), "targets[0].targets[0].targets  is nested deeper than 2 levels"],
    ["too many targets", two({}, {}, {}), "targets[4]  is one target too many: a config has at most 4"],
    [
      "target fields on a group",
      { provider: "google", strategy: { mode: "single" }, targets: [{}] },
      "provider  belongs to a target, not to a group of targets"
    ],
    [
      "metadata of a target",
      { strategy: { mode: "single" }, targets: [{ metadata: { a: "b" } }] },
      "targets[0].metadata  belongs to the config, not to one of its targets"
    ],
    ["metadata that is not text", { metadata: { a: 1 } }, "metadata.a  expected text"],
    [
      "metadata with a refused name (B20)",
      JSON.parse('{"metadata":{"__proto__":"x"}}'),
      "metadata.__proto__  is no name for metadata"
    ],
    [
      "a label with a refused name (B20)",
      { labels: { constructor: "x" } },
      "labels.constructor  is no name for a label"
    ],
    [
      "bad slug",
      { provider: "@Gemini" },
      'provider  "@Gemini" is not a slug: lower-case letters, digits and "-", at most 63'
    ],
    ["slug twice", { provider: "a", virtual_key: "b" }, "virtual_key  is next to provider; one of them is enough"],
    [
      "a key without a provider",
      { api_key: "sekret" },
      "  has credentials or a place of a provider, but names no provider"
    ],
    [
      "bad region (TH5)",
      { provider: "v", vertex_region: "us#" },
      'vertex_region  "us#" is not a region, such as us-central1, global, us or eu'
    ],
    [
      "bad project (TH5)",
      { provider: "v", vertex_project_id: "../x" },
      'vertex_project_id  "../x" is not a Google Cloud project id or number'
    ],
    [
      "negative weight",
      { strategy: { mode: "loadbalance" }, targets: [{ weight: -1 }] },
      "targets[0].weight  expected a number from 0 to 1000000"
    ],
    [
      "no weight at all",
      { strategy: { mode: "loadbalance" }, targets: [{ weight: 0 }, { weight: 0 }] },
      "targets  gives all targets the weight 0"
    ],
    ["retries without number", { retry: {} }, "retry.attempts  is missing"],
    ["too many retries", { retry: { attempts: 6 } }, "retry.attempts  expected a whole number from 0 to 5"],
    [
      "an invalid status code",
      { retry: { attempts: 1, on_status_codes: [42] } },
      "retry.on_status_codes[0]  expected a whole number from 100 to 599"
    ],
    ["a timeout of zero", { request_timeout: 0 }, "request_timeout  expected a whole number from 1 to 2147483647"],
    ["timeout in words", { timeouts: { total: "5s" } }, "timeouts.total  expected a number"],
    ["semantic cache", { cache: { mode: "semantic" } }, 'cache.mode  "semantic" is not known here; known: simple'],
    [
      "circuit that never opens",
      { strategy: { mode: "single", cb_config: { cooldown_interval: 1 } } },
      "strategy.cb_config  states when a circuit opens by failure_threshold or failure_threshold_percentage"
    ],
    [
      "the route's own field",
      { override_params: { stream: true } },
      "override_params.stream  cannot be set by a config"
    ],
    [
      "a dialect's own field",
      { default_params: { contents: [] } },
      "default_params.contents  cannot be set by a config"
    ],
    [
      "a dialect's own field, dropped",
      { drop_params: ["anthropic_version"] },
      "drop_params[0]  cannot be dropped by a config"
    ],
    ["a model that is not text", { override_params: { model: 1 } }, "override_params.model  expected text"],
    [
      "an invalid path",
      { drop_params: ["a..b"] },
      'drop_params[0]  "a..b" is no path such as logprobs, response_format.json_schema, messages[2] or tools[*].function.strict'
    ],
    ["no conditions", conditional({ conditions: undefined }), "strategy.conditions  is missing"],
    [
      "no default",
      conditional({ default: undefined }),
      "strategy.default  is missing: it names the target for requests that fit no condition"
    ],
    [
      "a default that names no target",
      conditional({ default: "bb" }),
      'strategy.default  "bb" is no name of a target; did you mean b?'
    ],
    [
      "a condition that names no target",
      conditional({ conditions: [{ query: { "metadata.x": 1 }, then: "nobody" }] }),
      'strategy.conditions[0].then  "nobody" is no name of a target; known: a, b'
    ],
    [
      "name twice",
      conditional({}, [{ name: "a" }, { name: "b" }, { name: "a" }]),
      'targets[2].name  "a" is the name of another target as well'
    ],
    [
      "too many patterns in all conditions",
      conditional({
        conditions: ["a", "b", "c"].map(($regex) => ({ query: { "metadata.x": { $regex } }, then: "a" }))
      }),
      "strategy.conditions[2].query.metadata.x.$regex  is one pattern too many: a config has at most 2"
    ],
    [
      "bad query",
      conditional({ conditions: [{ query: { "metadata.x": { $is: 1 } }, then: "a" }] }),
      "strategy.conditions[0].query.metadata.x.$is  unknown operator; did you mean $in?"
    ]
  ])("config: reports the fault: %s (B112)", (_name, config, said) => {
    expect(fault(JSON.parse(JSON.stringify(config)))).toBe(said)
  })
})

/** A target without settings. */
const bare: ConfigTarget = {
  kind: "target",
  index: 0,
  at: [],
  slug: undefined,
  credentials: undefined,
  model: undefined,
  defaultModel: undefined,
  edits: undefined,
  labels: undefined,
  retry: undefined,
  times: undefined,
  circuit: undefined,
  cache: undefined
}

describe("values of a config", () => {
  it("an empty config is one target without settings", () => {
    expect(read({})).toEqual({
      root: bare,
      targets: [bare],
      model: undefined,
      metadata: {},
      sharesGuarded: false,
      shown: {}
    })
    expect(read({ strategy: { mode: "single" }, passthrough: true }).root).toEqual(bare)
  })

  it("config: one target has its fields", () => {
    const config = read({
      provider: "@vertex-prod",
      api_key: "ya29.x",
      vertex_project_id: "my-project",
      vertex_region: "eu",
      override_params: { model: "gemini-2.5-pro" },
      default_params: { temperature: 0 },
      drop_params: ["seed"],
      retry: { attempts: 3, on_status_codes: [429, 408], use_retry_after_headers: true },
      request_timeout: 5,
      timeouts: { connect: 1, first_byte: 2, idle: 3, total: 4 },
      cb_config: {
        failure_threshold: 5,
        failure_threshold_percentage: 20,
        minimum_requests: 7,
        cooldown_interval: 60_000,
        failure_status_codes: [500]
      },
      cache: { mode: "simple", max_age: 60 },
      labels: { team: "a" },
      metadata: { plan: "paid" }
    })
    expect(config.targets).toEqual([
      {
        ...bare,
        slug: "vertex-prod",
        credentials: {
          authorization: Redacted.make("ya29.x"),
          googApiKey: undefined,
          vertexProjectId: "my-project",
          vertexRegion: "eu",
          vertexServiceAccountJson: undefined
        },
        model: "gemini-2.5-pro",
        edits: { defaults: { temperature: 0 }, overrides: { model: "gemini-2.5-pro" }, drops: [["seed"]] },
        labels: { team: "a" },
        retry: { attempts: 3, codes: new Set([429, 408]), patient: true },
        times: { request: 5, connect: 1, firstByte: 2, idle: 3, total: 4 },
        circuit: {
          id: expect.any(String),
          consecutive: 5,
          rate: { threshold: 0.2, minimum: 7 },
          cooldownMillis: 60_000,
          codes: new Set([500])
        },
        cache: { maxAgeSeconds: 60 }
      }
    ])
    expect([config.model, config.metadata]).toEqual(["gemini-2.5-pro", { plan: "paid" }])
  })

  it("config: printed values contain no secret", () => {
    const config = read({ provider: "v", api_key: "sekret", vertex_service_account_json: { private_key: "sekret" } })
    expect(JSON.stringify(config)).not.toContain("sekret")
  })

  it("config: settings are inherited from above, and the nearest value wins", () => {
    const config = read({
      strategy: { mode: "fallback", cb_config: { failure_threshold: 1 } },
      request_timeout: 2_000,
      retry: { attempts: 1 },
      labels: { a: "1", b: "1" },
      override_params: { temperature: 0, thinking: { type: "enabled" } },
      drop_params: ["seed"],
      targets: [
        {
          name: "first",
          override_params: { thinking: { budget_tokens: 1 } },
          labels: { b: "2" },
          drop_params: ["user"]
        },
        { request_timeout: 10_000, retry: { attempts: 0 }, cb_config: { failure_threshold: 9 }, timeouts: { idle: 5 } }
      ]
    })
    const times = { request: 2_000, connect: undefined, firstByte: undefined, idle: undefined, total: undefined }
    const circuit = {
      id: '{"failure_threshold":1}',
      consecutive: 1,
      rate: undefined,
      cooldownMillis: 30_000,
      codes: undefined
    }
    const retry = { attempts: 1, codes: undefined, patient: false }
    expect(config.targets).toEqual([
      {
        ...bare,
        at: ["targets", 0],
        edits: {
          defaults: {},
          overrides: { temperature: 0, thinking: { type: "enabled", budget_tokens: 1 } },
          drops: [["seed"], ["user"]]
        },
        labels: { a: "1", b: "2" },
        times,
        circuit,
        retry
      },
      {
        ...bare,
        index: 1,
        at: ["targets", 1],
        edits: { defaults: {}, overrides: { temperature: 0, thinking: { type: "enabled" } }, drops: [["seed"]] },
        labels: { a: "1", b: "1" },
        times: { ...times, request: 10_000, idle: 5 },
        circuit: { ...circuit, id: '{"failure_threshold":9}', consecutive: 9 },
        retry: { ...retry, attempts: 0 }
      }
    ])
  })

  it("config: targets are counted as written, groups included", () => {
    const config = read({
      strategy: { mode: "fallback", on_status_codes: [429] },
      targets: [{ strategy: { mode: "loadbalance" }, targets: [{ weight: 0.25 }, {}] }, { provider: "last" }]
    })
    expect(config.targets.map(({ at, index }) => [index, at])).toEqual([
      [0, ["targets", 0, "targets", 0]],
      [1, ["targets", 0, "targets", 1]],
      [2, ["targets", 1]]
    ])
    expect(config.root).toMatchObject({
      kind: "group",
      mode: "fallback",
      codes: new Set([429]),
      members: [
        { weight: 1, node: { mode: "loadbalance", codes: undefined, members: [{ weight: 0.25 }, { weight: 1 }] } },
        { weight: 1, node: { slug: "last" } }
      ]
    })
  })

  it("config: has a model for requests without one where every target states its own", () => {
    const models = (...targets: ReadonlyArray<Json>) => read({ strategy: { mode: "fallback" }, targets }).model
    expect(models({ override_params: { model: "a" } }, { override_params: { model: "b" } })).toBe("a")
    expect(models({ override_params: { model: "a" } }, {})).toBe(undefined)
    expect(models({ override_params: { model: "a" } }, { default_params: { model: "b" } })).toBe(undefined)
    expect(read({ default_params: { model: "a" } }).model).toBe("a")
  })
})
