// Clients that speak the Responses API by default, unchanged over sockets: agents, AI SDK and LangChain.
// It must not look inside the gateway.
import { createOpenAI } from "@ai-sdk/openai"
import { HumanMessage, ToolMessage } from "@langchain/core/messages"
import { ChatOpenAI } from "@langchain/openai"
import { Agent, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents"
import { generateText, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const models = [
  "@google/gemini-2.5-flash",
  "@google/gemini-3-flash-preview",
  "@vertex-ai/gemini-3-flash-preview",
  "@vertex-ai/anthropic.claude-sonnet-4-6",
  "@vertex-ai/meta/llama-3.3-70b-instruct-maas"
]
const city = z.object({ city: z.string() })
const question = "What is the weather in Paris?"

describe.each(models)("clients of the Responses API on %s", (model) => {
  const reasons = !model.includes("llama")

  it.each(["whole", "streamed"])("responses: @openai/agents calls a tool and goes on, %s (R801)", async (how) => {
    const asked: Array<string> = []
    const weather = agentTool({
      name: "get_weather",
      description: "Current weather of a city",
      parameters: city,
      execute: ({ city: of }) => {
        asked.push(of)
        return Promise.resolve("sunny")
      }
    })
    const provider = new OpenAIProvider({ apiKey: gatewayKey, baseURL: `${gateway.url}/v1`, useResponses: true })
    const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
    const agent = new Agent({ name: "A", instructions: "Be brief", model, tools: [weather] })
    const run = async (input: Parameters<typeof runner.run>[1]) => {
      if (how === "whole") return runner.run(agent, input)
      const streamed = await runner.run(agent, input, { stream: true })
      for await (const event of streamed) void event
      await streamed.completed
      return streamed
    }
    const first = await run(question)
    expect([asked.length, String(first.finalOutput).length > 0]).toEqual([1, true])
    const second = await run([...first.history, { role: "user", content: "And the weather in Rome?" }])
    expect([asked.length, String(second.finalOutput).length > 0]).toEqual([2, true])
  })

  it("responses: @openai/agents hands over to another agent (R801)", async () => {
    const provider = new OpenAIProvider({ apiKey: gatewayKey, baseURL: `${gateway.url}/v1`, useResponses: true })
    const runner = new Runner({ modelProvider: provider, tracingDisabled: true })
    const other = new Agent({ name: "Other", instructions: "Answer", model })
    const first = new Agent({
      name: "First",
      instructions: "Hand over",
      model,
      handoffs: [other],
      modelSettings: { toolChoice: "required" }
    })
    const result = await runner.run(first, question)
    expect([result.lastAgent?.name, String(result.finalOutput).length > 0]).toEqual(["Other", true])
  })

  it.each([
    ["kept", {}],
    ["not kept", { store: false }]
  ])("responses: the AI SDK follows tools, %s (R217 R801)", async (_how, more) => {
    const openai = createOpenAI({ apiKey: gatewayKey, baseURL: `${gateway.url}/v1` })
    const tools = {
      get_weather: tool({ description: "Weather", inputSchema: city, execute: () => Promise.resolve({ t: 20 }) })
    }
    const options = {
      model: openai(model),
      tools,
      stopWhen: stepCountIs(5),
      prompt: question,
      providerOptions: {
        openai: { ...more, forceReasoning: reasons, ...(reasons ? { reasoningSummary: "auto" } : {}) }
      }
    }
    const whole = await generateText(options)
    expect([whole.steps.length, whole.text.length > 0]).toEqual([2, true])
    const streamed = streamText(options)
    let text = ""
    for await (const piece of streamed.textStream) text += piece
    expect([(await streamed.steps).length, text.length > 0]).toEqual([2, true])
  })

  it.each([
    ["kept", {}],
    ["not kept", { zdrEnabled: true }]
  ])("responses: LangChain follows a tool, %s (R801)", async (_how, more) => {
    const chat = new ChatOpenAI({
      model,
      apiKey: gatewayKey,
      configuration: { baseURL: `${gateway.url}/v1` },
      useResponsesApi: true,
      maxRetries: 0,
      ...more
    }).bindTools([
      {
        type: "function",
        function: { name: "get_weather", description: "Weather", parameters: z.toJSONSchema(city) }
      }
    ])
    const asked = new HumanMessage(question)
    const call = await chat.invoke([asked])
    expect(call.tool_calls?.map(({ name }) => name)).toEqual(["get_weather"])
    const result = new ToolMessage({ tool_call_id: call.tool_calls?.[0]?.id ?? "", content: "sunny" })
    const last = await chat.invoke([asked, call, result])
    expect(last.text.length).toBeGreaterThan(0)
    const pieces: Array<string> = []
    for await (const piece of await chat.stream([asked, call, result])) pieces.push(piece.text)
    expect(pieces.join("").length).toBeGreaterThan(0)
  })
})
