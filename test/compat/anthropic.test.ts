// Tests the gateway with the stock Anthropic SDK over sockets: messages, streams, tools, thinking and errors.
// Must not change the SDK: only base URL and key differ.
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError
} from "@anthropic-ai/sdk"
import type { MessageParam, Tool } from "@anthropic-ai/sdk/resources/messages"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: Anthropic

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new Anthropic({ baseURL: gateway.url, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const haiku = "@vertex-ai/anthropic.claude-haiku-4-5@20251001"
const newest = "@vertex-ai/anthropic.claude-opus-4-8"
const hello = { max_tokens: 2000, messages: [{ role: "user" as const, content: "Hello" }] }
const weather: Tool = {
  name: "get_weather",
  description: "Current weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

describe("messages by the Anthropic SDK", () => {
  it("Anthropic SDK: messages return as the upstream wrote them (T1902)", async () => {
    const message = await client.messages.create({ model: haiku, ...hello })
    expect(message).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-haiku-4-5-20251001",
      stop_reason: "end_turn"
    })
    expect(message.id).toMatch(/^msg_vrtx_/)
    expect(message.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("simulated Claude") })
    expect(message._request_id).toMatch(/^[0-9a-f-]{36}$/)
  })
  it("Anthropic SDK: accepts the model ids of Anthropic's service, and a token in Authorization (T1802)", async () => {
    const bearer = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: gatewayKey, maxRetries: 0 })
    const message = await bearer.messages.create({ model: "@vertex-ai/claude-haiku-4-5-20251001", ...hello })
    expect(message.model).toBe("claude-haiku-4-5-20251001")
  })
  it("Anthropic SDK: a stream adds up to the same message", async () => {
    const request = {
      model: haiku,
      max_tokens: 2000,
      messages: [{ role: "user" as const, content: "Tell me about tides" }]
    }
    const whole = await client.messages.create(request)
    const texts: Array<string> = []
    const streamed = await client.messages
      .stream(request)
      .on("text", (text) => texts.push(text))
      .finalMessage()
    expect(streamed.content).toEqual(whole.content)
    expect([streamed.stop_reason, streamed.usage.output_tokens]).toEqual([whole.stop_reason, whole.usage.output_tokens])
    expect(texts.length).toBeGreaterThan(2)
  })
  it("Anthropic SDK: raw events pass, the platform's too", async () => {
    const kinds: Array<string> = []
    for await (const event of await client.messages.create({ model: newest, ...hello, stream: true }))
      kinds.push(event.type)
    expect([kinds[0], kinds.at(-1)]).toEqual(["message_start", "message_stop"])
  })
  it("Anthropic SDK: a long system prompt is cached", async () => {
    const system = [
      { type: "text" as const, text: "word ".repeat(2000), cache_control: { type: "ephemeral" as const } }
    ]
    const { usage } = await client.messages.create({ model: haiku, ...hello, system })
    expect(usage.cache_creation_input_tokens).toBeGreaterThan(2000)
  })
  it("Anthropic SDK: structured output uses the API's own form", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false
    }
    const message = await client.messages.create({
      model: newest,
      max_tokens: 500,
      messages: [{ role: "user", content: "Which city in France?" }],
      output_config: { format: { type: "json_schema", schema } }
    })
    const [block] = message.content
    expect(JSON.parse(block?.type === "text" ? block.text : "")).toEqual({ city: "France" })
  })
})

describe("tools and thinking by the Anthropic SDK", () => {
  /** Answers every call until the model answers in words; the history goes back exactly as it came. */
  const loop = async (
    model: string,
    thinking: { type: "enabled"; budget_tokens: number } | { type: "adaptive"; display: "summarized" },
    streaming: boolean
  ) => {
    const messages: Array<MessageParam> = [{ role: "user", content: "What is the weather in Paris, Rome and Oslo?" }]
    const kinds: Array<string> = []
    for (let turns = 1; ; turns++) {
      if (turns > 10) throw new Error("the model still calls tools after 10 turns")
      const request = { model, max_tokens: 4000, messages, tools: [weather], thinking }
      const message = streaming
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request)
      kinds.push(...message.content.map((block) => block.type))
      const calls = message.content.filter((block) => block.type === "tool_use")
      if (calls.length === 0) return { kinds, last: message.content.at(-1) }
      messages.push({ role: "assistant", content: message.content })
      messages.push({
        role: "user",
        content: calls.map((call) => ({
          type: "tool_result" as const,
          tool_use_id: call.id,
          content: `${JSON.stringify(call.input)} sunny`
        }))
      })
    }
  }
  it.each([false, true])(
    "Anthropic SDK: a loop with signed thinking and parallel calls completes, streamed: %s (T1825)",
    async (streaming) => {
      const { kinds, last } = await loop(haiku, { type: "enabled", budget_tokens: 1024 }, streaming)
      expect(kinds).toEqual(["thinking", "tool_use", "tool_use", "tool_use", "thinking", "text"])
      expect(last).toMatchObject({ text: expect.stringContaining('{"city":"Oslo"} sunny') })
    }
  )
  it("Anthropic SDK: a loop with adaptive thinking completes", async () => {
    const { kinds } = await loop(newest, { type: "adaptive", display: "summarized" }, true)
    expect(kinds).toEqual(["thinking", "tool_use", "tool_use", "tool_use", "thinking", "text"])
  })
  it("Anthropic SDK: redacted thinking is accepted back", async () => {
    const thinking = { type: "enabled" as const, budget_tokens: 1024 }
    const messages: Array<MessageParam> = [{ role: "user", content: "Why? demo:redacted-thinking" }]
    const first = await client.messages.create({ model: haiku, max_tokens: 2000, thinking, messages })
    expect(first.content.map((block) => block.type)).toEqual(["redacted_thinking", "redacted_thinking", "text"])
    messages.push({ role: "assistant", content: first.content }, { role: "user", content: "And now?" })
    expect((await client.messages.create({ model: haiku, max_tokens: 2000, thinking, messages })).stop_reason).toBe(
      "end_turn"
    )
  })
})

