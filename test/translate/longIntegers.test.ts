// Tests integers beyond 2^53 in a request: accepted at any position, with all digits sent upstream.
// Must not open sockets or read clocks.
import * as fc from "fast-check"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { type Json, parseBody } from "../../src/domain/text/json.ts"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { chatToPredict } from "../../src/translate/chat-to-predict/ChatToPredict.ts"
import { adjustmentText } from "../../src/translate/Translator.ts"
import { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { chatContext } from "../support/chat.ts"

const long = "12345678901234567890"
const decode = Schema.decodeUnknownResult(ChatRequest)
const read = (text: string) => Result.flatMap(parseBody(new TextEncoder().encode(text), defaultLimits), decode)
const request = (text: string): ChatRequest => Result.getOrThrow(read(text))

const rich: Json = {
  model: "m",
  messages: [
    { role: "system", content: [{ type: "text", text: "s" }] },
    {
      role: "user",
      content: [
        {
          type: "image_url",
          image_url: { url: "data:image/png;base64,AAAA", detail: "low", video_metadata: { fps: 1, start_offset: 1 } }
        }
      ]
    },
    {
      role: "assistant",
      content: "a",
      content_parts: [{ type: "text", text: "a" }],
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
    },
    { role: "tool", tool_call_id: "c", content: "1" }
  ],
  seed: 1,
  stop: ["a"],
  stream_options: { include_usage: true },
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "n",
      schema: {
        type: "object",
        properties: { a: { type: "integer", minimum: 1, enum: [1], anyOf: [{ const: 1 }] } },
        required: ["a"]
      }
    }
  },
  tools: [
    {
      type: "function",
      function: {
        name: "f",
        parameters: {
          type: "object",
          properties: { a: { $ref: "#/$defs/b" }, c: { type: ["array", "null"], items: { maximum: 1 } } },
          $defs: { b: { default: 1 } }
        }
      }
    }
  ],
  tool_choice: { type: "function", function: { name: "f" } },
  thinking: { type: "enabled", budget_tokens: 5 },
  modalities: ["text"],
  image_config: { aspect_ratio: "1:1" },
  safety_settings: [{ category: "c", threshold: "t" }],
  labels: { a: "b" },
  logit_bias: { "1": 2 },
  metadata: { a: "b" },
  extra_body: { google: { thinking_config: { thinking_budget: 5 } } },
  brand_new: { a: [1] }
}

/** Every JSON text with the long integer at one position of a value. */
const places = (value: Json): ReadonlyArray<string> => {
  const inner = (
    entries: ReadonlyArray<readonly [string | number, Json]>,
    open: string,
    close: string
  ): ReadonlyArray<string> => {
    const texts = entries.map(
      ([key, one]) => (typeof key === "string" ? `${JSON.stringify(key)}:` : "") + JSON.stringify(one)
    )
    return entries.flatMap(([key, one], at) =>
      places(one).map(
        (text) =>
          open + texts.with(at, (typeof key === "string" ? `${JSON.stringify(key)}:` : "") + text).join(",") + close
      )
    )
  }
  if (typeof value !== "object" || value === null) return [long]
  const list = Array.isArray(value)
  const below = list
    ? inner([...value.entries()], "[", "]")
    : inner(
        Object.entries(value).map(([key, one]) => [key, one ?? null] as const),
        "{",
        "}"
      )
  return [long, ...below]
}

const contexts = ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-pro-preview"].flatMap((model) =>
  (["google", "vertex-ai"] as const).map((kind) => chatContext(model, { kind }))
)

describe("a long integer (L27)", () => {
  it("a long integer at any position is accepted or refused without an exception", () => {
    const taken = places(rich)
      .slice(1)
      .flatMap((text) => {
        const result = read(text)
        return Result.isSuccess(result) ? [result.success] : []
      })
    expect(taken.length).toBeGreaterThan(100)
    for (const one of taken) {
      for (const context of contexts) expect(Result.isResult(chatToGemini.request(one, context))).toBe(true)
      expect(Result.isResult(chatToPredict.request(one, chatContext()))).toBe(true)
      const passed = chatToOpenAi.request(one, chatContext())
      expect(Result.isResult(passed)).toBe(true)
    }
  })
  it("a long integer passes whole to OpenAI-compatible upstreams", () => {
    const text = `{"seed":${long},"logit_bias":{"1":-${long}},"tools":[{"type":"function","function":{"name":"f","parameters":{"maximum":${long}}}}],"own":[${long}]}`
    const { body } = Result.getOrThrow(
      chatToOpenAi.request(
        request(`{"model":"m","messages":[{"role":"user","content":"hi"}],${text.slice(1)}`),
        chatContext("m")
      )
    )
    expect(JSON.stringify(body)).toBe(`{"model":"m","messages":[{"role":"user","content":"hi"}],${text.slice(1)}`)
  })
  it.each(contexts.map((context) => [context.target.modelId, context.target.kind, context] as const))(
    "bounds and defaults of a schema keep their digits on the way to %s on %s",
    (_model, _kind, context) => {
      const schema = `{"type":"object","properties":{"a":{"type":"integer","maximum":${long},"default":${long}}}}`
      const sent = JSON.stringify(
        Result.getOrThrow(
          chatToGemini.request(
            request(
              `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`
            ),
            context
          )
        ).body
      )
      expect(
        [...sent.matchAll(/"(maximum|default)":(\d+)/g)].map(([, keyword, digits]) => [keyword, digits])
      ).toStrictEqual([
        ["maximum", long],
        ["default", long]
      ])
    }
  )
  it("of a long integer as seed Gemini gets the lowest 32 bits (W24)", () => {
    const { adjusted, body } = Result.getOrThrow(
      chatToGemini.request(
        request(`{"model":"m","messages":[{"role":"user","content":"hi"}],"seed":${long}}`),
        chatContext()
      )
    )
    const folded = Number(BigInt.asIntN(32, BigInt(long)))
    expect([body.generationConfig, adjusted?.map(adjustmentText)]).toStrictEqual([
      { seed: folded },
      [`seed=${long}>${folded}`]
    ])
  })
  it("a long integer of any length and sign keeps its digits", () => {
    fc.assert(
      fc.property(fc.bigInt(), (value) => {
        const text = `{"model":"m","messages":[],"own":${value}}`
        expect(JSON.stringify(request(text))).toBe(text)
      })
    )
  })
})
