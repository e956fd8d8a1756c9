// Tests the stock openai SDK on Llama and on self-deployed endpoints.
// Must not change the SDK: only base URL and key differ.
import OpenAI, { APIError, BadRequestError, NotFoundError } from "openai"
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

const hello = [{ role: "user" as const, content: "Hello" }]
const talkers = [
  "meta.llama-4-maverick-17b-128e-instruct-maas",
  "deepseek-ai/deepseek-v3.1-maas",
  "endpoints.demo-llama",
  "endpoints.demo-tuned"
]
const weather: ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}

/** Words, calls and end of a stream, as the SDK's own helper joins them. */
const streamed = async (
  model: string,
  messages: Array<ChatCompletionMessageParam>,
  tools?: Array<ChatCompletionTool>
) => {
  const runner = client.chat.completions.stream({
    model,
    messages,
    stream_options: { include_usage: true },
    ...(tools === undefined ? {} : { tools })
  })
  return await runner.finalChatCompletion()
}
const spoken = ({ choices: [choice], usage }: OpenAI.ChatCompletion) => ({
  content: choice?.message.content ?? "",
  calls: (choice?.message.tool_calls ?? []).map((call) =>
    call.type === "function" ? [call.function.name, JSON.parse(call.function.arguments)] : []
  ),
  finish: choice?.finish_reason,
  usage: [usage?.prompt_tokens, usage?.completion_tokens, usage?.total_tokens]
})

describe.each([...talkers, "endpoints.demo-predict"])("openai SDK on %s", (name) => {
  const model = `@vertex-ai/${name}`
  it("openai SDK on open models: the stream and the whole answer have the same text", async () => {
    const whole = await client.chat.completions.create({ model, messages: hello })
    expect(spoken(whole)).toMatchObject({ calls: [], finish: "stop" })
    expect(whole.choices[0]?.message.content?.startsWith("Hello! I am a simulated")).toBe(true)
    expect(spoken(await streamed(model, hello))).toStrictEqual(spoken(whole))
  })
})

describe.each(talkers)("tools on %s", (name) => {
  const model = `@vertex-ai/${name}`
  it("openai SDK on open models: a tool's result is used in the answer, streamed or not", async () => {
    const messages: Array<ChatCompletionMessageParam> = [{ role: "user", content: "What is the weather in Paris?" }]
    const asked = await client.chat.completions.create({ model, messages, tools: [weather] })
    expect(spoken(asked)).toMatchObject({
      content: "",
      calls: [["get_weather", { city: "Paris" }]],
      finish: "tool_calls"
    })
    expect(spoken(await streamed(model, messages, [weather]))).toStrictEqual(spoken(asked))
    const message = asked.choices[0]?.message
    if (message?.tool_calls === undefined) throw new Error("nothing was called")
    messages.push(
      message,
      ...message.tool_calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "21 degrees" }))
    )
    const told = await client.chat.completions.create({ model, messages, tools: [weather] })
    expect(told.choices[0]?.message.content).toBe(
      "The tool get_weather answered 21 degrees. That is all I need to answer you."
    )
    expect(spoken(await streamed(model, messages, [weather]))).toStrictEqual(spoken(told))
  })
})

describe("errors by the openai SDK", () => {
  const failing = async (body: OpenAI.ChatCompletionCreateParamsNonStreaming): Promise<unknown> => {
    try {
      return await client.chat.completions.create(body)
    } catch (error) {
      return error
    }
  }
  it("openai SDK on open models: errors have the SDK's types, with code and param", async () => {
    const model = `@vertex-ai/${talkers[0]}`
    const invalid = await failing({ model, messages: hello, ...JSON.parse('{"max_tokens":"ten"}') })
    expect(invalid instanceof BadRequestError && [invalid.code, invalid.param, invalid.type]).toStrictEqual([
      "invalid_type",
      "max_tokens",
      "invalid_request_error"
    ])
    const unknown = await failing({ model: "@vertex-ai/meta.no-such-model", messages: hello })
    expect(unknown instanceof NotFoundError && unknown.code).toBe("model_not_found")
    const loading = await failing({ model: "@vertex-ai/endpoints.demo-loading", messages: hello })
    expect(loading instanceof APIError && [loading.status, loading.code]).toStrictEqual([503, "upstream_unavailable"])
  })
  it("openai SDK on open models: an error inside a stream ends the stream", async () => {
    const stream = await client.chat.completions.create({
      model: "@vertex-ai/meta.demo-error-midstream",
      messages: hello,
      stream: true
    })
    let text = ""
    const end = await (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
    })().catch((error: unknown) => error)
    expect([text.length > 0, end instanceof APIError && end.code]).toStrictEqual([true, "upstream_error"])
  })
})
