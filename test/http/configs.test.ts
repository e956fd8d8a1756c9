// Tests gateway configs through the whole service: the upstream calls, their order, and the client's answer.
// Must not depend on the router's units.
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import type { Json } from "../../src/domain/text/json.ts"
import type { ScriptedResponse, TransportScript } from "../../src/upstream/Transport.ts"
import { googleAccount, vertexAccount } from "../support/account.ts"
import { config, fallback, inline } from "../support/config.ts"
import { functionTool, message, start, stop, stream, text, user } from "../support/claude.ts"
import { reply } from "../support/gemini.ts"
import { gatewaysOver, replying, type ScriptedGateway } from "../support/scripted.ts"
import { sse } from "../support/streams.ts"

const path = "/v1/chat/completions"
const hello = { model: "gemini-2.5-flash", messages: [user("hi")] }
const google = { provider: "google" }
const vertex = { provider: "vertex-ai" }
const claude = { override_params: { model: "@vertex-ai/anthropic.claude-sonnet-4-5@20250929" } }

const over = gatewaysOver()

const gemini = (words: string) => replying(reply([{ text: words }], { finishReason: "STOP" }))
const failing = (status: number, word: string, headers: Record<string, string> = {}): ScriptedResponse => ({
  status,
  headers,
  chunks: [JSON.stringify({ error: { code: status, message: "Not now.", status: word } })]
})
const busy = failing(503, "UNAVAILABLE")
/** Which product and model a call went to, and how. */
const called = (gateway: ScriptedGateway) =>
  gateway.seen.map(({ url }) => {
    const [, model = "", verb = ""] = /\/([^/:]+):(\w+)/.exec(url.replace("https://", "")) ?? []
    return `${url.includes("generativelanguage") ? "google" : "vertex"} ${model} ${verb}`
  })
const told = async (answer: Response) => {
  const { headers } = answer
  const body: {
    readonly choices?: ReadonlyArray<{ readonly message: { readonly content: string } }>
    readonly error?: { readonly message: string; readonly code: string }
  } = JSON.parse(await answer.text())
  return {
    status: answer.status,
    said: body.choices?.[0]?.message.content ?? body.error,
    by: [
      headers.get("x-gateway-provider"),
      headers.get("x-gateway-last-used-option-index"),
      headers.get("x-gateway-retry-attempt-count")
    ].join(" ")
  }
}

