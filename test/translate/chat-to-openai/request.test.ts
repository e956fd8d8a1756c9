// Tests requests for OpenAI-compatible upstreams: T2001 to T2004 with exact bodies.
// Must not open sockets or read clocks.
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseExactJsonText } from "../../../src/domain/text/json.ts"
import { chatToOpenAi } from "../../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { openAiParams } from "../../../src/translate/chat-to-openai/params.ts"
import type { TranslateContext } from "../../../src/translate/Translator.ts"
import type { ChatRequest } from "../../../src/wire/openai/Chat.ts"
import { chatRequest, deepFreeze } from "../../support/chat.ts"
import { context, llama, llamaContext, validRequest } from "../../support/openAi.ts"

const hi = [{ role: "user", content: "hi" }]
const translate = (request: ChatRequest, from: TranslateContext = context) => chatToOpenAi.request(request, from)
const sent = (request: ChatRequest, from?: TranslateContext) => Result.getOrThrow(translate(request, from))
const body = (rest: Omit<Partial<ChatRequest>, "messages">) => sent(chatRequest(hi, rest)).body
const messages = (given: ChatRequest["messages"]) => {
  const { body } = sent(chatRequest(given))
  validRequest(body)
  return body["messages"]
}
const refused = (content: unknown) => {
  const result = translate(chatRequest([...hi, { role: "user", content }]))
  return Result.isFailure(result) && result.failure._tag === "BodyInvalid"
    ? [result.failure.param, result.failure.code]
    : result
}

describe("OpenAI-compatible model names (T2001)", () => {
  it("the model keeps its publisher for every client spelling", () => {
    expect(sent(chatRequest(hi))).toStrictEqual({ body: { model: llama, messages: hi }, headers: {}, ignored: [] })
    expect(sent(chatRequest(hi), llamaContext("deepseek-ai/deepseek-r1-0528-maas")).body["model"]).toBe(
      "deepseek-ai/deepseek-r1-0528-maas"
    )
  })
})

/** Every parameter that OpenAI publishes and the gateway passes. */
const published: Omit<ChatRequest, "messages"> = {
  model: "x",
  stream: false,
  max_tokens: 9,
  temperature: 0.5,
  top_p: 0.9,
  n: 2,
  stop: ["a", "b"],
  seed: 7,
  presence_penalty: 1,
  frequency_penalty: -1,
  logprobs: true,
  top_logprobs: 3,
  logit_bias: { "50256": -100 },
  user: "u",
  store: true,
  metadata: { a: "b" },
  prediction: { type: "content", content: "x" },
  verbosity: "low",
  moderation: { model: "omni-moderation-latest" },
  safety_identifier: "s",
  prompt_cache_key: "k",
  prompt_cache_options: { mode: "implicit" },
  prompt_cache_retention: "24h",
  service_tier: "flex",
  response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
  tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
  tool_choice: { type: "function", function: { name: "f" } },
  parallel_tool_calls: false,
  functions: [{ name: "g" }],
  function_call: "auto",
  web_search_options: { search_context_size: "low" },
  reasoning_effort: "minimal",
  modalities: ["text", "audio"],
  audio: { voice: "alloy", format: "wav" }
}

const numeric = {
  max_tokens: 1,
  max_completion_tokens: 1,
  temperature: 1,
  top_p: 1,
  top_k: 1,
  n: 1,
  seed: 1,
  presence_penalty: 1,
  frequency_penalty: 1,
  top_logprobs: 1
}
const worded: Readonly<Record<string, unknown>> = { stop: ["a"], reasoning_effort: "low" }

