// Tests configs in Portkey's format, through Portkey's client and over sockets.
// Must not change the client: only base URL and key differ.
import { Portkey } from "portkey-ai"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { config } from "../support/config.ts"
import { until } from "../support/eventually.ts"
import { passTime, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, geminiKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    simulator: { accessTokens: ["ya29.config"] },
    limits: { retries: 2, retryBaseMillis: 0 },
    configs: {
      "pc-fast-1": config({
        strategy: { mode: "fallback" },
        targets: [
          { override_params: { model: "@google/demo-503" }, retry: { attempts: 0 } },
          { override_params: { model: "@google/gemini-2.5-flash" } }
        ]
      })
    }
  })
})
afterAll(() => gateway.close())
beforeEach(() => {
  earlier = gateway.simulator.counters.requests
})
let earlier = 0

type Options = NonNullable<ConstructorParameters<typeof Portkey>[0]>
const client = (value: Options["config"], options: Options = {}) =>
  new Portkey({
    baseURL: `${gateway.url}/v1`,
    apiKey: gatewayKey,
    ...(value === undefined ? {} : { config: value }),
    ...options
  })

const hello = [{ role: "user", content: "Hello" }]
const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
/** Models that reached the simulated services since the test began, in order. */
const models = () =>
  gateway.simulator.calls
    .slice(earlier - gateway.simulator.counters.requests)
    .map(({ url }) => /\/([^/:]+):\w/.exec(url)?.[1])
    .filter((model) => model !== undefined)
