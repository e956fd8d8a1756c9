// Tests the client against the real service over a socket: every method, streams, dry runs, and the facts of headers.
// Must not reach the network beyond its own socket: upstreams are simulated.
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest"
import {
  type ChatCompletion,
  type ChatTurn,
  type Client,
  createClient,
  type DryRun,
  type EventStream,
  factsOf,
  GatewayFailure
} from "../../src/client/Client.ts"
import { demoPrompts } from "../../src/demo/seed.ts"
import { geminiKey, gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
let client: Client
beforeAll(async () => {
  gateway = await startTestGateway({ prompts: demoPrompts, configs: {} })
  client = createClient({ baseUrl: gateway.url, apiKey: gatewayKey, maxRetries: 0 })
})
afterAll(() => gateway.close())

const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"
const ofClaude = greeting.replace("Gemini", "Claude")
const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] } as const
const claude = {
  model: "@vertex-ai/anthropic.claude-sonnet-4-6",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }]
} as const
const filled = { variables: { name: "Ann", message: "Hello" } }

const textOf = async (stream: EventStream<{ readonly choices: ChatChunkChoices }>): Promise<string> => {
  let text = ""
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
  return text
}
type ChatChunkChoices = ReadonlyArray<{ readonly delta: { readonly content?: string | null } }>

describe("chat", () => {
  it("chat: answers, with the provider and the facts of the call", async () => {
    const answer = await client.chat.completions.create(
      { ...chat, logit_bias: { 1: 1 } },
      { traceId: "trace-1", headers: { "x-request-id": "request-1" } }
    )
    expectTypeOf(answer).toEqualTypeOf<ChatCompletion>()
    expect(answer.choices.map(({ finish_reason, message }) => [finish_reason, message.content])).toEqual([
      ["stop", greeting]
    ])
    expect(factsOf(answer)).toEqual({
      requestId: "request-1",
      traceId: "trace-1",
      provider: "google",
      optionIndex: 0,
      retryCount: 0,
      cacheStatus: "DISABLED",
      costUsd: 0.000188,
      isCostPartial: false,
      ignoredParams: ["logit_bias"],
      adjustedParams: []
    })
  })

  it("chat: streams", async () => {
    expect(await textOf(await client.chat.completions.create({ ...chat, stream: true }))).toBe(greeting)
  })

  it("chat: accepts its own full answers in the history", async () => {
    const tools = [
      {
        type: "function",
        function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }
      }
    ] as const
    const messages: Array<ChatTurn> = [{ role: "user", content: "Weather in Bonn?" }]
    const first = await client.chat.completions.create(
      { ...chat, messages, tools, tool_choice: "required" },
      { strict: false }
    )
    const message = first.choices[0]?.message
    const call = message?.tool_calls?.[0]
    expect([call?.function.name, typeof call?.function.thought_signature]).toEqual(["get_weather", "string"])
    if (message !== undefined && call !== undefined)
      messages.push(message, { role: "tool", tool_call_id: call.id, content: "Sunny" })
    const second = await client.chat.completions.create({ ...chat, messages, tools })
    expect(second.choices[0]?.finish_reason).toBe("stop")
    const sent = JSON.stringify(gateway.simulator.calls.at(-1)?.body)
    expect(sent.includes(call?.function.thought_signature ?? "none")).toBe(true)
  })

  it("chat: counts tokens under either name", async () => {
    const counted = {
      object: "token_count",
      model: "gemini-2.5-flash",
      input_tokens: 2,
      input_tokens_details: { text_tokens: 2 }
    }
    expect(await client.tokens.count(chat)).toEqual(counted)
    expect(await client.chat.completions.countTokens(chat)).toEqual(counted)
  })

  it("chat: a dry run returns the upstream request, streamed or not", async () => {
    const calls = gateway.simulator.calls.length
    const dry = await client.chat.completions.create({ ...chat, stream: true }, { dryRun: true })
    expectTypeOf(dry).toEqualTypeOf<DryRun>()
    expect([dry.object, dry.provider, new URL(dry.url).pathname]).toEqual([
      "dry_run",
      "google",
      "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
    ])
    expect(
      (await client.embeddings.create({ model: "@google/gemini-embedding-001", input: "a" }, { dryRun: true })).object
    ).toBe("dry_run")
    expect(gateway.simulator.calls).toHaveLength(calls)
  })
})

