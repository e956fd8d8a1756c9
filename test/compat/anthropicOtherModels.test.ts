// Tests the stock Anthropic SDK with models that are not Claude: text, streams, tools, thinking, structured output, errors.
// Must not change the SDK: only base URL and key differ.
import Anthropic from "@anthropic-ai/sdk"
import type { MessageParam, Tool } from "@anthropic-ai/sdk/resources/messages"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: Anthropic

beforeAll(async () => {
  gateway = await startTestGateway({ messages: { otherModels: "translate" } })
  client = new Anthropic({ baseURL: gateway.url, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const models = [
  "@google/gemini-3.8-flash",
  "@vertex-ai/gemini-3.8-flash",
  "@google/gemini-2.5-flash",
  "@vertex-ai/openai/gpt-oss-120b-maas",
  "@vertex-ai/meta/llama-4-maverick-17b-128e-instruct-maas"
]
const hello = { max_tokens: 2000, messages: [{ role: "user" as const, content: "Hello" }] }
const weather: Tool = {
  name: "get_weather",
  description: "Current weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

type Thinking = { type: "adaptive"; display: "summarized" | "omitted" } | undefined

/** Answers every call until the model answers in words; the history goes back exactly as it came. */
const loop = async (model: string, thinking: Thinking, streaming: boolean) => {
  const messages: Array<MessageParam> = [{ role: "user", content: "What is the weather in Paris, Rome and Oslo?" }]
  const kinds: Array<string> = []
  const ignored: Array<string | null> = []
  for (let turns = 1; ; turns++) {
    if (turns > 10) throw new Error("the model still calls tools after 10 turns")
    const request = {
      model,
      max_tokens: 4000,
      messages,
      tools: [weather],
      ...(thinking === undefined ? {} : { thinking })
    }
    const { data: message, response } = streaming
      ? await client.messages
          .stream(request)
          .withResponse()
          .then(async ({ data, response }) => ({ data: await data.finalMessage(), response }))
      : await client.messages.create(request).withResponse()
    ignored.push(response.headers.get("x-gateway-ignored-params"))
    kinds.push(...message.content.map((block) => block.type))
    const calls = message.content.filter((block) => block.type === "tool_use")
    if (calls.length === 0) return { kinds, last: message.content.at(-1), ignored: [...new Set(ignored)], turns }
    expect(message.stop_reason).toBe("tool_use")
    messages.push({ role: "assistant", content: message.content })
    messages.push({
      role: "user",
      content: calls.toReversed().map((call) => ({
        type: "tool_result" as const,
        tool_use_id: call.id,
        content: `Sunny in ${JSON.stringify(call.input)}`
      }))
    })
  }
}

describe("other models by the Anthropic SDK", () => {
  it.each(models)("Anthropic SDK on %s: answers in a message (D401)", async (model) => {
    const { data, response } = await client.messages.create({ model, ...hello }).withResponse()
    expect(data).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn", stop_sequence: null })
    expect(data.id).toMatch(/^msg_[0-9a-f]{32}$/)
    expect(data.content.map(({ type }) => type)).toEqual(["text"])
    expect(data.usage.input_tokens).toBeGreaterThan(0)
    expect(response.headers.get("x-gateway-translated")).toBe("messages-to-chat")
  })

  it.each(models)("Anthropic SDK on %s: a stream adds up to the same message (D417)", async (model) => {
    const request = { model, max_tokens: 2000, messages: [{ role: "user" as const, content: "Tell me about tides" }] }
    const whole = await client.messages.create(request)
    const streamed = await client.messages.stream(request).finalMessage()
    expect([streamed.content, streamed.stop_reason]).toEqual([whole.content, whole.stop_reason])
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens)
  })

  it.each(models.flatMap((model) => [true, false].map((streaming) => [model, streaming] as const)))(
    "Anthropic SDK on %s, streaming %s: a tool loop ends in words, thinking or not (D303 D305)",
    async (model, streaming) => {
      for (const thinking of [
        undefined,
        { type: "adaptive", display: "summarized" },
        { type: "adaptive", display: "omitted" }
      ] as const) {
        const { ignored, last } = await loop(model, thinking, streaming)
        expect([last?.type, thinking === undefined ? ignored : []]).toEqual([
          "text",
          thinking === undefined ? [null] : []
        ])
      }
    }
  )

  /** Each turn goes to the next model, with the history as it came. */
  it.each([
    [
      "Gemini, Claude, gpt-oss",
      ["@google/gemini-3.8-flash", "@vertex-ai/claude-sonnet-4-5", "@vertex-ai/openai/gpt-oss-120b-maas"]
    ],
    [
      "Claude, Gemini on both providers",
      ["@vertex-ai/claude-sonnet-4-5", "@vertex-ai/gemini-3.8-flash", "@google/gemini-3.8-flash"]
    ],
    [
      "gpt-oss, Gemini 2.5, Claude",
      ["@vertex-ai/openai/gpt-oss-120b-maas", "@google/gemini-2.5-flash", "@vertex-ai/claude-sonnet-4-5"]
    ]
  ])(
    "Anthropic SDK: a loop of tools goes on when each turn is served by another model: %s (D313 D801)",
    async (_name, order) => {
      for (const streaming of [true, false]) {
        const messages: Array<MessageParam> = [
          { role: "user", content: "What is the weather in Paris, Rome and Oslo?" }
        ]
        for (const model of [...order, ...order]) {
          const request = {
            model,
            max_tokens: 8000,
            messages,
            tools: [weather],
            thinking: { type: "enabled" as const, budget_tokens: 2048 }
          }
          const { content } = streaming
            ? await client.messages.stream(request).finalMessage()
            : await client.messages.create(request)
          const calls = content.filter((block) => block.type === "tool_use")
          messages.push({ role: "assistant", content })
          messages.push({
            role: "user",
            content:
              calls.length === 0
                ? "And again in Paris?"
                : calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "sunny" }))
          })
        }
        expect(messages).toHaveLength(13)
      }
    }
  )
})
