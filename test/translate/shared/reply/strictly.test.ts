// Tests that strict mode removes extensions and nothing else: section 5 of the interface, laws L10 and L11.
// Must not open sockets or read clocks.
import { describe, expect, it } from "vitest"
import { strictlyChunk, strictlyCompletion } from "../../../../src/translate/shared/reply/clientForm.ts"
import type { ChatChunk, ChatCompletion } from "../../../../src/wire/openai/ChatReply.ts"
import { deepFreeze } from "../../../support/chat.ts"
import { answer, chunks, reply, stop } from "../../../support/gemini.ts"
import { loudlySkipped, schemaOracle, sharedDir } from "../../../support/shared.ts"

if (sharedDir() === undefined) loudlySkipped("strict answers against the published schema")

const rich = reply(
  [
    { text: "hm", thought: true, thoughtSignature: "MQ==" },
    { text: "a" },
    { functionCall: { name: "f", args: { x: 1 } }, thoughtSignature: "Mg==" },
    { inlineData: { mimeType: "image/png", data: "MQ==" } },
    { executableCode: { code: "1" } },
    { newKind: {} }
  ],
  {
    ...stop,
    safetyRatings: [{ category: "X" }],
    groundingMetadata: {
      groundingChunks: [{ web: { uri: "u", title: "t" } }],
      groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [0] }]
    },
    citationMetadata: { citations: [{ uri: "c" }] }
  },
  {
    modelVersion: "m",
    usageMetadata: {
      promptTokenCount: 9,
      cachedContentTokenCount: 3,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 4,
      serviceTier: "flex",
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1 }]
    }
  }
)
const call = {
  id: "call-00000000-0000-4000-8000-000000000000",
  type: "function",
  function: { name: "f", arguments: '{"x":1}' }
}
const usage = {
  prompt_tokens: 9,
  completion_tokens: 6,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 4 }
}
const envelope = { id: "chatcmpl-00000000-0000-4000-8000-000000000000", created: 1_700_000_000, model: "m" }

const errorsOf = (entry: string, value: unknown): unknown => {
  const oracle = schemaOracle("openai.schema.json", entry)
  oracle?.(JSON.parse(JSON.stringify(value)))
  return oracle?.errors ?? null
}

describe("strict completions", () => {
  const full = deepFreeze(answer(rich))
  it("a strict completion has published fields only (T602, T715, T1222, L11)", () => {
    const strict = strictlyCompletion(full)
    expect(strict).toStrictEqual({
      ...envelope,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "a",
            refusal: null,
            tool_calls: [call],
            annotations: [
              { type: "url_citation", url_citation: { start_index: 0, end_index: 1, url: "u", title: "t" } }
            ]
          },
          logprobs: null,
          finish_reason: "tool_calls"
        }
      ],
      usage
    })
    expect(errorsOf("strict.CreateChatCompletionResponse", strict)).toBe(null)
  })
  it("strict mode is idempotent, and the identity on a published reply (L11)", () => {
    const strict = strictlyCompletion(full)
    expect(strictlyCompletion(strict)).toStrictEqual(strict)
    const published = {
      id: "x",
      object: "chat.completion",
      created: 1,
      model: "m",
      service_tier: "default",
      system_fingerprint: "fp",
      metadata: { a: "b" },
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          logprobs: {
            content: [
              { token: "a", logprob: -1, bytes: null, top_logprobs: [{ token: "b", logprob: -2, bytes: [98] }] }
            ],
            refusal: null
          },
          message: {
            role: "assistant",
            content: null,
            refusal: null,
            tool_calls: [{ id: "c", type: "custom", custom: { name: "n", input: "i" } }],
            audio: null
          }
        }
      ],
      usage: {
        prompt_tokens: 1,
        completion_tokens: 1,
        total_tokens: 2,
        completion_tokens_details: { accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 }
      }
    }
    expect(strictlyCompletion(published as object as ChatCompletion)).toStrictEqual(published)
  })
  it("an upstream's own service tier is removed (T2005)", () => {
    const envelope = { id: "x", object: "chat.completion", created: 1, model: "m", choices: [] }
    expect(strictlyCompletion({ ...envelope, service_tier: "on_demand" } as object as ChatCompletion)).toStrictEqual(
      envelope
    )
    for (const service_tier of ["auto", null]) {
      expect(strictlyCompletion({ ...envelope, service_tier } as object as ChatCompletion)).toStrictEqual({
        ...envelope,
        service_tier
      })
    }
  })
  it("unknown parts and fields change nothing (L10)", () => {
    const known = reply([{ text: "a", brandNew: 1 }], { ...stop, brandNew: {} }, { brandNew: [] })
    expect(strictlyCompletion(answer(known))).toStrictEqual(strictlyCompletion(answer(reply([{ text: "a" }], stop))))
  })
})

describe("strict chunks", () => {
  it("a strict chunk has published fields only, and chunks of extensions alone vanish (T1315, L11)", () => {
    const strict = chunks([rich]).map((chunk) => strictlyChunk(deepFreeze(chunk)))
    const chunk = { ...envelope, object: "chat.completion.chunk" }
    const one = (delta: object, finish_reason: string | null = null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }]
    })
    expect(strict).toStrictEqual([
      one({ role: "assistant", content: "" }),
      one({ content: "a", tool_calls: [{ index: 0, ...call }] }),
      undefined,
      one({}, "tool_calls"),
      { ...chunk, choices: [], usage }
    ])
    for (const left of strict.filter((one) => one !== undefined))
      expect(errorsOf("strict.CreateChatCompletionStreamResponse", left)).toBe(null)
  })
  it("strict mode is idempotent, and the identity on published chunks, empty deltas too (L11)", () => {
    const published = [
      {
        id: "x",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: {}, finish_reason: null, logprobs: null }],
        usage: null
      },
      {
        id: "x",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        obfuscation: "aa",
        system_fingerprint: "f",
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: "{" } }] }, finish_reason: null }
        ]
      },
      {
        id: "x",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      }
    ]
    for (const chunk of published) expect(strictlyChunk(chunk as object as ChatChunk)).toStrictEqual(chunk)
  })
  it("usage stays on a chunk whose choices vanish", () => {
    const chunk: ChatChunk = {
      ...envelope,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, service_tier: "flex" }
    }
    expect(strictlyChunk(chunk)).toStrictEqual({
      ...envelope,
      object: "chat.completion.chunk",
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    })
  })
})