const ask = async (value: Options["config"], body: object = {}, options: Options = {}) => {
  const answer = await client(value, options).chat.completions.create({
    model: "gemini-2.5-flash",
    messages: hello,
    ...body
  })
  return { text: answer.choices[0]?.message?.content, headers: answer.getHeaders() }
}
const tooMany = {
  for: "model",
  status: 429,
  body: { error: { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED" } }
} as const
const refused = async (value: Options["config"], body: object = {}) => {
  const error: unknown = await ask(value, body).then(
    () => undefined,
    (caught: unknown) => caught
  )
  if (!(error instanceof Error) || !("status" in error) || !("headers" in error))
    throw new Error("expected an error of the client")
  return { type: error.constructor.name, status: error.status }
}

describe("configs in Portkey's format", () => {
  it("Portkey config: is named by its id, or sent as an object", async () => {
    for (const value of ["pc-fast-1", { provider: "google" }]) expect((await ask(value)).text).toBe(greeting)
  })

  it("Portkey config: has a single provider with an API key", async () => {
    expect((await ask({ provider: "google", api_key: geminiKey })).text).toBe(greeting)
    expect(gateway.simulator.calls.at(-1)?.headers["x-goog-api-key"]).toBe(geminiKey)
    await ask({
      provider: "vertex-ai",
      api_key: "ya29.config",
      vertex_project_id: "test-project",
      vertex_region: "europe-west4"
    })
    expect(gateway.simulator.calls.at(-1)).toMatchObject({
      url: "/v1/projects/test-project/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent",
      headers: { authorization: "Bearer ya29.config" }
    })
  })

  it("Portkey config: falls back between models, without a model in the request", async () => {
    const answer = await client({
      strategy: { mode: "fallback" },
      targets: [
        { override_params: { model: "@google/demo-503" } },
        { override_params: { model: "@vertex-ai/gemini-2.5-pro" } }
      ]
    }).chat.completions.create({ messages: hello })
    expect([answer.choices[0]?.message?.content, answer.model]).toEqual([greeting, "gemini-2.5-pro"])
    expect(answer.getHeaders()).toMatchObject({
      provider: "vertex-ai",
      "last-used-option-index": "1",
      "retry-attempt-count": "0"
    })
    expect(models()).toEqual(["demo-503", "gemini-2.5-pro"])
  })

  it("Portkey config: falls back on rate limits only", async () => {
    const value = {
      strategy: { mode: "fallback", on_status_codes: [429] },
      targets: [{ virtual_key: "google" }, { virtual_key: "vertex-ai" }]
    }
    gateway.simulator.script([tooMany])
    expect((await ask(value)).headers).toMatchObject({ provider: "vertex-ai" })
    expect(await refused(value, { model: "demo-503" })).toEqual({ type: "InternalServerError", status: 503 })
  })

  it("Portkey config: balances load over a nested fallback", async () => {
    const value = {
      strategy: { mode: "loadbalance" },
      targets: [
        { provider: "@google", weight: 0 },
        {
          strategy: { mode: "fallback", on_status_codes: [429, 503] },
          targets: [{ override_params: { model: "@google/demo-503" } }, { provider: "@vertex-ai" }],
          weight: 1
        }
      ]
    }
    expect((await ask(value)).headers).toMatchObject({ provider: "vertex-ai", "last-used-option-index": "2" })
  })

  it("Portkey config: routes by metadata and by an alias of a model", async () => {
    const value = {
      strategy: {
        mode: "conditional",
        conditions: [
          { query: { "metadata.user_plan": { $eq: "paid" } }, then: "premium" },
          {
            query: { $or: [{ "params.model": { $eq: "smartest" } }, { "params.temperature": { $gte: 1.5 } }] },
            then: "smart"
          }
        ],
        default: "fast"
      },
      targets: [
        { name: "premium", provider: "@vertex-ai", override_params: { model: "gemini-2.5-pro" } },
        { name: "smart", override_params: { model: "@google/gemini-2.5-pro" } },
        { name: "fast", override_params: { model: "@google/gemini-2.5-flash" } }
      ]
    }
    const used = async (body: object, options: Options = {}) =>
      (await ask(value, body, options)).headers?.["last-used-option-index"]
    expect(await used({ model: "fastest" }, { metadata: { user_plan: "paid" } })).toBe("0")
    expect(await used({ model: "smartest" })).toBe("1")
    expect(await used({ model: "fastest", temperature: 1.6 })).toBe("1")
    expect(await used({ model: "fastest" }, { metadata: { user_plan: "free" } })).toBe("2")
  })

  it("Portkey config: retries, and the answer reports their number", async () => {
    gateway.simulator.script([tooMany, tooMany])
    expect((await ask({ retry: { attempts: 5, on_status_codes: [429] }, provider: "google" })).headers).toMatchObject({
      "retry-attempt-count": "2"
    })
    earlier = gateway.simulator.counters.requests
    expect(await refused({ retry: { attempts: 1 }, provider: "google" }, { model: "demo-503" })).toEqual({
      type: "InternalServerError",
      status: 503
    })
    expect(models()).toEqual(["demo-503", "demo-503"])
  })

  it("Portkey config: a target that times out is a 408, which falls back", async () => {
    const value = {
      strategy: { mode: "fallback", on_status_codes: [408] },
      targets: [
        { provider: "google", request_timeout: 50, override_params: { model: "demo-hangs" } },
        { provider: "google" }
      ]
    }
    stopTime()
    const asking = ask(value)
    await until(() => models().length === 1)
    passTime(50)
    expect((await asking).text).toBe(greeting)
    resumeTime()
    expect(models()).toEqual(["demo-hangs", "gemini-2.5-flash"])
  })

  it("Portkey config: sets defaults, overrides and drops parameters", async () => {
    await ask(
      {
        provider: "google",
        default_params: { temperature: 0.7, max_tokens: 1024 },
        override_params: { model: "gemini-2.5-pro" },
        drop_params: ["logprobs", "tools[0].function.strict", "tools[*].function.description"]
      },
      {
        temperature: 0,
        logprobs: true,
        tools: [
          {
            type: "function",
            function: { name: "f", description: "x", strict: true, parameters: { type: "object", properties: {} } }
          }
        ]
      }
    )
    expect(gateway.simulator.calls.at(-1)?.body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      tools: [{ functionDeclarations: [{ name: "f", description: "" }] }],
      generationConfig: { temperature: 0, maxOutputTokens: 1024 }
    })
  })

  it("Portkey config: passthrough leaves the provider to the request", async () => {
    const value = {
      strategy: { mode: "fallback" },
      targets: [{ passthrough: true, override_params: { model: "demo-503" } }, { provider: "@vertex-ai" }]
    }
    expect((await ask(value, {}, { provider: "@google" })).headers).toMatchObject({ provider: "vertex-ai" })
    expect(models()).toEqual(["demo-503", "gemini-2.5-flash"])
  })

  it("Portkey config: the next target answers a stream whose first event is an error (F13)", async () => {
    const stream = await client({
      strategy: { mode: "fallback" },
      targets: [
        { override_params: { model: "@google/demo-error-first-event" } },
        { override_params: { model: "@vertex-ai/gemini-2.5-flash" } }
      ]
    }).chat.completions.create({ messages: hello, stream: true })
    let text = ""
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? ""
    expect(text).toBe(greeting)
    expect(models()).toEqual(["demo-error-first-event", "gemini-2.5-flash"])
  })

  it("Portkey config: applies to embeddings", async () => {
    const answer = await client({ provider: "google", override_params: { dimensions: 64 } }).embeddings.create({
      model: "gemini-embedding-001",
      input: "a"
    })
    expect(answer.data?.[0]?.embedding?.length).toBe(64)
  })

  it("Portkey config: a simple cache answers, and the client can force a refresh", async () => {
    const value = { provider: "google", cache: { mode: "simple", max_age: 60 } }
    const statuses = []
    for (const options of [{}, {}, { cacheForceRefresh: true }, { cacheNamespace: "team" }]) {
      statuses.push((await ask(value, { seed: 41 }, options)).headers?.["cache-status"])
    }
    expect(statuses).toEqual(["MISS", "HIT", "REFRESH", "MISS"])
  })

  it("Portkey config: a faulty config and an unknown id are the client's own errors", async () => {
    expect(await refused({ strategy: { mode: "fallback" }, targets: [{ custom_host: "http://127.0.0.1:1" }] })).toEqual(
      { type: "BadRequestError", status: 400 }
    )
    expect(await refused("pc-gone")).toEqual({ type: "NotFoundError", status: 404 })
  })
})
