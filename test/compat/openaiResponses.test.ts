// The openai SDK's Responses client over sockets: create, stream, parse, tool loops, stored chains, kept responses.
// It must not look inside the gateway.
import { request } from "node:http"
import OpenAI, { BadRequestError, NotFoundError } from "openai"
import { makeParseableTextFormat } from "openai/lib/parser"
import type { FunctionTool, ResponseInput, ResponseInputItem } from "openai/resources/responses/responses"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTestGateway()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const weather: FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "Current weather of a city",
  strict: null,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

const models = [
  "@google/gemini-2.5-flash",
  "@google/gemini-3-flash-preview",
  "@vertex-ai/gemini-3-flash-preview",
  "@vertex-ai/anthropic.claude-sonnet-4-6",
  "@vertex-ai/meta/llama-3.3-70b-instruct-maas"
]

/** One turn: follows the calls with results until the model answers in words. */
const follow = async (
  ask: (input: ResponseInput, previous: string | undefined) => Promise<OpenAI.Responses.Response>,
  input: ResponseInput,
  isStored: boolean
) => {
  let asked = input
  let previous: string | undefined
  const calls: Array<string> = []
  for (let turns = 1; ; turns++) {
    if (turns > 10) throw new Error("the model still calls tools after 10 turns")
    const response = await ask(asked, previous)
    expect(response.status).toBe("completed")
    const outputs = response.output.flatMap((item): ReadonlyArray<ResponseInputItem> => {
      if (item.type !== "function_call") return []
      calls.push(`${item.name}(${item.arguments})`)
      return [{ type: "function_call_output", call_id: item.call_id, output: JSON.stringify({ degrees: 21 }) }]
    })
    asked = isStored ? [...outputs] : [...asked, ...(response.output as ResponseInput), ...outputs]
    previous = isStored ? response.id : undefined
    if (outputs.length === 0) return { calls, words: response.output_text, input: asked, previous }
  }
}

const thinking = (model: string) =>
  model.includes("llama") ? {} : { reasoning: { effort: "low", summary: "auto" } as const }

describe.each(models)("the openai SDK's responses on %s", (model) => {
  it("responses: a text, whole", async () => {
    const response = await client.responses.create({ model, instructions: "Be brief.", input: "Hello" })
    expect([response.object, response.status]).toEqual(["response", "completed"])
    expect(response.output_text.length).toBeGreaterThan(0)
    expect(response.usage?.total_tokens).toBe(
      (response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0)
    )
  })

  it("responses: a stream ends in the response that it made, without gaps", async () => {
    const stream = client.responses.stream({ model, input: "Tell me about tides", ...thinking(model) })
    const numbers: Array<number> = []
    let text = ""
    let output: unknown
    for await (const event of stream) {
      numbers.push(event.sequence_number)
      if (event.type === "response.completed") output = structuredClone(event.response.output)
      if (event.type === "response.output_text.delta") text += event.delta
    }
    const final = await stream.finalResponse()
    expect(numbers).toEqual(numbers.map((_number, at) => at))
    expect(final.output_text).toBe(text)
    expect((await client.responses.retrieve(final.id)).output).toEqual(output)
  })

  it.each(["whole", "streamed"])(
    "responses: tool loops without a store carry what was thought, %s (R408 R801)",
    async (how) => {
      const common = { model, tools: [weather], store: false, ...thinking(model) }
      const ask = (input: ResponseInput) =>
        how === "whole"
          ? client.responses.create({ ...common, input })
          : client.responses.stream({ ...common, input }).finalResponse()
      const first = await follow(ask, [{ role: "user", content: "What is the weather in Paris?" }], false)
      const second = await follow(ask, [...first.input, { role: "user", content: "And the weather in Rome?" }], false)
      expect([first.calls.length, second.calls.length]).toEqual([1, 1])
      expect(Math.min(first.words.length, second.words.length)).toBeGreaterThan(0)
    }
  )

  it("responses: a stored chain needs only what is new (R225 R703)", async () => {
    const ask = (input: ResponseInput, previous: string | undefined) =>
      client.responses.create({
        model,
        tools: [weather],
        input,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
        ...thinking(model)
      })
    const first = await follow(ask, [{ role: "user", content: "What is the weather in Paris?" }], true)
    const second = await follow(
      (input, previous) => ask(input, previous ?? first.previous),
      [{ role: "user", content: "And the weather in Rome?" }],
      true
    )
    expect([first.calls.length, second.calls.length]).toEqual([1, 1])
    expect(Math.min(first.words.length, second.words.length)).toBeGreaterThan(0)
  })

  it("responses: parse reads a schema's value", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false
    }
    const format = makeParseableTextFormat(
      { type: "json_schema", name: "city", strict: true, schema },
      (content): unknown => JSON.parse(content)
    )
    const response = await client.responses.parse({ model, input: "Name a city", text: { format } })
    expect(response.output_parsed).toEqual({ city: expect.any(String) })
  })
})

describe("kept responses through the openai SDK", () => {
  const model = "@google/gemini-2.5-flash"
  const unknown = "resp_00000000000000000000000000000000"

  it("responses: are retrieved, listed and deleted (R111 R706)", async () => {
    const made = await client.responses.create({ model, input: "Hello" })
    expect(await client.responses.retrieve(made.id)).toMatchObject({ id: made.id, output: made.output })
    const items = await client.responses.inputItems.list(made.id)
    expect(items.data).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "user",
        status: "completed",
        content: [{ type: "input_text", text: "Hello" }]
      }
    ])
    await client.responses.delete(made.id)
    await expect(client.responses.retrieve(made.id)).rejects.toThrow(NotFoundError)
    await expect(client.responses.delete(made.id)).rejects.toThrow(NotFoundError)
    await expect(client.responses.create({ model, input: "More", previous_response_id: made.id })).rejects.toThrow(
      BadRequestError
    )
  })

  it("responses: are not cancelled (R111)", async () => {
    const made = await client.responses.create({ model, input: "Hello" })
    await expect(client.responses.cancel(made.id)).rejects.toThrow(BadRequestError)
    await expect(client.responses.cancel(unknown)).rejects.toThrow(NotFoundError)
  })

  it("responses: their tokens are counted before (R110)", async () => {
    const count = await client.responses.inputTokens.count({ model, input: "Hello there" })
    expect(count.object).toBe("response.input_tokens")
    expect(count.input_tokens).toBeGreaterThan(0)
  })

  it("responses: a stream that breaks throws, raw or collected (R513)", async () => {
    const piece = { candidates: [{ content: { role: "model", parts: [{ text: "Half" }] }, index: 0 }] }
    const broken = { for: "model", chunks: [`data: ${JSON.stringify(piece)}\r\n\r\n`], end: "close" } as const
    gateway.simulator.script([broken, broken])
    const raw = async () => {
      for await (const event of await client.responses.create({ model, input: "Hello", stream: true })) void event
    }
    await expect(raw()).rejects.toThrow("The upstream closed the connection in the middle of its answer.")
    await expect(client.responses.stream({ model, input: "Hello" }).finalResponse()).rejects.toThrow(
      "The upstream closed the connection in the middle of its answer."
    )
  })

  it("responses: a WebSocket is answered 426 over a socket, and the connection closes (R113)", async () => {
    const answer = await new Promise<ReadonlyArray<unknown>>((resolve, reject) => {
      const headers = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
      }
      request(`${gateway.url}/v1/responses`, { headers }, (message) => {
        message.resume()
        resolve([message.statusCode, message.headers.connection])
      })
        .on("error", reject)
        .end()
    })
    expect(answer).toEqual([426, "close"])
  })
})
