// Tests Portkey's client against the gateway and the simulated services.
// Must not change the client: only base URL and key differ.
import { Portkey } from "portkey-ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, geminiKey, serviceAccount, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { accessTokens: ["ya29.carried"], day: "2025-12-01" } })
})
afterAll(() => gateway.close())

const client = (options: ConstructorParameters<typeof Portkey>[0] = {}) =>
  new Portkey({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, ...options })

const hello = [{ role: "user", content: "Hello" }]
const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

describe.each(["google", "vertex-ai"])("Portkey's client on %s", (slug) => {
  it("Portkey's client: chats by a prefix of the model or by its own provider header", async () => {
    const prefixed = await client().chat.completions.create({ model: `@${slug}/gemini-2.5-flash`, messages: hello })
    const named = await client({ provider: `@${slug}` }).chat.completions.create({
      model: "gemini-2.5-flash",
      messages: hello
    })
    for (const answer of [prefixed, named]) {
      expect([
        answer.object,
        answer.model,
        answer.choices[0]?.message?.content,
        answer.choices[0]?.finish_reason
      ]).toEqual(["chat.completion", "gemini-2.5-flash", greeting, "stop"])
    }
  })

  it("Portkey's client: reads response headers under its own prefix", async () => {
    const answer = await client({ traceID: "trace-7" }).chat.completions.create({
      model: `@${slug}/gemini-3.8-flash`,
      messages: hello
    })
    expect(answer.getHeaders()).toEqual({
      provider: slug,
      "trace-id": "trace-7",
      "last-used-option-index": "0",
      "retry-attempt-count": "0",
      "cost-usd": "0.000283",
      "cache-status": "DISABLED"
    })
  })

  it("Portkey's client: a stream adds up to the same text, with usage when asked", async () => {
    const stream = await client().chat.completions.create({
      model: `@${slug}/gemini-2.5-flash`,
      messages: hello,
      stream: true,
      stream_options: { include_usage: true }
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("")).toBe(greeting)
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(["stop"])
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(77)
  })

  it("Portkey's client: is not strict by default: thinking comes in content_blocks", async () => {
    const asked = {
      model: `@${slug}/gemini-2.5-flash`,
      messages: hello,
      thinking: { type: "enabled", budget_tokens: 1024 }
    }
    const open = await client().chat.completions.create(asked)
    expect(open.choices[0]?.message?.["content_blocks"]?.map((block: { type: string }) => block.type)).toEqual([
      "thinking",
      "text"
    ])
    const strict = await client({ strictOpenAiCompliance: true }).chat.completions.create(asked)
    expect(Object.keys(strict.choices[0]?.message ?? {}).sort()).toEqual(["content", "refusal", "role"])
    const stream = await client().chat.completions.create({ ...asked, stream: true })
    const kinds: Array<string> = []
    for await (const chunk of stream) {
      for (const block of chunk.choices[0]?.delta?.["content_blocks"] ?? []) kinds.push(...Object.keys(block.delta))
    }
    expect([...new Set(kinds)]).toEqual(["thinking", "text"])
  })

  it("Portkey's client: keeps thought signatures in the calls it sends back", async () => {
    const asked = { model: `@${slug}/gemini-3-pro-preview`, tools: [weather] }
    const question = { role: "user", content: "What is the weather in Paris?" }
    const first = await client().chat.completions.create({ ...asked, messages: [question] })
    const message = first.choices[0]?.message
    const call = message?.tool_calls?.[0]
    expect(call).toMatchObject({
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"Paris"}', thought_signature: expect.any(String) }
    })
    const messages = [
      question,
      { role: "assistant", content: "", tool_calls: message?.tool_calls ?? [] },
      { role: "tool", tool_call_id: call?.id ?? "", content: "21 degrees" }
    ]
    const second = await client().chat.completions.create({ ...asked, messages })
    expect(second.choices[0]?.message?.content).toBe(
      "The tool get_weather answered 21 degrees. That is all I need to answer you."
    )
    const {
      function: { thought_signature: signature }
    } = JSON.parse(JSON.stringify(call))
    expect(gateway.simulator.calls.at(-1)?.body).toMatchObject({
      contents: [{}, { parts: [{ thoughtSignature: signature }] }, {}]
    })
  })
})