describe("sources of a config", () => {
  const echo: TransportScript = ({ url }) => gemini(url.includes("generativelanguage") ? "google" : "vertex")
  const keys = [
    {
      name: "test",
      key: Redacted.make("mgk_test0000000000000000000000000000"),
      config: "mine"
    },
    {
      name: "plain",
      key: Redacted.make("mgk_plain000000000000000000000000000")
    }
  ]
  const gateway = () => over(echo, { configs: { mine: config(vertex), other: config(google) }, keys })
  it("configs: the request's config, inline or by id, goes before the key's", async () => {
    const { post } = gateway()
    const by = async (headers: Record<string, string>) => (await told(await post(path, hello, headers))).said
    expect(await by({})).toBe("vertex")
    expect(await by({ "x-gateway-config": "other" })).toBe("google")
    expect(await by({ "x-portkey-config": "other" })).toBe("google")
    expect(await by(inline(google))).toBe("google")
    expect(await by({ "x-gateway-config": " " })).toBe("vertex")
    expect(await by({ "x-gateway-api-key": "mgk_plain000000000000000000000000000" })).toMatchObject({
      code: "provider_missing"
    })
  })
  it.each<readonly [name: string, header: string, said: string]>([
    ["text that is not JSON", "{", "x-gateway-config: the config is not JSON."],
    ["a value of the wrong type", '{"retry":{"attempts":"2"}}', "x-gateway-config: retry.attempts expected a number."],
    ["a misspelt name", '{"strateggy":{}}', "x-gateway-config: strateggy unknown key; did you mean strategy?"],
    [
      "a host (TH4)",
      '{"custom_host":"http://evil"}',
      "x-gateway-config: custom_host is not taken: where a provider lives is the operator's decision."
    ],
    [
      "JSON that is nested too deep",
      `{"targets":${"[".repeat(200)}${"]".repeat(200)}}`,
      "x-gateway-config: the config is not JSON."
    ]
  ])("configs: refuses an invalid inline config: %s (B112)", async (_name, header, said) => {
    const { post, seen } = gateway()
    const answer = await post(path, hello, { "x-gateway-config": header })
    expect([answer.status, await answer.json(), seen]).toEqual([
      400,
      {
        error: { message: said, type: "invalid_request_error", param: "x-gateway-config", code: "invalid_config" }
      },
      []
    ])
  })
  describe("conditions that would delay the service (TH33)", () => {
    const patterns = (count: number): Json => ({
      strategy: {
        mode: "conditional",
        conditions: [
          {
            query: { $or: Array.from({ length: count }, () => ({ "params.user": { $regex: "a{0,200}b" } })) },
            then: "a"
          }
        ],
        default: "a"
      },
      targets: [{ name: "a", provider: "google" }]
    })
    const asked = { ...hello, user: "a".repeat(4_096) }
    const refused = (message: string) => [
      400,
      { error: { message, type: "invalid_request_error", param: "x-gateway-config", code: "invalid_config" } }
    ]
    it.each<readonly [name: string, headers: Record<string, string>]>([
      ["of the request", inline(patterns(20))],
      ["stored under an id", { "x-gateway-config": "slow" }]
    ])("configs: a config %s is refused when its budget of steps is spent (TH33)", async (_name, headers) => {
      const { post, seen } = over(echo, { configs: { slow: config(patterns(20)) } })
      const answer = await post(path, asked, headers)
      expect([[answer.status, await answer.json()], seen]).toEqual([
        refused(
          "The conditions of the config need more than 500000 steps for this request (limits.conditionSteps); use fewer or simpler patterns."
        ),
        []
      ])
      expect((await post(path, { ...hello, user: "aaab" }, headers)).status).toBe(200)
    })
    it("configs: a config of a hundred patterns is refused before its end (TH33)", async () => {
      const { post, seen } = gateway()
      const answer = await post(path, asked, inline(patterns(100)))
      expect([[answer.status, await answer.json()], seen]).toEqual([
        refused(
          "x-gateway-config: strategy.conditions[0].query.$or[64].params.user.$regex is one pattern too many: a config has at most 64."
        ),
        []
      ])
    })
  })
  it("configs: an unknown id is refused (B112)", async () => {
    const answer = await gateway().post(path, hello, { "x-gateway-config": "gone" })
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        error: {
          message: "There is no such config.",
          type: "not_found_error",
          param: "x-gateway-config",
          code: "config_not_found"
        }
      }
    ])
  })
  it("configs: a missing config of the key is not a fault of the request", async () => {
    const key = "mgk_orphan00000000000000000000000000"
    const orphaned = over(echo, {
      keys: [...keys, { name: "orphan", key: Redacted.make(key), config: "gone" }],
      configs: {}
    })
    const answer = await orphaned.post(path, hello, { "x-gateway-api-key": key })
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        error: {
          message:
            'This gateway key goes by the config "gone", which does not exist any more: name another one, or ask those who run the gateway.',
          type: "not_found_error",
          param: null,
          code: "config_not_found"
        }
      }
    ])
  })
  it("configs: a config gives the model to a request without one, on every route", async () => {
    const { post, seen } = gateway()
    const { messages } = hello
    expect(
      (await post(path, { messages }, inline({ ...google, override_params: { model: "gemini-2.5-pro" } }))).status
    ).toBe(200)
    expect((await post(path, { messages }, inline(google))).status).toBe(400)
    await post(
      "/v1/embeddings",
      { input: "a" },
      inline({ ...google, default_params: { model: "gemini-embedding-001" } })
    )
    await post(
      "/v1/messages",
      { messages, max_tokens: 5 },
      inline({ ...vertex, default_params: { model: "claude-sonnet-4-5@20250929" } })
    )
    expect(seen.map(({ url }) => url.replace(/^.*\//, ""))).toEqual([
      "gemini-2.5-pro:generateContent",
      "gemini-embedding-001:batchEmbedContents",
      "claude-sonnet-4-5@20250929:rawPredict"
    ])
  })
})

