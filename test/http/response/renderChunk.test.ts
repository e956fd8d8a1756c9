// Tests the fast writer of stream chunks: its bytes equal those of the general JSON writer.
// Must not depend on the server.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chunkRenderer, renderChunk } from "../../../src/http/response/renderChunk.ts"
import type { ChatChunk } from "../../../src/wire/openai/ChatReply.ts"

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\n\ndata: [DONE]", "\u2028", '"\\', "é漢🐎"))

const delta: fc.Arbitrary<ChatChunk["choices"][number]["delta"]> = fc.oneof(
  {
    weight: 4,
    arbitrary: text.map((content) => ({ content, content_blocks: [{ index: 0, delta: { text: content } }] }))
  },
  { weight: 1, arbitrary: fc.constant({ role: "assistant" as const, content: "" }) },
  { weight: 1, arbitrary: text.map((content) => ({ role: "assistant" as const, content })) },
  { weight: 1, arbitrary: text.map((reasoning) => ({ reasoning_content: reasoning })) },
  { weight: 1, arbitrary: text.map((refusal) => ({ refusal, content: "a" })) },
  {
    weight: 1,
    arbitrary: text.map((args) => ({
      content: "a",
      tool_calls: [{ index: 0, id: "call-1", type: "function" as const, function: { name: "f", arguments: args } }]
    }))
  }
)

const chunk: fc.Arbitrary<ChatChunk> = fc.record({
  id: fc.constantFrom("chatcmpl-1", 'chatcmpl-"2"'),
  object: fc.constant("chat.completion.chunk" as const),
  created: fc.constantFrom(1, 1_700_000_000),
  model: fc.constantFrom("gemini-2.5-flash", 'publisher/"odd"'),
  choices: fc.array(
    fc
      .tuple(delta, fc.constantFrom(null, null, null, "stop" as const), fc.nat(1), fc.boolean())
      .map(([one, finish_reason, index, scored]) => ({
        index,
        delta: one,
        finish_reason,
        ...(scored ? { logprobs: { content: [], refusal: null } } : {})
      })),
    { maxLength: 2 }
  ),
  provider: fc.constant("google")
})
const passedThrough = fc.constantFrom<object>(
  {},
  {},
  {},
  { system_fingerprint: "fp" },
  { system_fingerprint: "" },
  { x_own: 1, service_tier: "on_demand" },
  { x_own: 1 },
  { service_tier: "flex" },
  { obfuscation: "a" },
  { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }
)

describe("envelope of text chunks (T1301)", () => {
  it("chunk writer: writes the bytes of the general writer (T1301)", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(chunk, passedThrough), { maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        (chunks, strict, usage) => {
          const wish = { strict, usage }
          const render = chunkRenderer(wish)
          for (const [one, more] of chunks) {
            const whole: ChatChunk = { ...one, ...more }
            expect(render(whole)).toBe(renderChunk(whole, wish))
          }
        }
      ),
      { numRuns: 2_000, seed: 11 }
    )
  })
})
