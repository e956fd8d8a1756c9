// @ai-sdk/google and @ai-sdk/google-vertex over real sockets against the simulator: texts, streams, tools, vectors, Claude.
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { createVertex } from "@ai-sdk/google-vertex"
import { createVertexAnthropic } from "@ai-sdk/google-vertex/anthropic"
import { embedMany, generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const google = () => createGoogleGenerativeAI({ baseURL: `${gateway.url}/v1beta`, apiKey: gatewayKey })
const vertex = () => createVertex({ baseURL: `${gateway.url}/v1/publishers/google`, apiKey: gatewayKey })
/** Google's own token is asked of a client of the application; the gateway key takes its place. */
const claude = () =>
  createVertexAnthropic({
    baseURL: `${gateway.url}/v1/projects/any-project/locations/global/publishers/anthropic/models`,
    project: "any-project",
    location: "global",
    googleAuthOptions: { authClient: googleToken }
  })

type VertexSettings = NonNullable<Parameters<typeof createVertexAnthropic>[0]>
type Auth = NonNullable<NonNullable<VertexSettings["googleAuthOptions"]>["authClient"]>
const googleToken = { getAccessToken: () => Promise.resolve({ token: gatewayKey }) } as Auth

const hello =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
const helloOfClaude = hello.replace("Gemini", "Claude")

const weather = {
  get_weather: tool({
    description: "Current weather of a city",
    inputSchema: jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"]
    }),
    execute: () => Promise.resolve({ weather: "sunny" })
  })
}

const forms = { google, vertex }
const ids = ["gemini-2.5-flash", "@google/gemini-2.5-flash", "@vertex-ai/gemini-2.5-flash"]
const models = (["google", "vertex"] as const).flatMap((form) => ids.map((id) => [form, id] as const))

const streamed = async (model: LanguageModel): Promise<string> => {
  let text = ""
  const { textStream } = streamText({ model, prompt: "Hello", maxRetries: 0, onError: () => {} })
  for await (const piece of textStream) text += piece
  return text
}

describe("@ai-sdk/google and @ai-sdk/google-vertex", () => {
  it.each(models)("@ai-sdk (%s) generates and streams with %s (N102, N202)", async (form, id) => {
    const model = forms[form]()(id)
    expect([(await generateText({ model, prompt: "Hello", maxRetries: 0 })).text, await streamed(model)]).toEqual([
      hello,
      hello
    ])
  })
  it.each(["google", "vertex"] as const)("@ai-sdk (%s) runs a tool loop with signatures (N301)", async (form) => {
    const { steps, text } = await generateText({
      model: forms[form]()("gemini-3.1-pro-preview"),
      prompt: "What is the weather in Paris?",
      tools: weather,
      stopWhen: stepCountIs(3),
      maxRetries: 0
    })
    expect([steps.length, text]).toEqual([
      2,
      'The tool get_weather answered {"name":"get_weather","content":{"weather":"sunny"}}. That is all I need to answer you.'
    ])
  })
  it("@ai-sdk embeds texts by the verb of either product (N104)", async () => {
    const values = ["a", "b"]
    const batch = await embedMany({ model: google().embeddingModel("gemini-embedding-001"), values, maxRetries: 0 })
    const predicted = await embedMany({ model: vertex().embeddingModel("text-embedding-005"), values, maxRetries: 0 })
    expect([batch, predicted].map(({ embeddings }) => embeddings.map(({ length }) => length))).toEqual([
      [3072, 3072],
      [768, 768]
    ])
  })
})

describe("@ai-sdk/google-vertex/anthropic", () => {
  it.each(["claude-sonnet-4-5@20250929", "@vertex-ai/claude-sonnet-4-5@20250929"])(
    "@ai-sdk (Claude) generates, streams and calls tools with %s (N801)",
    async (id) => {
      const model = claude()(id)
      const { text } = await generateText({ model, prompt: "Hello", maxRetries: 0 })
      const called = await generateText({
        model,
        prompt: "What is the weather in Paris?",
        tools: weather,
        stopWhen: stepCountIs(3),
        maxRetries: 0
      })
      expect([text, await streamed(model), called.text]).toEqual([
        helloOfClaude,
        helloOfClaude,
        'The tool get_weather answered {"weather":"sunny"}. That is all I need to answer you.'
      ])
    }
  )
})