describe("edits a config applies to a request (T125)", () => {
  const sent = async (value: Json, body: object = hello, to = path, headers: Record<string, string> = {}) => {
    const gateway = over(() => gemini("fine"))
    const answer = await gateway.post(to, body, { ...inline(value), ...headers })
    return { answer, bodies: gateway.seen.map((call) => call.body) }
  }
  const contents = [{ role: "user", parts: [{ text: "hi" }] }]
  it("configs: defaults, overrides and drops apply before the translation (T125)", async () => {
    const { bodies } = await sent(
      {
        ...google,
        default_params: { temperature: 0.5, top_p: 0.9 },
        override_params: { max_tokens: 7, thinking: { budget_tokens: 0 } },
        drop_params: ["seed", "stop"]
      },
      { ...hello, temperature: 0, max_tokens: 9, seed: 1, stop: "x", thinking: { type: "enabled", budget_tokens: 512 } }
    )
    expect(bodies).toEqual([
      {
        contents,
        generationConfig: {
          temperature: 0,
          topP: 0.9,
          maxOutputTokens: 7,
          thinkingConfig: { thinkingBudget: 0, includeThoughts: false }
        }
      }
    ])
  })
  it("configs: override_params sets labels (T125)", async () => {
    const gateway = over(() => gemini("hi"))
    await gateway.post(path, hello, inline({ ...vertex, override_params: { labels: { team: "research" } } }))
    expect(gateway.seen.map((call) => call.body)).toEqual([
      { contents: [{ role: "user", parts: [{ text: "hi" }] }], labels: { team: "research" } }
    ])
  })

  it("configs: a config's labels yield to the request's, on Vertex AI only (T125)", async () => {
    const value = { ...fallback(google, vertex), labels: { team: "a", app: "b" } }
    const gateway = over(({ url }) => (url.includes("generativelanguage") ? busy : gemini("fine")))
    const answer = await gateway.post(path, { ...hello, labels: { team: "mine" } }, inline(value))
    expect(gateway.seen.map((call) => call.body)).toEqual([
      { contents },
      { contents, labels: { team: "mine", app: "b" } }
    ])
    expect(answer.headers.get("x-gateway-ignored-params")).toBe(null)
  })
  it("configs: an edit that makes the request invalid is refused (T125)", async () => {
    const { answer, bodies } = await sent(fallback({ ...google, override_params: { temperature: "hot" } }, vertex))
    expect([answer.status, await answer.json(), bodies]).toEqual([
      400,
      {
        error: {
          message:
            "The request is not valid with the parameters that targets[0] of the config sets: temperature has the wrong type: expected number.",
          type: "invalid_request_error",
          param: "x-gateway-config",
          code: "invalid_config"
        }
      },
      []
    ])
    expect((await sent({ ...google, drop_params: ["messages"] })).answer.status).toBe(400)
    expect((await sent({ ...google, override_params: { messages: [] } })).answer.status).toBe(400)
  })
  it("configs: edits reach the top level of a native body, whose other bytes stay (T1912)", async () => {
    const gateway = over(() => replying(message([])))
    await gateway.post(
      "/v1/messages",
      { model: "claude-sonnet-4-5@20250929", max_tokens: 9, messages: [{ role: "user", content: "hi" }], big: 1 },
      inline({
        ...vertex,
        default_params: { temperature: 1, max_tokens: 1 },
        override_params: { top_k: 3 },
        drop_params: ["big"]
      })
    )
    expect(Buffer.from(gateway.seen[0]?.body as Uint8Array).toString()).toBe(
      '{"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"temperature":1,"top_k":3,"anthropic_version":"vertex-2023-10-16"}'
    )
  })
  it("configs: edits reach embeddings and images (T125)", async () => {
    const embeddings = await sent(
      { ...google, override_params: { dimensions: 64 } },
      { model: "gemini-embedding-001", input: "a" },
      "/v1/embeddings"
    )
    expect(embeddings.bodies).toEqual([
      {
        requests: [
          { model: "models/gemini-embedding-001", content: { parts: [{ text: "a" }] }, outputDimensionality: 64 }
        ]
      }
    ])
    const images = await sent(
      { ...google, override_params: { n: 2 } },
      { model: "imagen-4.0-generate-001", prompt: "a" },
      "/v1/images/generations"
    )
    expect(images.bodies).toMatchObject([{ instances: [{ prompt: "a" }], parameters: { sampleCount: 2 } }])
  })
  it("configs: metadata for conditions yields to the request's own (T125)", async () => {
    const value: Json = {
      metadata: { plan: "paid" },
      strategy: { mode: "conditional", conditions: [{ query: { "metadata.plan": "paid" }, then: "v" }], default: "g" },
      targets: [
        { name: "g", ...google },
        { name: "v", ...vertex }
      ]
    }
    const { answer } = await sent(value)
    const other = await sent(value, hello, path, { "x-gateway-metadata": '{"plan":"free"}' })
    expect([answer.headers.get("x-gateway-provider"), other.answer.headers.get("x-gateway-provider")]).toEqual([
      "vertex-ai",
      "google"
    ])
  })
})

