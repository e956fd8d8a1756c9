// @langchain/google-genai over real sockets against the simulator: text, stream and tools, with a slug in the model.
import { tool } from "@langchain/core/tools"
import { ChatGoogleGenerativeAI } from "@langchain/google-genai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const chat = (model: string) =>
  new ChatGoogleGenerativeAI({ model, apiKey: gatewayKey, baseUrl: gateway.url, maxRetries: 0 })

const hello =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

const weather = tool(() => "sunny", {
  name: "get_weather",
  description: "Current weather of a city",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
})

describe("@langchain/google-genai", () => {
  it.each(["gemini-2.5-flash", "@google/gemini-2.5-flash", "@vertex-ai/gemini-2.5-flash"])(
    "LangChain invokes, streams and calls tools with %s (N101, N102)",
    async (id) => {
      const { text } = await chat(id).invoke("Hello")
      let streamed = ""
      for await (const chunk of await chat(id).stream("Hello")) streamed += chunk.text
      const { tool_calls: calls = [] } = await chat(id).bindTools([weather]).invoke("What is the weather in Paris?")
      expect([text, streamed, calls.map(({ name }) => name)]).toEqual([hello, hello, ["get_weather"]])
    }
  )
})
