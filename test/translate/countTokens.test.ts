// Tests token counting with Gemini on both products, rule by rule, with exact bodies and answers.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import { countToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { strictlyTokenCount } from "../../src/translate/shared/reply/clientForm.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { chatContext, chatRequest, deepFreeze } from "../support/chat.ts"
import { loudlySkipped, sharedDir } from "../support/shared.ts"
import { drive } from "../support/unary.ts"

if (sharedDir() === undefined) loudlySkipped("bodies of token counting against the published schemas")

const pair = drive(countToGemini, "CountTokensRequest")
const google = chatContext("gemini-2.5-flash")
const vertex = chatContext("gemini-2.5-flash", { kind: "vertex-ai" })

const messages: ChatRequest["messages"] = [
  { role: "system", content: "Be terse." },
  { role: "user", content: "Hi" }
]
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Now",
    parameters: { type: "object", properties: { city: { type: "string" } } }
  }
}
const counted = {
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  systemInstruction: { parts: [{ text: "Be terse." }] },
  tools: [
    {
      functionDeclarations: [
        {
          name: "weather",
          description: "Now",
          parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } }
        }
      ]
    }
  ]
}

describe("Gemini token count requests", () => {
  it("the Gemini API gets a wrapper with the model, so system text and tools count (T1701, T1703)", () => {
    expect(pair.sent(chatRequest(messages, { tools: [weather] }), google)).toStrictEqual({
      body: { generateContentRequest: { model: "models/gemini-2.5-flash", ...counted } },
      ignored: []
    })
  })

  it("Vertex AI gets the bare fields (T1701, T1702)", () => {
    expect(pair.sent(chatRequest(messages, { tools: [weather] }), vertex)).toStrictEqual({ body: counted, ignored: [] })
    expect(pair.sent(chatRequest([{ role: "user", content: "Hi" }]), vertex).body).toStrictEqual({
      contents: counted.contents
    })
  })

  it("fields the operation lacks are dropped silently, and fields without effect are accepted (T1702, T1706)", () => {
    const words = {
      tools: [weather],
      tool_choice: "required",
      safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      labels: { team: "a" },
      service_tier: "flex",
      stream: true,
      stream_options: { include_usage: true },
      n: 2,
      max_tokens: 5,
      user: "u"
    }
    const body = { ...counted, generationConfig: { candidateCount: 2, maxOutputTokens: 5 } }
    expect(pair.sent(chatRequest(messages, words), vertex)).toStrictEqual({ body, ignored: ["user"] })
    expect(pair.sent(chatRequest(messages, words), google)).toStrictEqual({
      body: { generateContentRequest: { model: "models/gemini-2.5-flash", ...body } },
      ignored: ["labels", "user"]
    })
  })

  it("audio of a streamed request is counted (T1706)", () => {
    const words = { modalities: ["audio"], audio: { voice: "Kore", format: "wav" }, stream: true }
    expect(pair.fault(chatRequest(messages, words), google)).toBe(undefined)
  })

  it("a request that chat refuses is refused (T1701, B100)", () => {
    expect(pair.fault(chatRequest([{ role: "user", content: 5 }]), google)).toStrictEqual([
      "invalid_type",
      "messages[0].content"
    ])
    expect(pair.fault(chatRequest(messages, { stop: 9 }), google)).toStrictEqual(["invalid_type", "stop"])
  })
})

describe("Gemini token count answers", () => {
  const request = chatRequest(messages)

  it("a count has details by modality, cached tokens and billable characters (T1704)", () => {
    const reply = {
      totalTokens: 100,
      cachedContentTokenCount: 40,
      totalBillableCharacters: 250,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 10 },
        { modality: "IMAGE", tokenCount: 20 },
        { modality: "AUDIO", tokenCount: 30 },
        { modality: "VIDEO", tokenCount: 25 },
        { modality: "TEXT", tokenCount: 5 },
        { modality: "DOCUMENT", tokenCount: 10 },
        { modality: "constructor", tokenCount: 1 },
        null
      ],
      surprise: true
    }
    const full = pair.answer(reply, vertex, request)
    const input_tokens_details = {
      cached_tokens: 40,
      text_tokens: 15,
      image_tokens: 20,
      audio_tokens: 30,
      video_tokens: 25
    }
    expect(full).toStrictEqual({
      object: "token_count",
      model: "gemini-2.5-flash",
      input_tokens: 100,
      input_tokens_details,
      total_billable_characters: 250,
      provider: "vertex-ai"
    })
    expect(strictlyTokenCount(deepFreeze(full))).toStrictEqual({
      object: "token_count",
      model: "gemini-2.5-flash",
      input_tokens: 100,
      input_tokens_details
    })
  })

  it("a count may be the total alone (T1701)", () => {
    expect(pair.answer({ totalTokens: 7 }, google, request)).toStrictEqual({
      object: "token_count",
      model: "gemini-2.5-flash",
      input_tokens: 7,
      provider: "google"
    })
  })

  it("a count without a total fails (T2312)", () => {
    const bad = {
      _tag: "BadReply",
      kind: "no_content",
      message: "The upstream answered without a count of tokens. Try again."
    }
    expect(pair.reason({}, google, request)).toStrictEqual(bad)
    expect(pair.reason({ totalTokens: "7" }, google, request)).toStrictEqual(bad)
  })
})