describe("metadata of a key", () => {
  const plan = { metadata: { plan: "free" } }
  const keys = [
    { ...plan, name: "test", key: Redacted.make("mgk_test0000000000000000000000000000"), metadata_locked: true },
    { ...plan, name: "plain", key: Redacted.make("mgk_plain000000000000000000000000000") }
  ]
  const routed = (more: { readonly [name: string]: Json } = {}): Json => ({
    ...more,
    strategy: {
      mode: "conditional",
      conditions: [
        { query: { "metadata.plan": "paid" }, then: "v" },
        { query: { "metadata.team": "a" }, then: "p" }
      ],
      default: "g"
    },
    targets: [
      { name: "g", ...google },
      { name: "v", ...vertex },
      { name: "p", ...google, override_params: { model: "gemini-2.5-pro" } }
    ]
  })
  const echo: TransportScript = ({ url }) =>
    gemini(url.includes("generativelanguage") ? (url.includes("pro") ? "pro" : "google") : "vertex")
  const asking = () => {
    const { post } = over(echo, { configs: { stored: config(routed({ metadata: { plan: "paid" } })) }, keys })
    return async (headers: Record<string, string>, more: { readonly [name: string]: Json } = {}) =>
      (await told(await post(path, hello, { ...inline(routed(more)), ...headers }))).said
  }
  const paid = { "x-gateway-metadata": '{"plan":"paid"}' }

  it("key metadata: locked values hold against a header, a config in a header and a stored config", async () => {
    const by = asking()
    expect([
      await by(paid),
      await by({}, { metadata: { plan: "paid" } }),
      await by({ "x-gateway-config": "stored" })
    ]).toEqual(["google", "google", "google"])
    const open = { "x-gateway-api-key": "mgk_plain000000000000000000000000000" }
    expect([await by({ ...paid, ...open }), await by(open, { metadata: { plan: "paid" } })]).toEqual([
      "vertex",
      "vertex"
    ])
  })
  it("key metadata: a lock leaves other names to the request", async () => {
    expect(await asking()({ "x-gateway-metadata": '{"plan":"paid","team":"a"}' })).toBe("pro")
  })
})

