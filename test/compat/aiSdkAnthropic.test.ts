// @ai-sdk/anthropic over real sockets against the simulator: texts, streams, tools in a stream, reasoning, errors.
// Must not change the client: only its base URL and key differ.
import { createAnthropic } from "@ai-sdk/anthropic"
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const model = (id: string) => createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey })(id)
const hello =
  "Hello! I am a simulated Claude model, so nothing you write leaves this machine. What would you like to try?"
const tools = {
  get_weather: tool({
    description: "Current weather of a city",
    inputSchema: jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"]
    }),
    execute: ({ city }) => Promise.resolve(`It rains in ${city}.`)
  })
}

/** The parts of a stream by their types, neighbours of one type joined, and its text. `custom` is Claude's message_start. */
const read = async ({ stream }: Pick<ReturnType<typeof streamText<typeof tools>>, "stream">) => {
  const types: Array<string> = []
  let text = ""
  for await (const part of stream) {
    if (part.type === "text-delta") text += part.text
    if (types.at(-1) !== part.type) types.push(part.type)
  }
  return { types, text }
}

describe("@ai-sdk/anthropic", () => {
  it.each(["claude-sonnet-4-5-20250929", "@vertex-ai/claude-sonnet-4-5@20250929"])(
    "@ai-sdk/anthropic: generates with %s (N1207)",
    async (id) => {
      const { finishReason, text } = await generateText({ model: model(id), prompt: "Hello", maxRetries: 0 })
      expect([text, finishReason]).toEqual([hello, "stop"])
    }
  )

  it("@ai-sdk/anthropic: streams a tool loop over two steps (T1902)", async () => {
    const result = streamText({
      model: model("claude-sonnet-4-5"),
      prompt: "What is the weather in Paris?",
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0
    })
    const { text, types } = await read(result)
    const steps = await result.steps
    expect([
      types,
      text,
      steps.map(({ toolCalls }) => toolCalls.map(({ input, toolName }) => [toolName, input]))
    ]).toEqual([
      [
        "start",
        "start-step",
        "custom",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-end",
        "tool-call",
        "tool-result",
        "finish-step",
        "start-step",
        "custom",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish"
      ],
      "I'll call get_weather for that.The tool get_weather answered It rains in Paris.. That is all I need to answer you.",
      [[["get_weather", { city: "Paris" }]], []]
    ])
  })

  it("@ai-sdk/anthropic: keeps signed thinking over the turns of a tool loop (T1902)", async () => {
    const { reasoningText, steps, text } = await generateText({
      model: model("claude-sonnet-4-5"),
      prompt: "What is the weather in Paris?",
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } }
    })
    expect([steps.map(({ reasoning }) => reasoning.length), reasoningText === undefined, text]).toEqual([
      [1, 1],
      false,
      "The tool get_weather answered It rains in Paris.. That is all I need to answer you."
    ])
  })

  it("@ai-sdk/anthropic: reads the gateway's refusal (N1203)", async () => {
    const failure = await generateText({ model: model("@nowhere/claude-x"), prompt: "Hello", maxRetries: 0 }).catch(
      (error: unknown) => error
    )
    if (!APICallError.isInstance(failure)) throw new Error("another failure", { cause: failure })
    expect([failure.statusCode, failure.isRetryable, failure.message]).toEqual([
      404,
      false,
      'There is no provider "nowhere"; known here: google, vertex-ai.'
    ])
  })
})
