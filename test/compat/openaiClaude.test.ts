// Tests the stock openai SDK with a Claude model on Vertex AI, over sockets, with the simulated service.
// Must not change the SDK: only base URL and key differ.
import OpenAI, { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from "openai"
import type { ChatCompletionMessageParam, ChatCompletionTool } from "openai/resources/chat/completions"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const haiku = "@vertex-ai/anthropic.claude-haiku-4-5@20251001"
const newest = "@vertex-ai/anthropic.claude-opus-4-8"
const weather: ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}
const city = {
  type: "object",
  properties: {
    name: { type: "string" },
    size: { type: "string", enum: ["small", "large"] },
    people: { type: "integer" }
  },
  required: ["name", "size", "people"],
  additionalProperties: false
}

describe("Claude chat by the openai SDK", () => {
  it("openai SDK on Claude: chat answers", async () => {
    const answer = await client.chat.completions.create({
      model: haiku,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" }
      ]
    })
    expect([answer.object, answer.model, answer.choices.length]).toEqual([
      "chat.completion",
      "claude-haiku-4-5-20251001",
      1
    ])
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: expect.stringContaining("simulated Claude"), refusal: null }
    })
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0))
  })
  it.each([haiku, newest])(
    "openai SDK on Claude: a stream of %s adds up to the same text, with usage when asked",
    async (model) => {
      const request = {
        model,
        messages: [{ role: "user" as const, content: "Tell me about tides" }],
        reasoning_effort: "low" as const
      }
      const whole = await client.chat.completions.create(request)
      let text = ""
      let usage: unknown
      const finishes: Array<string> = []
      for await (const chunk of await client.chat.completions.create({
        ...request,
        stream: true,
        stream_options: { include_usage: true }
      })) {
        text += chunk.choices[0]?.delta.content ?? ""
        const finish = chunk.choices[0]?.finish_reason
        if (finish) finishes.push(finish)
        if (chunk.usage) usage = chunk.usage
      }
      expect([text, finishes, usage]).toEqual([whole.choices[0]?.message.content, ["stop"], whole.usage])
    }
  )
  it("openai SDK on Claude: a refusal has its finish reason (T1836)", async () => {
    const answer = await client.chat.completions.create({
      model: haiku,
      messages: [{ role: "user", content: "demo:refusal" }]
    })
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "content_filter",
      message: { content: "", refusal: "This request triggered restrictions of the simulated service and was blocked." }
    })
  })
  it("openai SDK on Claude: thinking is requested and returned with strict compliance off (T1833)", async () => {
    const loose = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: gatewayKey,
      maxRetries: 0,
      defaultHeaders: { "x-gateway-strict-schema-compliance": "false" }
    })
    const answer = await loose.chat.completions.create({
      model: newest,
      messages: [{ role: "user", content: "Hello" }],
      reasoning_effort: "high"
    })
    expect(answer.choices[0]?.message).toMatchObject({
      reasoning_content: expect.any(String),
      content_blocks: [
        { type: "thinking", thinking: expect.any(String), signature: expect.any(String) },
        { type: "text", text: answer.choices[0]?.message.content }
      ]
    })
  })
})

describe("Claude tools by the openai SDK", () => {
  const question = "What is the weather in Paris and Rome?"
  it.each([haiku, newest])(
    "openai SDK on Claude: its runner follows the tool calls of a stream of %s (T1819, T1837)",
    async (model) => {
      const messages: Array<ChatCompletionMessageParam> = [{ role: "user", content: question }]
      const calls: Array<string> = []
      for (let turns = 1; ; turns++) {
        if (turns > 10) throw new Error("the model still calls tools after 10 turns")
        const stream = client.chat.completions.stream({ model, messages, tools: [weather], reasoning_effort: "low" })
        const {
          choices: [choice]
        } = await stream.finalChatCompletion()
        if (choice === undefined) throw new Error("no choice")
        messages.push(choice.message)
        if (choice.message.tool_calls === undefined || choice.message.tool_calls.length === 0) {
          expect(choice.finish_reason).toBe("stop")
          break
        }
        expect(choice.finish_reason).toBe("tool_calls")
        for (const call of choice.message.tool_calls) {
          if (call.type === "function") calls.push(call.function.arguments)
          messages.push({ role: "tool", tool_call_id: call.id, content: "21 degrees" })
        }
      }
      expect(calls).toEqual(['{"city":"Paris"}', '{"city":"Rome"}'])
    }
  )
  it("openai SDK on Claude: a forced call returns one call", async () => {
    const answer = await client.chat.completions.create({
      model: haiku,
      messages: [{ role: "user", content: question }],
      tools: [weather],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false
    })
    expect(
      answer.choices[0]?.message.tool_calls?.map((call) => (call.type === "function" ? call.function : call.type))
    ).toEqual([{ name: "get_weather", arguments: '{"city":"Paris"}' }])
  })
  it("openai SDK on Claude: a history of unknown calls still passes", async () => {
    const answer = await client.chat.completions.create({
      model: haiku,
      reasoning_effort: "low",
      messages: [
        { role: "user", content: question },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call of another",
              type: "function",
              function: { name: "get_weather", arguments: '{"city":"Paris"}' }
            }
          ]
        },
        { role: "tool", tool_call_id: "call of another", content: "21 degrees" }
      ]
    })
    expect(answer.choices[0]?.finish_reason).toBe("stop")
  })
})