describe("conditional strategy", () => {
  it("conditional: chooses by parameter and by path", async () => {
    const routed: Json = {
      strategy: {
        mode: "conditional",
        conditions: [
          { query: { "url.pathname": { $regex: "count_tokens$" } }, then: "counting" },
          { query: { "params.model": "smartest" }, then: "smart" }
        ],
        default: "fast"
      },
      targets: [
        { name: "fast", ...google, override_params: { model: "gemini-2.5-flash" } },
        { name: "smart", ...vertex, override_params: { model: "gemini-2.5-pro" } },
        { name: "counting", ...google, override_params: { model: "gemini-2.5-flash-lite" } }
      ]
    }
    const gateway = over(() => gemini("fine"))
    for (const model of ["smartest", "fastest"]) await gateway.post(path, { ...hello, model }, inline(routed))
    await gateway.post(`${path}/count_tokens`, { ...hello, model: "smartest" }, inline(routed))
    expect(called(gateway)).toEqual([
      "vertex gemini-2.5-pro generateContent",
      "google gemini-2.5-flash generateContent",
      "google gemini-2.5-flash-lite countTokens"
    ])
  })
})

describe("loadbalance strategy", () => {
  it("loadbalance: spreads requests by weight, one call each", async () => {
    let n = 0
    const gateway = over(() => gemini("fine"), { draw: () => (n + 0.5) / 10 })
    const weighed = {
      strategy: { mode: "loadbalance" },
      targets: [
        { ...google, weight: 0.7 },
        { ...vertex, weight: 0.3 }
      ]
    }
    const by: Record<string, number> = {}
    for (; n < 10; n++) {
      const answer = await gateway.post(path, hello, inline(weighed))
      const name = `${answer.headers.get("x-gateway-provider")} ${answer.headers.get("x-gateway-last-used-option-index")}`
      by[name] = (by[name] ?? 0) + 1
    }
    expect([by, gateway.seen.length]).toEqual([{ "google 0": 7, "vertex-ai 1": 3 }, 10])
  })
  it("loadbalance: makes no other call after a failure", async () => {
    const gateway = over(() => busy, { draw: () => 0 })
    const answer = await gateway.post(
      path,
      hello,
      inline({ strategy: { mode: "loadbalance" }, targets: [google, vertex] })
    )
    expect([answer.status, called(gateway)]).toEqual([503, ["google gemini-2.5-flash generateContent"]])
  })
})

describe("fallback strategy", () => {
  it("fallback: goes to the next target, which the answer names", async () => {
    const gateway = over(({ url }) => (url.includes("generativelanguage") ? busy : gemini("from Vertex")))
    expect(await told(await gateway.post(path, hello, inline(fallback(google, vertex))))).toEqual({
      status: 200,
      said: "from Vertex",
      by: "vertex-ai 1 0"
    })
    expect(called(gateway)).toEqual([
      "google gemini-2.5-flash generateContent",
      "vertex gemini-2.5-flash generateContent"
    ])
  })
  it("fallback: stays after a client error, unless its code is listed", async () => {
    const script: TransportScript = ({ url }) =>
      url.includes("generativelanguage") ? failing(400, "INVALID_ARGUMENT") : gemini("fine")
    expect((await over(script).post(path, hello, inline(fallback(google, vertex)))).status).toBe(400)
    const listed = { strategy: { mode: "fallback", on_status_codes: [400] }, targets: [google, vertex] }
    expect((await over(script).post(path, hello, inline(listed))).status).toBe(200)
    const other = { strategy: { mode: "fallback", on_status_codes: [429] }, targets: [google, vertex] }
    expect((await over(() => busy).post(path, hello, inline(other))).status).toBe(503)
  })
  it("fallback: the failure of all targets answers with the last one's status and message", async () => {
    const gateway = over(({ url }) =>
      url.includes("generativelanguage") ? busy : failing(429, "RESOURCE_EXHAUSTED", { "retry-after": "9" })
    )
    const answer = await gateway.post(path, hello, inline(fallback(google, vertex)))
    expect(answer.headers.get("retry-after")).toBe("9")
    expect(await told(answer)).toEqual({
      status: 429,
      said: {
        message: "All 2 targets that were tried failed. The last one: Not now.",
        type: "rate_limit_error",
        param: null,
        code: "rate_limit_exceeded"
      },
      by: "vertex-ai 1 0"
    })
  })
  it("fallback: leaves a target that cannot take the request, where the config allows it", async () => {
    const asked = { ...hello, modalities: ["image"] }
    const gateway = over(() => gemini("fine"))
    const reversed = (codes: object) => inline({ strategy: { mode: "fallback", ...codes }, targets: [claude, google] })
    expect((await gateway.post(path, asked, reversed({}))).status).toBe(400)
    expect(
      (await gateway.post(path, asked, reversed({ on_status_codes: [400] }))).headers.get("x-gateway-provider")
    ).toBe("google")
  })
  it("fallback: the deadline of the request covers all attempts (S12)", async () => {
    const hour = 3_600_000
    const gateway = over(() => ({ status: 503, fault: "total_timeout" }), {
      limits: { retries: 2, retryBaseMillis: hour, retryCapMillis: hour, retryWaitMillis: hour },
      draw: () => 0.5
    })
    const answer = await gateway.post(path, hello, { ...inline(google), "x-gateway-request-timeout": "1000000" })
    expect([answer.status, gateway.seen.length]).toEqual([504, 1])
  })
})