describe("token count by the Anthropic SDK", () => {
  it("Anthropic SDK: the token count equals the message's own report", async () => {
    const counted = await client.messages.countTokens({ model: haiku, messages: hello.messages, tools: [weather] })
    const { usage } = await client.messages.create({ model: haiku, ...hello, tools: [weather] })
    expect(counted.input_tokens).toBe(usage.input_tokens)
  })
})

describe("beta flags of the Anthropic SDK", () => {
  it("Anthropic SDK: beta flags are sent in one header (T1832)", async () => {
    await client.beta.messages.create({
      model: haiku,
      ...hello,
      betas: ["context-management-2025-06-27"],
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] }
    })
    const call = gateway.simulator.calls.at(-1)
    expect([call?.headers["anthropic-beta"], call?.headers["anthropic-version"], call?.headers["x-api-key"]]).toEqual([
      "context-management-2025-06-27",
      undefined,
      undefined
    ])
  })
})

describe("error types of the Anthropic SDK", () => {
  const failure = async (promise: Promise<unknown>): Promise<APIError> => {
    const error = await promise.then(
      () => undefined,
      (caught: unknown) => caught
    )
    if (!(error instanceof APIError)) throw new Error("expected an APIError")
    return error
  }
  const ask = (model: string, by = client) => failure(by.messages.create({ model, ...hello }))

  it("Anthropic SDK: a wrong gateway key has its error type (B2)", async () => {
    const error = await ask(haiku, new Anthropic({ baseURL: gateway.url, apiKey: "mgk_wrong", maxRetries: 0 }))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error.type).toBe("authentication_error")
  })
  it("Anthropic SDK: a model that is not Claude has its error type (T1903)", async () => {
    const error = await ask("@google/gemini-2.5-flash")
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error.message).toContain("use /v1/chat/completions")
  })
  it("Anthropic SDK: an unknown model has its error type", async () => {
    const error = await ask("@vertex-ai/anthropic.claude-none")
    expect(error).toBeInstanceOf(NotFoundError)
    expect([error.type, error.requestID]).toEqual(["not_found_error", expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })
  it("Anthropic SDK: sampling that a model has given up is left out, and the answer names it (W40)", async () => {
    // The SDK has left the parameter out of its types; clients of before still send it.
    const sampled = { model: newest, ...hello, temperature: 0.5 }
    const { response } = await client.messages.create(sampled).withResponse()
    expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([200, "temperature"])
  })
  it("Anthropic SDK: media by address has its error type (T1910)", async () => {
    const content = [{ type: "image" as const, source: { type: "url" as const, url: "https://example.com/a.png" } }]
    const error = await failure(
      client.messages.create({ model: haiku, max_tokens: 5, messages: [{ role: "user", content }] })
    )
    expect(error.message).toContain("URL sources are not supported")
  })
  it("Anthropic SDK: a quota in Google's format has its error type", async () => {
    const error = await ask("@vertex-ai/anthropic.demo-flaky-429")
    expect(error).toBeInstanceOf(RateLimitError)
    expect([error.type, error.headers?.get("retry-after-ms")]).toEqual(["rate_limit_error", "200"])
  })
  it("Anthropic SDK: an overload as the first event of a stream has its error type (T1840)", async () => {
    const error = await failure(
      client.messages.stream({ model: "@vertex-ai/anthropic.demo-overloaded", ...hello }).finalMessage()
    )
    expect(error).toBeInstanceOf(InternalServerError)
    expect([error.status, error.type]).toEqual([529, "overloaded_error"])
  })
  it("Anthropic SDK: an error and an end inside a stream have their error types (T1906, T1907)", async () => {
    const midstream = await failure(
      client.messages.stream({ model: "@vertex-ai/anthropic.demo-error-midstream", ...hello }).finalMessage()
    )
    expect(midstream.type).toBe("api_error")
    const cut = await failure(
      client.messages.stream({ model: "@vertex-ai/anthropic.demo-truncated", ...hello }).finalMessage()
    )
    expect([cut.type, cut.message.includes("is not complete")]).toEqual(["api_error", true])
  })
})