describe("other families through Portkey's client", () => {
  it.each([
    ["@vertex-ai/anthropic.claude-haiku-4-5@20251001", "Claude"],
    ["@vertex-ai/meta.llama-3.3-70b-instruct-maas", "Llama"],
    ["@vertex-ai/endpoints.demo-llama", "Llama"]
  ])("Portkey's client: %s answers, unary and streamed", async (model, family) => {
    const words = `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`
    const whole = await client().chat.completions.create({ model, messages: hello, max_tokens: 250 })
    expect([whole.choices[0]?.message?.content, whole.getHeaders()?.["provider"]]).toEqual([words, "vertex-ai"])
    let streamed = ""
    for await (const chunk of await client().chat.completions.create({
      model,
      messages: hello,
      max_tokens: 250,
      stream: true
    })) {
      streamed += chunk.choices[0]?.delta?.content ?? ""
    }
    expect(streamed).toBe(words)
  })
  it("Portkey's client: its own header passes beta flags to Claude", async () => {
    const model = "@vertex-ai/anthropic.claude-haiku-4-5@20251001"
    await client({ anthropicBeta: "interleaved-thinking-2025-05-14" }).chat.completions.create({
      model,
      messages: hello,
      max_tokens: 250
    })
    expect(gateway.simulator.calls.at(-1)?.headers["anthropic-beta"]).toBe("interleaved-thinking-2025-05-14")
  })
})

describe("credentials of the request through Portkey's client", () => {
  it("Portkey's client: sends an API key for the Gemini API", async () => {
    const answer = await client({ provider: "google", Authorization: geminiKey }).chat.completions.create({
      model: "gemini-2.5-flash",
      messages: hello
    })
    expect(answer.choices[0]?.message?.content).toBe(greeting)
    expect(gateway.simulator.calls.at(-1)?.headers["x-goog-api-key"]).toBe(geminiKey)
  })
  it("Portkey's client: sends an access token, a project and a region for Vertex AI", async () => {
    const carrying = client({
      provider: "vertex-ai",
      Authorization: "Bearer ya29.carried",
      vertexProjectId: "other-project",
      vertexRegion: "europe-west4"
    })
    expect(
      (await carrying.chat.completions.create({ model: "gemini-2.5-flash", messages: hello })).choices[0]?.message
        ?.content
    ).toBe(greeting)
    expect(gateway.simulator.calls.at(-1)?.url).toBe(
      "/v1/projects/other-project/locations/europe-west4/publishers/google/models/gemini-2.5-flash:generateContent"
    )
  })
  it("Portkey's client: sends a service account and a region", async () => {
    const vertexServiceAccountJson = {
      type: "service_account",
      project_id: "test-project",
      client_email: serviceAccount.clientEmail,
      private_key_id: serviceAccount.privateKeyId,
      private_key: serviceAccount.privateKeyPem
    }
    const carrying = client({ provider: "vertex-ai", vertexServiceAccountJson, vertexRegion: "us-east5" })
    expect(
      (await carrying.chat.completions.create({ model: "gemini-2.5-flash", messages: hello })).choices[0]?.message
        ?.content
    ).toBe(greeting)
    expect(gateway.simulator.calls.at(-1)?.url).toBe(
      "/v1/projects/test-project/locations/us-east5/publishers/google/models/gemini-2.5-flash:generateContent"
    )
  })
})

describe("error types of Portkey's client", () => {
  const failure = async (promise: PromiseLike<unknown>) => {
    const error: unknown = await promise.then(
      () => undefined,
      (caught: unknown) => caught
    )
    if (!(error instanceof Error) || !("status" in error) || !("error" in error))
      throw new Error("expected an error of the client")
    return { type: error.constructor.name, status: error.status, body: error.error }
  }
  const ask = (model: string, options: ConstructorParameters<typeof Portkey>[0] = {}) =>
    client(options).chat.completions.create({ model, messages: hello })
  const code = (value: string) => expect.objectContaining({ error: expect.objectContaining({ code: value }) })

  it("Portkey's client: a wrong gateway key has its error type", async () => {
    expect(await failure(ask("@google/gemini-2.5-flash", { apiKey: "mgk_wrong" }))).toEqual({
      type: "AuthenticationError",
      status: 401,
      body: code("invalid_gateway_key")
    })
  })
  it("Portkey's client: an unknown provider and an unknown model have their error types", async () => {
    expect(await failure(ask("@nobody/gemini-2.5-flash"))).toEqual({
      type: "NotFoundError",
      status: 404,
      body: code("provider_not_found")
    })
    expect(await failure(ask("@google/no-such-model"))).toEqual({
      type: "NotFoundError",
      status: 404,
      body: code("model_not_found")
    })
  })
  it("Portkey's client: does not retry an overloaded upstream, because the trace id names a gateway", async () => {
    const before = gateway.simulator.counters.requests
    const error = await failure(ask("@google/demo-503"))
    expect([error.type, error.status]).toEqual(["InternalServerError", 503])
    expect(gateway.simulator.counters.requests - before).toBe(1)
  })
})