describe("pass-through requests (T2002)", () => {
  it("every published parameter passes unchanged", () => {
    const { body, ignored } = sent(chatRequest(hi, published))
    expect(body).toStrictEqual({ ...published, model: llama, messages: hi })
    expect(ignored).toStrictEqual([])
    validRequest(body)
  })
  it("every unknown parameter passes with its digits", () => {
    const text = '{"top_k":5,"guided_json":{"a":[12345678901234567890]},"ignore_eos":true,"__proto__":{"p":1}}'
    const unknown = Result.getOrThrow(parseExactJsonText(text)) as Omit<ChatRequest, "messages">
    const { body } = sent(deepFreeze({ model: "x", messages: hi, ...unknown }))
    expect(JSON.stringify(body)).toBe(
      `{"model":"${llama}","messages":[{"role":"user","content":"hi"}],${text.slice(1)}`
    )
  })
  it("every known parameter has a rule, and passes or is listed as ignored accordingly", () => {
    for (const [name, rule] of Object.entries(openAiParams)) {
      if (name === "model" || name === "messages") continue
      const given: unknown = name in numeric ? 1 : name in worded ? worded[name] : { odd: [1] }
      const { body, ignored } = sent(chatRequest(hi, { [name]: given } as object as Partial<ChatRequest>))
      const upstream = name === "max_completion_tokens" ? "max_tokens" : name
      expect([name, body[upstream], ignored]).toStrictEqual(
        rule.kind === "ignored" ? [name, undefined, [name]] : [name, given, []]
      )
    }
  })
  it("the body has no defaults, and numbers in their ranges (W24)", () => {
    expect(body({ max_tokens: 1_000_000, temperature: 99, n: 0 })).toStrictEqual({
      model: llama,
      messages: hi,
      max_tokens: 8_192,
      temperature: 2,
      n: 1
    })
  })
  it("null counts as an absent field", () => {
    expect(
      body({ temperature: null, stop: null, tools: null, stream_options: null, thinking: null, zzz: null })
    ).toStrictEqual({ model: llama, messages: hi })
  })
  it("plain messages are the client's own objects, equal on every run (L8, L9)", () => {
    const given = chatRequest([
      { role: "system", content: "s" },
      ...hi,
      { role: "assistant", content: null, refusal: "no" }
    ])
    const once = sent(given)
    expect(once).toStrictEqual(sent(given))
    expect(
      (once.body["messages"] as ReadonlyArray<unknown>).map((one, at) => one === given.messages[at])
    ).toStrictEqual([true, true, true])
  })
})

describe("changed parameters (T2003)", () => {
  it("max_completion_tokens becomes max_tokens unless that is given", () => {
    expect(body({ max_completion_tokens: 5 })).toStrictEqual({ model: llama, messages: hi, max_tokens: 5 })
    expect(body({ max_completion_tokens: 5, max_tokens: null })).toStrictEqual({
      model: llama,
      messages: hi,
      max_tokens: 5
    })
    expect(body({ max_completion_tokens: 5, max_tokens: 6 })).toStrictEqual({
      model: llama,
      messages: hi,
      max_completion_tokens: 5,
      max_tokens: 6
    })
  })
  it("streams request usage", () => {
    const asked = { model: llama, messages: hi, stream: true }
    expect(body({ stream: true })).toStrictEqual({ ...asked, stream_options: { include_usage: true } })
    expect(body({ stream: true, stream_options: null })).toStrictEqual({
      ...asked,
      stream_options: { include_usage: true }
    })
    expect(body({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } })).toStrictEqual({
      ...asked,
      stream_options: { include_usage: true, include_obfuscation: false }
    })
    expect(body({ stream: false, stream_options: { continuous_usage_stats: true } })).toStrictEqual({
      model: llama,
      messages: hi,
      stream: false,
      stream_options: { continuous_usage_stats: true }
    })
  })
  it("the gateway's own parameters are removed and listed in request order (L29)", () => {
    const own = {
      thinking: { type: "enabled", budget_tokens: 5 },
      image_config: { aspect_ratio: "1:1" },
      safety_settings: [],
      safetySettings: [],
      labels: { a: "b" },
      cached_content: "c",
      model_armor_config: {},
      media_resolution: "low",
      modalities: ["text", "image"],
      anthropic_beta: "b",
      extra_body: { google: {} },
      google: {},
      task_type: "CLASSIFICATION"
    }
    expect(sent(chatRequest(hi, own))).toStrictEqual({
      body: { model: llama, messages: hi },
      headers: {},
      ignored: Object.keys(own)
    })
  })
  it("developer becomes system; other roles pass, unknown ones too", () => {
    expect(
      sent(
        chatRequest([
          { role: "developer", content: "d", name: "n" },
          { role: "ipython", content: "x" }
        ])
      ).body["messages"]
    ).toStrictEqual([
      { role: "system", content: "d", name: "n" },
      { role: "ipython", content: "x" }
    ])
  })
  it("the gateway's own fields are removed from messages and calls, all other fields stay", () => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"n":12345678901234567890}' } }
    expect(
      messages([
        ...hi,
        {
          role: "assistant",
          content: "a",
          name: null,
          refusal: null,
          reasoning_content: "hm",
          content_blocks: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "a" }
          ],
          content_parts: [{ type: "text", text: "a" }],
          audio: { id: "audio-1" },
          tool_calls: [
            { ...call, extra_content: { google: {} }, function: { ...call.function, thought_signature: "cw==" } },
            { ...call, id: "c2", thought_signature: "cw==" }
          ]
        },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "2" }] }
      ])
    ).toStrictEqual([
      ...hi,
      { role: "assistant", content: "a", audio: { id: "audio-1" }, tool_calls: [call, { ...call, id: "c2" }] },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "2" }] }
    ])
  })
  it("text in the gateway's extension fields alone becomes the content (L13)", () => {
    const blocks = [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "a" },
      { type: "text", text: "b" }
    ]
    expect(
      messages([
        ...hi,
        { role: "assistant", content_blocks: blocks },
        { role: "assistant", content: "", content_blocks: blocks }
      ])
    ).toStrictEqual([...hi, { role: "assistant", content: "ab" }, { role: "assistant", content: "ab" }])
    expect(
      messages([
        ...hi,
        {
          role: "assistant",
          content: null,
          content_parts: [
            { type: "image", image: {} },
            { type: "text", text: "p" }
          ],
          content_blocks: blocks
        }
      ])
    ).toStrictEqual([...hi, { role: "assistant", content: "p" }])
    expect(messages([...hi, { role: "assistant", content: "own", content_blocks: blocks }])).toStrictEqual([
      ...hi,
      { role: "assistant", content: "own" }
    ])
  })
})