describe("other methods", () => {
  it("messages: answer and stream in Anthropic's dialect, and count", async () => {
    const answer = await client.messages.create(claude)
    expect([answer.type, answer.stop_reason, answer.content]).toEqual([
      "message",
      "end_turn",
      [{ type: "text", text: ofClaude }]
    ])
    let text = ""
    const types = new Set<string>()
    for await (const event of await client.messages.create({ ...claude, stream: true })) {
      types.add(event.type)
      text += event.delta?.text ?? ""
    }
    expect([text, [...types]]).toEqual([
      ofClaude,
      [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop"
      ]
    ])
    expect(await client.messages.countTokens({ model: claude.model, messages: claude.messages })).toEqual({
      input_tokens: (await client.messages.create(claude)).usage.input_tokens
    })
  })

  it("embeddings: answers", async () => {
    const { data, model } = await client.embeddings.create({
      model: "@google/gemini-embedding-001",
      input: ["a cat", "a dog"],
      dimensions: 8
    })
    expect([model, data.map(({ embedding, index }) => [index, embedding.length])]).toEqual([
      "gemini-embedding-001",
      [
        [0, 8],
        [1, 8]
      ]
    ])
  })

  it("images: answers", async () => {
    const { data } = await client.images.generate({
      model: "@vertex-ai/imagen-3.0-generate-001",
      prompt: "A cat",
      n: 2
    })
    expect(data.map(({ b64_json }) => typeof b64_json)).toEqual(["string", "string"])
  })

  it("prompts: answer, stream and render, by an id that needs escapes", async () => {
    expect((await client.prompts.completions.create("greeting", filled)).choices[0]?.message.content).toBe(greeting)
    expect(await textOf(await client.prompts.completions.create("greeting", { ...filled, stream: true }))).toBe(
      greeting
    )
    expect((await client.prompts.render("greeting", filled)).data.messages).toHaveLength(2)
    await expect(client.prompts.render("a/b@x", filled)).rejects.toMatchObject({
      _tag: "NotFound",
      code: "prompt_not_found"
    })
  })

  it("models: are listed, and one is read by its id", async () => {
    const { data } = await client.models.list()
    expect(data.map(({ id }) => id)).toContain("@google/gemini-2.5-flash")
    expect(await client.models.retrieve("@google/gemini-2.5-flash")).toEqual(
      data.find(({ id }) => id === "@google/gemini-2.5-flash")
    )
    await expect(client.models.retrieve("@google/nothing/of it")).rejects.toMatchObject({
      _tag: "NotFound",
      code: "model_not_found",
      status: 404
    })
  })
})

describe("options of a call", () => {
  it("options: accept a provider and its credential next to the gateway key", async () => {
    await client.chat.completions.create(
      { ...chat, model: "gemini-2.5-flash" },
      { provider: "google", authorization: geminiKey }
    )
    expect(gateway.simulator.calls.at(-1)?.headers["x-goog-api-key"]).toBe(geminiKey)
    await expect(client.chat.completions.create(chat, { authorization: "AIzaNotKnown" })).rejects.toMatchObject({
      _tag: "AuthenticationFailed",
      code: "provider_credentials_rejected"
    })
  })

  it("options: accept a config as an object, and metadata and configs beyond ASCII", async () => {
    const answer = await client.chat.completions.create(
      { ...chat, model: "gemini-2.5-flash" },
      {
        config: {
          strategy: { mode: "fallback" },
          targets: [
            { name: "größe", provider: "google", override_params: { model: "demo-503" } },
            { provider: "google" }
          ]
        },
        metadata: { team: "Größe 東京" },
        strict: false
      }
    )
    expect([answer.provider, factsOf(answer)?.optionIndex]).toEqual(["google", 1])
  })

  it("options: reject unsupported parameters on request", async () => {
    await expect(
      client.chat.completions.create({ ...chat, logit_bias: { 1: 1 } }, { unsupportedParams: "reject" })
    ).rejects.toMatchObject({ _tag: "RequestInvalid", code: "unsupported_parameter", param: "logit_bias", status: 400 })
  })
})

it("failures: have a class and a tag", async () => {
  const failure = await createClient({ baseUrl: gateway.url, maxRetries: 0 })
    .models.list()
    .then(
      () => undefined,
      (error: unknown) => error
    )
  expect(failure).toBeInstanceOf(GatewayFailure)
  expect(failure).toMatchObject({
    _tag: "AuthenticationFailed",
    code: "missing_gateway_key",
    type: "authentication_error",
    status: 401,
    param: undefined
  })
})
