// Tests the message content of spans: messages, responses and tools of both dialects, complete or streamed.
// Must not depend on an exporter.
import { describe, expect, it } from "vitest"
import type { JsonObject } from "../../src/domain/text/json.ts"
import { ResponseObserver } from "../../src/accounting/ResponseObserver.ts"
import { googleAsChat, requestAttributes } from "../../src/telemetry/genAi.ts"
import { inputContent } from "../../src/telemetry/MessageContent.ts"
import type { Attributes } from "../../src/telemetry/Tracing.ts"

const parsed = (attributes: Attributes) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, JSON.parse(String(value)) as unknown]))
const digest = "b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78"

describe("input content", () => {
  it("input content: has the messages of an OpenAI request", () => {
    expect(
      parsed(
        inputContent({
          messages: [
            { role: "developer", content: [{ type: "text", text: "Be brief." }] },
            {
              role: "user",
              content: [
                { type: "image_url", image_url: { url: "gs://b/a.png" } },
                { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } }
              ]
            },
            {
              role: "assistant",
              content: null,
              reasoning_content: "hm",
              tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
            },
            { role: "tool", tool_call_id: "c1", content: "42" },
            {
              role: "assistant",
              content: [
                { type: "thinking", thinking: "t" },
                { type: "brand_new", secret: 1 }
              ]
            }
          ]
        })
      )
    ).toEqual({
      "gen_ai.system_instructions": [{ type: "text", content: "Be brief." }],
      "gen_ai.input.messages": [
        {
          role: "user",
          parts: [
            { type: "uri", uri: "gs://b/a.png" },
            { type: "blob", mime_type: "image/png", bytes: 3, sha256: digest }
          ]
        },
        {
          role: "assistant",
          parts: [
            { type: "reasoning", content: "hm" },
            { type: "tool_call", id: "c1", name: "f", arguments: "{}" }
          ]
        },
        { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "42" }] },
        { role: "assistant", parts: [{ type: "reasoning", content: "t" }, { type: "brand_new" }] }
      ]
    })
  })

  it("input content: has the messages of an Anthropic request", () => {
    const tools = [{ name: "f", input_schema: { type: "object" } }]
    expect(
      parsed(
        inputContent({
          system: "Be brief.",
          tools,
          messages: [
            {
              role: "user",
              content: [
                { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } },
                { type: "document", source: { type: "url", url: "https://x/a.pdf" } }
              ]
            },
            { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: { a: 1 } }] },
            {
              role: "user",
              content: [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "42" }] }]
            }
          ]
        })
      )
    ).toEqual({
      "gen_ai.system_instructions": [{ type: "text", content: "Be brief." }],
      "gen_ai.tool.definitions": tools,
      "gen_ai.input.messages": [
        {
          role: "user",
          parts: [
            { type: "blob", mime_type: "image/png", bytes: 3, sha256: digest },
            { type: "uri", uri: "https://x/a.pdf" }
          ]
        },
        { role: "assistant", parts: [{ type: "tool_call", id: "t1", name: "f", arguments: { a: 1 } }] },
        { role: "user", parts: [{ type: "tool_call_response", id: "t1", response: [{ type: "text", content: "42" }] }] }
      ]
    })
  })
})

describe("output content", () => {
  const said = {
    "gen_ai.output.messages": [
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "hmm" },
          { type: "text", content: "Hi there" },
          { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' }
        ],
        finish_reason: "tool_calls"
      }
    ]
  }
  const native = { "gen_ai.output.messages": [{ ...said["gen_ai.output.messages"][0], finish_reason: "tool_use" }] }
  const notes = (content: boolean, take: (notes: ResponseObserver) => void) => {
    const noted = new ResponseObserver(content)
    take(noted)
    return noted
  }
  const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }
  const completion = {
    id: "i",
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: { content: "Hi there", reasoning_content: "hmm", tool_calls: [call] }
      }
    ]
  }
  const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
    id: "i",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }]
  })
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "h" }),
    chunk({ reasoning_content: "mm", content: "Hi" }),
    chunk({ content: " there", tool_calls: [{ ...call, index: 0, function: { name: "f", arguments: '{"a"' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }, "tool_calls"),
    { id: "i", model: "m", choices: [], usage: {} }
  ]
  const events: ReadonlyArray<JsonObject & { readonly type: string }> = [
    { type: "message_start", message: { id: "i", model: "m", content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hmm" } },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hi there" } },
    { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "c1", name: "f", input: {} } },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
    { type: "message_delta", delta: { stop_reason: "tool_use" } }
  ]
  const bytes = Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""))
  const message = {
    id: "i",
    model: "m",
    stop_reason: "tool_use",
    content: [
      { type: "thinking", thinking: "hmm" },
      { type: "text", text: "Hi there" },
      { type: "tool_use", id: "c1", name: "f", input: { a: 1 } }
    ]
  }

  it.each<readonly [string, (notes: ResponseObserver) => void, object, string]>([
    ["a completion", (noted) => noted.whole(completion), said, "tool_calls"],
    ["the chunks of a completion", (noted) => chunks.forEach((one) => noted.read([one])), said, "tool_calls"],
    ["a native message", (noted) => noted.whole({ bytes: Buffer.from(JSON.stringify(message)) }), native, "tool_use"],
    [
      "the events of a stream, wherever they are cut",
      (noted) => [...bytes].forEach((byte) => noted.read([Uint8Array.of(byte)])),
      native,
      "tool_use"
    ]
  ])("output content: is read from %s", (_, take, content, reason) => {
    const wanted = notes(true, take)
    expect([wanted.id, wanted.model, wanted.finishReasons, parsed(wanted.attributes)]).toEqual([
      "i",
      "m",
      [reason],
      content
    ])
    const unwanted = notes(false, take)
    expect([unwanted.id, unwanted.model, unwanted.finishReasons, unwanted.attributes]).toEqual(["i", "m", [reason], {}])
  })

  it("output content: is empty for a response of another form", () => {
    const noted = notes(true, (one) => {
      one.whole("text")
      one.whole({ bytes: Buffer.from("no JSON") })
      one.read([null, 1, { choices: "x" }])
    })
    expect([noted.id, noted.finishReasons, noted.attributes]).toEqual([undefined, [], {}])
  })
})