describe("retries", () => {
  const twice = (first: ScriptedResponse): { readonly script: TransportScript; readonly times: () => number } => {
    let calls = 0
    return { script: () => (calls++ < 2 ? first : gemini("at last")), times: () => calls }
  }
  const quick = { limits: { retries: 2, retryBaseMillis: 0 } }
  it("retries: a request without a config is retried twice, and its answer reports the number", async () => {
    const { script } = twice(busy)
    expect(await told(await over(script, quick).post(path, { ...hello, model: "@google/gemini-2.5-flash" }))).toEqual({
      status: 200,
      said: "at last",
      by: "google 0 2"
    })
  })
  it("retries: a final failure reports the number and keeps its message", async () => {
    const gateway = over(() => busy, quick)
    expect(await told(await gateway.post(path, { ...hello, model: "@google/gemini-2.5-flash" }))).toEqual({
      status: 503,
      said: { message: "Not now.", type: "api_error", param: null, code: "upstream_unavailable" },
      by: "google 0 2"
    })
    expect(gateway.seen).toHaveLength(3)
  })
  it("retries: follow the number in the config", async () => {
    for (const attempts of [0, 1, 4]) {
      const gateway = over(() => busy, quick)
      const answer = await gateway.post(path, hello, inline({ ...google, retry: { attempts } }))
      // The retry allowance of a single request is three.
      expect([gateway.seen.length, answer.headers.get("x-gateway-retry-attempt-count")]).toEqual([
        1 + Math.min(attempts, 3),
        String(Math.min(attempts, 3))
      ])
    }
  })
  it("retries: end with the next target", async () => {
    const gateway = over(({ url }) => (url.includes("generativelanguage") ? busy : gemini("fine")), quick)
    const answer = await gateway.post(
      path,
      hello,
      inline({ ...fallback({ ...google, retry: { attempts: 1 } }, vertex) })
    )
    expect([called(gateway).map((call) => call.slice(0, 6)), (await told(answer)).by]).toEqual([
      ["google", "google", "vertex"],
      "vertex-ai 1 0"
    ])
  })
  it.each([400, 401, 403, 404, 413])("retries: do not follow a status %i", async (status) => {
    const gateway = over(() => failing(status, ""), quick)
    await gateway.post(path, hello, inline({ ...google, retry: { attempts: 3, on_status_codes: [status] } }))
    expect(gateway.seen).toHaveLength(1)
  })
  it("configs: no retry follows where the upstream asks for a long wait, which the answer reports (F18)", async () => {
    const gateway = over(() => failing(429, "RESOURCE_EXHAUSTED", { "retry-after": "7" }), quick)
    const answer = await gateway.post(path, hello, inline(google))
    expect([gateway.seen.length, answer.headers.get("retry-after"), answer.headers.get("retry-after-ms")]).toEqual([
      1,
      "7",
      "7000"
    ])
  })
})

