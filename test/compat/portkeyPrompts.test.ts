// Tests prompt templates through Portkey's client, over sockets.
// Must not change the client: only base URL and key differ.
import { Portkey } from "portkey-ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { promptsOf } from "../support/prompts.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    prompts: promptsOf([
      { id: "polite", text: "Be polite to {{userName}}." },
      {
        id: "greeting",
        model: "@google/gemini-3.8-flash",
        messages: [
          { role: "system", content: "{{>polite}}" },
          { role: "user", content: "{{message}}" }
        ],
        parameters: { temperature: 0.5 }
      },
      {
        id: "greeting",
        model: "@vertex-ai/meta.llama-3.3-70b-instruct-maas",
        messages: [{ role: "user", content: "{{message}}" }],
        labels: { production: 1, llama: 2 }
      },
      { id: "bare", model: "gemini-3.8-flash", messages: [{ role: "user", content: "Hello" }] }
    ])
  })
})
afterAll(() => gateway.close())

const client = (options: ConstructorParameters<typeof Portkey>[0] = {}) =>
  new Portkey({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, ...options })
const words = (family: string) =>
  `Hello! I am a simulated ${family} model, so nothing you write leaves this machine. What would you like to try?`
const variables = { userName: "Ann", message: "Hello" }
const sent = () => gateway.simulator.calls.at(-1)?.body

describe("prompts by Portkey's client", () => {
  it("Portkey prompts: completions.create answers", async () => {
    const answer = await client({ traceID: "trace-7" }).prompts.completions.create({
      promptID: "greeting",
      variables,
      max_tokens: 500
    })
    expect([
      answer["object"],
      answer["model"],
      answer["choices"][0].message.content,
      answer["choices"][0].finish_reason
    ]).toEqual(["chat.completion", "gemini-3.8-flash", words("Gemini"), "stop"])
    expect(sent()).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      systemInstruction: { parts: [{ text: "Be polite to Ann." }] },
      generationConfig: { maxOutputTokens: 500 }
    })
    expect(answer.getHeaders()).toEqual({
      provider: "google",
      "trace-id": "trace-7",
      "last-used-option-index": "0",
      "retry-attempt-count": "0",
      "cost-usd": "0.000287",
      "cache-status": "DISABLED",
      "ignored-params": "temperature"
    })
  })

  it("Portkey prompts: completions.create streams", async () => {
    const stream = await client().prompts.completions.create({ promptID: "greeting", variables, stream: true })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("")).toBe(words("Gemini"))
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(["stop"])
  })

  it("Portkey prompts: completions.create uses a labelled version, on a model of another family", async () => {
    const answer = await client().prompts.completions.create({ promptID: "greeting@llama", variables })
    expect([answer["choices"][0].message.content, answer.getHeaders()?.["provider"]]).toEqual([
      words("Llama"),
      "vertex-ai"
    ])
  })

  it("Portkey prompts: completions.create takes the provider from a header, without strict compliance", async () => {
    const answer = await client({ provider: "@google", strictOpenAiCompliance: false }).prompts.completions.create({
      promptID: "bare",
      thinking: { type: "enabled", budget_tokens: 1024 }
    })
    expect(answer["choices"][0].message.content_blocks.map((block: { type: string }) => block.type)).toEqual([
      "thinking",
      "text"
    ])
  })

  it("Portkey prompts: render answers the request body", async () => {
    const calls = gateway.simulator.calls.length
    const rendered = await client().prompts.render({ promptID: "greeting@1", variables, temperature: 1 })
    expect([rendered.success, rendered.data, gateway.simulator.calls.length]).toEqual([
      true,
      {
        model: "@google/gemini-3.8-flash",
        messages: [
          { role: "system", content: "Be polite to Ann." },
          { role: "user", content: "Hello" }
        ],
        temperature: 1
      },
      calls
    ])
  })

  it("Portkey prompts: refusals have their status and message", async () => {
    const outcome = (made: Promise<unknown>) =>
      made.then(
        () => "answered",
        (error: { readonly status: number; readonly message: string }) => [
          error.status,
          JSON.parse(error.message).error.message
        ]
      )
    expect(await outcome(client().prompts.render({ promptID: "gone", variables }))).toEqual([
      404,
      "There is no such prompt."
    ])
    expect(
      await outcome(client().prompts.completions.create({ promptID: "greeting", variables: { userName: "Ann" } }))
    ).toEqual([400, "The prompt needs message; send each as a string in variables."])
  })
})