it("request attributes: have the parameters that the conventions name, and no others", () => {
  expect(
    requestAttributes("chat", {
      max_tokens: 1,
      max_completion_tokens: 2,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["a", "b"],
      seed: 4,
      n: 2,
      stream: true,
      modalities: ["text", "image"],
      user: "secret",
      messages: "secret"
    })
  ).toEqual({
    "gen_ai.request.max_tokens": 2,
    "gen_ai.request.temperature": 0,
    "gen_ai.request.top_p": 0.5,
    "gen_ai.request.top_k": 3,
    "gen_ai.request.frequency_penalty": 0.1,
    "gen_ai.request.presence_penalty": 0.2,
    "gen_ai.request.stop_sequences": ["a", "b"],
    "gen_ai.request.seed": 4,
    "gen_ai.request.choice.count": 2,
    "gen_ai.request.stream": true,
    "gen_ai.output.type": "image"
  })
  expect(requestAttributes("embeddings", { dimensions: 8, encoding_format: "base64", n: 1, stream: false })).toEqual({
    "gen_ai.request.encoding_formats": ["base64"],
    "gen_ai.embeddings.dimension.count": 8
  })
  expect(requestAttributes("images", { n: "2" })).toEqual({ "gen_ai.output.type": "image" })
  expect(requestAttributes("chat", { modalities: ["audio"] })).toEqual({ "gen_ai.output.type": "speech" })
})

describe("content of Google's own dialect", () => {
  const call = { functionCall: { id: "c1", name: "f", args: { a: 1 } } }
  it("content: a native request has the words of a chat (N407)", () => {
    expect(
      JSON.parse(
        JSON.stringify(
          googleAsChat({
            system_instruction: { parts: [{ text: "Be brief." }] },
            generationConfig: { maxOutputTokens: 5, topK: 3, stop_sequences: ["x"], candidateCount: 2 },
            contents: [
              { parts: [{ text: "Hi" }, { inlineData: { mimeType: "image/png", data: "QUJD" } }] },
              { role: "model", parts: [{ text: "hm", thought: true }, call] },
              { role: "user", parts: [{ functionResponse: { id: "c1", response: { b: 2 } } }] }
            ]
          })
        )
      )
    ).toEqual({
      max_tokens: 5,
      top_k: 3,
      stop: ["x"],
      n: 2,
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief." }] },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image", source: { media_type: "image/png", data: "QUJD" } }
          ]
        },
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: "hm" }],
          tool_calls: [{ id: "c1", function: { name: "f", arguments: '{"a":1}' } }]
        },
        { role: "tool", tool_call_id: "c1", content: '{"b":2}' }
      ]
    })
  })
  it("content: a native answer is read as a whole, in events, and not at all as an array (N407)", () => {
    const reply = {
      responseId: "r",
      modelVersion: "m",
      candidates: [{ content: { parts: [{ text: "Hi" }, call] }, finishReason: "STOP" }]
    }
    const bytes = (words: string) => new TextEncoder().encode(words)
    const whole = new ResponseObserver(true)
    whole.whole({ bytes: bytes(JSON.stringify(reply)) })
    const events = new ResponseObserver(true)
    events.read([bytes(`data: ${JSON.stringify(reply)}\r\n\r\n`)])
    const array = new ResponseObserver(true)
    array.read([bytes(`[${JSON.stringify(reply)}]`)])
    expect(
      [whole, events, array].map(({ attributes, finishReasons, id, model }) => [
        id,
        model,
        finishReasons,
        parsed(attributes)
      ])
    ).toEqual([
      ["r", "m", ["STOP"], parsed(whole.attributes)],
      ["r", "m", ["STOP"], parsed(whole.attributes)],
      [undefined, undefined, [], {}]
    ])
    expect(parsed(whole.attributes)).toEqual({
      "gen_ai.output.messages": [
        {
          role: "assistant",
          parts: [
            { type: "text", content: "Hi" },
            { type: "tool_call", id: "c1", name: "f", arguments: '{"a":1}' }
          ],
          finish_reason: "STOP"
        }
      ]
    })
  })
})