describe("retries of streams", () => {
  const flowing = (...events: ReadonlyArray<Json>): ScriptedResponse => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    chunks: [sse(events)]
  })
  const hidden = flowing({ error: { code: 503, message: "Overloaded.", status: "UNAVAILABLE" } })
  const good = flowing(
    reply(
      [{ text: "fine" }],
      { finishReason: "STOP" },
      { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }
    )
  )
  const asked = { ...hello, stream: true }
  it("configs: an error hidden in the first event of a 200 is retried and falls back (F13, T1317)", async () => {
    const retried = over(() => (retried.seen.length < 3 ? hidden : good), {
      limits: { retries: 2, retryBaseMillis: 0 }
    })
    const answer = await retried.post(path, { ...asked, model: "@google/gemini-2.5-flash" })
    expect([
      answer.status,
      answer.headers.get("x-gateway-retry-attempt-count"),
      (await answer.text()).endsWith("data: [DONE]\n\n")
    ]).toEqual([200, "2", true])
    const back = over(({ url }) => (url.includes("generativelanguage") ? hidden : good))
    const second = await back.post(path, asked, inline(fallback(google, vertex)))
    expect([
      second.status,
      second.headers.get("x-gateway-last-used-option-index"),
      (await second.text()).includes('"fine"')
    ]).toEqual([200, "1", true])
  })
  it("configs: nothing is tried again after the first chunk (F9)", async () => {
    const cut: ScriptedResponse = {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      chunks: [sse([reply([{ text: "half" }])])],
      fault: "reset"
    }
    const gateway = over(() => cut, { limits: { retries: 2, retryBaseMillis: 0 } })
    const answer = await gateway.post(path, asked, inline(fallback({ ...google, retry: { attempts: 2 } }, vertex)))
    const body = await answer.text()
    expect([
      answer.status,
      gateway.seen.length,
      body.includes('"half"'),
      body.includes("upstream_truncated"),
      body.includes("[DONE]")
    ]).toEqual([200, 1, true, true, false])
  })
  it("configs: a stream whose targets all fail before the first chunk is an ordinary error", async () => {
    const answer = await over(() => hidden).post(path, asked, inline(fallback(google, vertex)))
    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "application/json"])
  })
})

