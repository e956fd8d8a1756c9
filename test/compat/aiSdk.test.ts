// Tests the gateway with the AI SDK's OpenAI-compatible provider: text, streams and tool loops.
// Must not change the package: only base URL and key differ.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({ simulator: { day: "2025-12-01" } })
})
afterAll(() => gateway.close())

const provider = (headers: Record<string, string> = {}) =>
  createOpenAICompatible({ name: "gateway", baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, headers })

describe("AI SDK (@ai-sdk/openai-compatible)", () => {
  it("AI SDK: generates text", async () => {
    const answer = await generateText({ model: provider()("@google/gemini-2.5-flash"), prompt: "Hello" })
    expect(answer.finishReason).toBe("stop")
    expect(answer.text.length).toBeGreaterThan(0)
  })

  it("AI SDK: streams the same text", async () => {
    const whole = await generateText({
      model: provider()("@vertex-ai/gemini-2.5-flash"),
      prompt: "Tell me about tides"
    })
    const stream = streamText({ model: provider()("@vertex-ai/gemini-2.5-flash"), prompt: "Tell me about tides" })
    let text = ""
    for await (const piece of stream.textStream) text += piece
    expect(text).toBe(whole.text)
  })

  it.each(["true", "false"])("AI SDK: runs a tool loop on Gemini 3, strict %s", async (strict) => {
    const asked: Array<unknown> = []
    const answer = await generateText({
      model: provider({ "x-gateway-strict-schema-compliance": strict })("@google/gemini-3-pro-preview"),
      prompt: "What is the weather in Paris?",
      tools: {
        get_weather: tool({
          description: "Current weather of a city",
          inputSchema: jsonSchema<{ city: string }>({
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"]
          }),
          execute: async (input) => {
            asked.push(input)
            return { degrees: 21 }
          }
        })
      },
      stopWhen: stepCountIs(4)
    })
    expect(asked).toEqual([{ city: "Paris" }])
    expect(answer.finishReason).toBe("stop")
  })
})