describe("OpenAI-compatible content parts (T2004)", () => {
  it("data URIs and https addresses pass unchanged; hints for Gemini are removed", () => {
    const url = `data:image/png;base64,${"A".repeat(1000)}`
    expect(
      messages([
        {
          role: "user",
          content: [
            { type: "text", text: "t" },
            {
              type: "image_url",
              image_url: { url, detail: "low", mime_type: "image/png", format: "png", video_metadata: { fps: 1 } }
            },
            { type: "image_url", image_url: { url: "https://example.com/a?sig=1#p" } },
            { type: "image_url", image_url: "https://example.com/b.png" },
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "file", file: { file_data: "AAAA", filename: "a.pdf" } }
          ]
        }
      ])
    ).toStrictEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "t" },
          { type: "image_url", image_url: { url, detail: "low" } },
          { type: "image_url", image_url: { url: "https://example.com/a?sig=1#p" } },
          { type: "image_url", image_url: { url: "https://example.com/b.png" } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
          { type: "file", file: { file_data: "AAAA", filename: "a.pdf" } }
        ]
      }
    ])
  })
  it("content parts of other servers pass", () => {
    const content = [
      { type: "video_url", video_url: { url: "https://example.com/v.mp4" } },
      { type: "brand_new", x: 1 },
      "odd"
    ]
    expect(sent(chatRequest([{ role: "user", content }])).body["messages"]).toStrictEqual([{ role: "user", content }])
  })
  it.each([
    "gs://bucket/a.png",
    "https://generativelanguage.googleapis.com/v1beta/files/abc",
    "https://www.youtube.com/watch?v=abc",
    "https://youtu.be/abc",
    "http://example.com/a.png",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://user:pass@example.com/a.png",
    "https://example.com:8443/a.png",
    "https://127.0.0.1/a.png",
    "https://0x7f.1/a.png",
    "https://[::1]/a.png",
    "https://169.254.169.254/latest",
    "https://metadata.google.internal/x",
    "https:///example.com/a.png",
    "https://example.com/\n",
    "files/abc",
    "",
    "A".repeat(5_000_000)
  ])("a URL for Gemini only, or a private one, is refused: %.40s (T213)", (url) => {
    expect(
      refused([
        { type: "text", text: "t" },
        { type: "image_url", image_url: { url } }
      ])
    ).toStrictEqual(["messages[1].content[1].image_url.url", "invalid_media_url"])
    expect(refused([{ type: "audio_url", audio_url: { url } }])).toStrictEqual([
      "messages[1].content[0].audio_url.url",
      "invalid_media_url"
    ])
  })
  it("parts of other model families are dropped (L18)", () => {
    const foreign = [
      { type: "thinking", thinking: "hm", signature: "cw==" },
      { type: "redacted_thinking", data: "x" },
      { type: "image", image: { b64_json: "AAAA" } },
      { type: "provider_part", provider: "google", part: {} }
    ]
    const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } }
    expect(
      messages([
        ...hi,
        { role: "assistant", content: [...foreign, { type: "text", text: "a" }] },
        { role: "assistant", content: foreign, tool_calls: [call] }
      ])
    ).toStrictEqual([
      ...hi,
      { role: "assistant", content: [{ type: "text", text: "a" }] },
      { role: "assistant", content: "", tool_calls: [call] }
    ])
  })
})

describe("OpenAI-compatible body laws", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean())
  const message = fc.record(
    {
      role: fc.constantFrom("system", "user", "assistant"),
      content: fc.oneof(
        fc.string(),
        fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }), { minLength: 1 })
      ),
      name: fc.string(),
      brand_new: fc.jsonValue().filter((value) => value !== null)
    },
    { requiredKeys: ["role", "content"] }
  )
  it("unknown parameters and messages pass unchanged and in order (T2002, L13, L14)", () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1 }),
        fc.dictionary(
          fc.string().map((name) => `x_${name}`),
          scalar
        ),
        (list, unknown) => {
          const { body, ignored } = sent(chatRequest(list, unknown))
          expect(body).toEqual({ model: llama, messages: list, ...unknown })
          expect(ignored).toStrictEqual([])
        }
      )
    )
  })
})