describe("fallback to another dialect", () => {
  const calls = (signature: string): Json =>
    reply([{ functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: signature }], {
      finishReason: "STOP"
    })
  const weather = functionTool("get_weather", { type: "object", properties: { city: { type: "string" } } })
  const asked = { ...hello, model: "gemini-3-pro-preview", tools: [weather] }
  const loose = { "x-gateway-strict-schema-compliance": "false" }
  const back = inline(fallback({ ...google }, claude))

  /** The conversation with its answer and the result of the call in it. */
  const followed = (
    before: ReadonlyArray<object>,
    {
      choices: [choice]
    }: {
      readonly choices: ReadonlyArray<{
        readonly message: { readonly tool_calls: ReadonlyArray<{ readonly id: string }> }
      }>
    }
  ) => {
    const id = choice?.message.tool_calls[0]?.id ?? ""
    return { id, messages: [...before, choice?.message, { role: "tool", tool_call_id: id, content: "21" }] }
  }

  it.each([[true], [false]])(
    "configs: a history of Gemini goes to Claude with its ids and without its signatures; strict: %s (T606)",
    async (strict) => {
      let down = false
      const gateway = over(({ url }) => {
        if (!url.includes("generativelanguage")) return replying(message([text("21 degrees")]))
        return down ? busy : replying(calls("c2lnbmF0dXJl"))
      })
      const headers = strict ? back : { ...back, ...loose }
      const { id, messages } = followed(
        hello.messages,
        JSON.parse(await (await gateway.post(path, asked, headers)).text())
      )
      down = true
      const second = await gateway.post(path, { ...asked, messages }, headers)
      expect([second.status, id]).toEqual([200, expect.stringMatching(/^call-[\da-f-]{36}$/)])
      expect(gateway.seen.at(-1)?.body).toEqual({
        anthropic_version: "vertex-2023-10-16",
        max_tokens: 32_000,
        messages: [
          { role: "user", content: [text("hi")] },
          { role: "assistant", content: [{ type: "tool_use", id, name: "get_weather", input: { city: "Paris" } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "21" }] }
        ],
        tools: [{ name: "get_weather", input_schema: { type: "object", properties: { city: { type: "string" } } } }]
      })
      expect(JSON.stringify(gateway.seen.at(-1)?.body)).not.toContain("c2lnbmF0dXJl")
    }
  )

  it("configs: a history of Claude goes to Gemini with the sentinel in place of its thinking (T606)", async () => {
    const use = { type: "tool_use", id: "toolu_01", name: "get_weather", input: { city: "Paris" } }
    let down = false
    const gateway = over(({ url }) => {
      if (url.includes("generativelanguage")) return gemini("21 degrees")
      return down
        ? busy
        : replying(
            message([{ type: "thinking", thinking: "hm", signature: "Y2xhdWRl" }, use], { stop_reason: "tool_use" })
          )
    })
    const order = { ...inline(fallback(claude, google)), ...loose }
    const { id, messages } = followed(hello.messages, JSON.parse(await (await gateway.post(path, asked, order)).text()))
    down = true
    const second = await gateway.post(path, { ...asked, messages }, order)
    expect([second.status, id]).toEqual([200, expect.any(String)])
    expect(gateway.seen.at(-1)?.body).toMatchObject({
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        {
          role: "model",
          parts: [
            { functionCall: { name: "get_weather", args: { city: "Paris" } }, thoughtSignature: expect.any(String) }
          ]
        },
        { role: "user", parts: [{ functionResponse: { name: "get_weather" } }] }
      ]
    })
    expect(JSON.stringify(gateway.seen.at(-1)?.body)).not.toContain("Y2xhdWRl")
  })

  it("configs: a stream that Gemini refuses is answered by Claude", async () => {
    const events = sse(stream([start(0, text("")), stop(0)]), "\n")
    const gateway = over(({ url }) =>
      url.includes("generativelanguage")
        ? busy
        : { status: 200, headers: { "content-type": "text/event-stream" }, chunks: [events] }
    )
    const answer = await gateway.post(path, { ...hello, stream: true }, back)
    expect([
      answer.status,
      answer.headers.get("x-gateway-provider"),
      (await answer.text()).endsWith("data: [DONE]\n\n")
    ]).toEqual([200, "vertex-ai", true])
  })
})

describe("dry run of a config", () => {
  it("configs: a dry run shows the call to the first target", async () => {
    const gateway = over(() => gemini("fine"), {
      accounts: [googleAccount, { ...vertexAccount, regions: ["eu"] }],
      draw: () => 0.9
    })
    const value = {
      strategy: { mode: "loadbalance" },
      targets: [google, { ...vertex, vertex_region: "eu", override_params: { temperature: 0 } }]
    }
    const answer = await gateway.post(path, hello, { ...inline(value), "x-gateway-dry-run": "true" })
    expect([await answer.json(), gateway.seen]).toEqual([
      {
        object: "dry_run",
        provider: "vertex-ai",
        target_index: 1,
        method: "POST",
        url: "https://aiplatform.eu.rep.googleapis.com/v1/projects/test-project/locations/eu/publishers/google/models/gemini-2.5-flash:generateContent",
        headers: { "content-type": "application/json", authorization: "Bearer <redacted>" },
        body: { contents: [{ role: "user", parts: [{ text: "hi" }] }], generationConfig: { temperature: 0 } },
        ignored_params: [],
        adjusted_params: []
      },
      []
    ])
  })
})
