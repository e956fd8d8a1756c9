// Tests the gateway with the stock openai SDK on Gemini over sockets: chat, streams, tools and errors.
// Must not change the SDK: only base URL and key differ.
import OpenAI, { APIError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from "openai"
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { day: "2025-12-01" } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const weather: ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

/** Follows the calls of an answer with results until the model answers in words. */
const toolLoop = async (model: string, questions: ReadonlyArray<string>) => {
  const messages: Array<ChatCompletionMessageParam> = []
  const words: Array<string> = []
  const calls: Array<string> = []
  for (const question of questions) {
    messages.push({ role: "user", content: question })
    for (let turns = 1; ; turns++) {
      if (turns > 10) throw new Error("the model still calls tools after 10 turns")
      const answer = await client.chat.completions.create({ model, messages, tools: [weather] })
      const message = answer.choices[0]?.message
      if (message === undefined) throw new Error("no choice")
      messages.push(message)
      if (message.tool_calls === undefined) {
        words.push(message.content ?? "")
        break
      }
      expect(answer.choices[0]?.finish_reason).toBe("tool_calls")
      for (const call of message.tool_calls) {
        if (call.type !== "function") throw new Error("not a function")
        expect(Object.keys(call.function).sort()).toEqual(["arguments", "name"])
        calls.push(`${call.function.name}(${call.function.arguments})`)
        messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify({ degrees: 21 }) })
      }
    }
  }
  return { words, calls }
}

describe.each(["@google", "@vertex-ai"])("openai SDK on %s", (slug) => {
  it("openai SDK: chat answers", async () => {
    const answer = await client.chat.completions.create({
      model: `${slug}/gemini-2.5-flash`,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" }
      ]
    })
    expect(answer.object).toBe("chat.completion")
    expect(answer.choices[0]?.finish_reason).toBe("stop")
    expect(answer.choices[0]?.message.content?.length).toBeGreaterThan(0)
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0))
  })

  it("openai SDK: a stream adds up to the same text, with usage when asked", async () => {
    const request = {
      model: `${slug}/gemini-2.5-flash`,
      messages: [{ role: "user" as const, content: "Tell me about tides" }]
    }
    const whole = await client.chat.completions.create(request)
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true }
    })
    let text = ""
    const finishes: Array<string> = []
    let usage: unknown = null
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ""
      const finish = chunk.choices[0]?.finish_reason
      if (finish) finishes.push(finish)
      if (chunk.usage) usage = chunk.usage
    }
    expect(text).toBe(whole.choices[0]?.message.content)
    expect(finishes).toEqual(["stop"])
    expect(usage).toEqual(whole.usage)
  })

  it("openai SDK: a tool loop of three turns completes with a Gemini 3 model in strict mode (T605, T606)", async () => {
    const { words, calls } = await toolLoop(`${slug}/gemini-3-pro-preview`, [
      "What is the weather in Paris?",
      "And what is the weather in Tokyo and Rome?",
      "What is the weather in Oslo?"
    ])
    expect(words).toHaveLength(3)
    expect(calls).toEqual([
      'get_weather({"city":"Paris"})',
      'get_weather({"city":"Tokyo"})',
      'get_weather({"city":"Rome"})',
      'get_weather({"city":"Oslo"})'
    ])
  })

  it("chat: a history of unknown calls still passes (T606)", async () => {
    const answer = await client.chat.completions.create({
      model: `${slug}/gemini-3-pro-preview`,
      tools: [weather],
      messages: [
        { role: "user", content: "What is the weather in Paris?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call-of-another",
              type: "function",
              function: { name: "get_weather", arguments: '{"city":"Paris"}' }
            }
          ]
        },
        { role: "tool", tool_call_id: "call-of-another", content: "21 degrees" }
      ]
    })
    expect(answer.choices[0]?.finish_reason).toBe("stop")
  })

  it("openai SDK: structured output is parsed", async () => {
    const answer = await client.chat.completions.create({
      model: `${slug}/gemini-2.5-flash`,
      messages: [{ role: "user", content: "Describe a city" }],
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "city",
          schema: {
            type: "object",
            properties: {
              name: { type: "string" },
              size: { type: "string", enum: ["small", "large"] },
              people: { type: "integer" }
            },
            required: ["name", "size", "people"],
            additionalProperties: false
          }
        }
      }
    })
    const value: unknown = JSON.parse(answer.choices[0]?.message.content ?? "")
    expect(value).toEqual({
      name: expect.any(String),
      size: expect.stringMatching(/^(small|large)$/),
      people: expect.any(Number)
    })
  })
})

describe("error types of the openai SDK", () => {
  const ask = (model: string, by = client) =>
    by.chat.completions.create({ model, messages: [{ role: "user", content: "Hello" }] })
  const failure = async (promise: Promise<unknown>): Promise<APIError> => {
    const error = await promise.then(
      () => undefined,
      (caught: unknown) => caught
    )
    if (!(error instanceof APIError)) throw new Error("expected an APIError")
    return error
  }
  it("openai SDK: a wrong gateway key has its error type (B2)", async () => {
    const error = await failure(
      ask("@google/gemini-2.5-flash", new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "mgk_wrong", maxRetries: 0 }))
    )
    expect(error).toBeInstanceOf(AuthenticationError)
    expect([error.status, error.code]).toEqual([401, "invalid_gateway_key"])
  })
  it("openai SDK: an unknown provider has its error type (B35)", async () => {
    const error = await failure(ask("@nobody/gemini-2.5-flash"))
    expect(error).toBeInstanceOf(NotFoundError)
    expect([error.code, error.param]).toEqual(["provider_not_found", "model"])
  })
  it("openai SDK: an unknown model has its error type (B107)", async () => {
    const error = await failure(ask("@google/no-such-model"))
    expect(error).toBeInstanceOf(NotFoundError)
    expect([error.code, error.param]).toEqual(["model_not_found", "model"])
  })
  it("openai SDK: a bad role has its error type (B48)", async () => {
    const error = await failure(
      client.chat.completions.create({
        model: "@google/gemini-2.5-flash",
        messages: [JSON.parse('{"role":"robot","content":"x"}')]
      })
    )
    expect(error).toBeInstanceOf(BadRequestError)
    expect([error.code, error.param]).toEqual(["invalid_value", "messages[0].role"])
  })
  it("openai SDK: a rate limit has its error type and the upstream's delay (T2303)", async () => {
    gateway.simulator.script([
      {
        status: 429,
        headers: { "content-type": "application/json" },
        body: {
          error: {
            code: 429,
            message: "Resource exhausted.",
            status: "RESOURCE_EXHAUSTED",
            details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" }]
          }
        }
      }
    ])
    const error = await failure(ask("@google/gemini-2.5-flash"))
    expect(error).toBeInstanceOf(RateLimitError)
    expect([error.headers?.get("retry-after"), error.headers?.get("retry-after-ms")]).toEqual(["35", "34400"])
  })
})