describe("Claude structured output by the openai SDK (T1829)", () => {
  const request = {
    model: haiku,
    messages: [{ role: "user" as const, content: "Describe a city" }],
    response_format: { type: "json_schema" as const, json_schema: { name: "city", strict: true, schema: city } }
  }
  const wanted = {
    name: expect.any(String),
    size: expect.stringMatching(/^(small|large)$/),
    people: expect.any(Number)
  }
  it("openai SDK on Claude: structured output is parsed by the SDK, unary and streamed (T1829)", async () => {
    const whole = await client.chat.completions.parse(request)
    expect(whole.choices[0]?.message.parsed).toEqual(wanted)
    const streamed = await client.chat.completions.stream(request).finalChatCompletion()
    expect([streamed.choices[0]?.message.parsed, streamed.choices[0]?.finish_reason]).toEqual([
      whole.choices[0]?.message.parsed,
      "stop"
    ])
  })
  it("openai SDK on Claude: any JSON object may be requested (T1829)", async () => {
    const answer = await client.chat.completions.create({ ...request, response_format: { type: "json_object" } })
    expect(JSON.parse(answer.choices[0]?.message.content ?? "")).toBeTypeOf("object")
  })
})

describe("Claude errors by the openai SDK", () => {
  const failure = async (promise: Promise<unknown>): Promise<APIError> => {
    const error = await promise.then(
      () => undefined,
      (caught: unknown) => caught
    )
    if (!(error instanceof APIError)) throw new Error("expected an APIError")
    return error
  }
  const ask = (model: string, rest: object = {}) =>
    client.chat.completions.create({ model, messages: [{ role: "user", content: "Hello" }], ...rest })
  it.each([
    ["Claude on google (T1844)", "@google/anthropic.claude-haiku-4-5", BadRequestError, "unsupported_operation"],
    ["an unknown model (T2109)", "@vertex-ai/anthropic.no-such-model", NotFoundError, "model_not_found"],
    ["an overloaded model", "@vertex-ai/anthropic.demo-overloaded", InternalServerError, "upstream_overloaded"],
    ["a rate limit", "@vertex-ai/anthropic.demo-flaky-429", RateLimitError, "rate_limit_exceeded"]
  ] as const)("openai SDK on Claude: the error has its type: %s", async (_name, model, type, code) => {
    const error = await failure(ask(model))
    expect([error.constructor, error.code]).toEqual([type, code])
  })
  it("openai SDK on Claude: a flag of the beta header that the upstream refuses is taken off and named (T1832, H20)", async () => {
    const { response } = await client.chat.completions
      .create(
        { model: haiku, messages: [{ role: "user", content: "Hello" }] },
        { headers: { "anthropic-beta": "no-such-flag-2020-01-01" } }
      )
      .withResponse()
    expect([response.status, response.headers.get("x-gateway-ignored-params")]).toEqual([
      200,
      "anthropic-beta.no-such-flag-2020-01-01"
    ])
  })
  it("openai SDK on Claude: a stream that breaks off is an error (T1321)", async () => {
    const stream = await client.chat.completions.create({
      model: "@vertex-ai/anthropic.demo-truncated",
      messages: [{ role: "user", content: "Hello" }],
      stream: true
    })
    const error = await failure(
      (async () => {
        for await (const _chunk of stream) continue
      })()
    )
    expect(error.code).toBe("upstream_truncated")
  })
})
