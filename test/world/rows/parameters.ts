// Reports about the values of tuning parameters.
// Must not depend on the service.
import type { Row } from "../row.ts"

const messages = [{ role: "user", content: "hi" }]
const contents = [{ role: "user", parts: [{ text: "hi" }] }]
const flash = "@p/gemini-2.5-flash"
const sonnet = "@p/claude-sonnet-4-5"
const llama = "@p/meta/llama-4-maverick-17b-128e-instruct-maas"

const named = (adjusted: string | null, ignored: string | null = null) => ({
  "x-gateway-adjusted-params": adjusted,
  "x-gateway-ignored-params": ignored
})
const claudeBody = (fields: object) => ({
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 32_000,
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  ...fields
})

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "chatcmpl-ID",
  object: "chat.completion.chunk",
  created: 0,
  model: "claude-sonnet-4-5",
  choices: [{ index: 0, delta, finish_reason }]
})

export const parameters: ReadonlyArray<Row> = [
  {
    id: "RB06",
    kind: "W24",
    title: "of a seed of 64 bits Gemini gets the lowest 32",
    body: { model: "@d/gemini-2.5-flash", messages, seed: 1_234_567_890_123 },
    expected: {
      sent: [{ contents, generationConfig: { seed: 1_912_276_171 } }],
      headers: named("seed=1234567890123>1912276171")
    }
  },
  {
    id: "W24-1",
    kind: "W24",
    title: "a seed of 64 bits passes whole to an open model",
    body: { model: llama, messages, seed: 1_234_567_890_123 },
    expected: {
      sent: [{ model: "meta/llama-4-maverick-17b-128e-instruct-maas", messages, seed: 1_234_567_890_123 }],
      headers: named(null)
    }
  },
  {
    id: "RB14",
    kind: "W24",
    title: "a longer answer than Claude gives is lowered to its longest",
    body: { model: sonnet, messages, max_tokens: 128_000 },
    expected: { sent: [claudeBody({ max_tokens: 64_000 })], headers: named("max_tokens=128000>64000") }
  },
  {
    id: "RB14-2",
    kind: "W24",
    title: "a longer answer than Gemini gives is lowered to its longest",
    body: { model: flash, messages, max_tokens: 131_072 },
    expected: {
      sent: [{ contents, generationConfig: { maxOutputTokens: 65_536 } }],
      headers: named("max_tokens=131072>65536")
    }
  },
  {
    id: "W24-2",
    kind: "W24",
    title: "a longer answer than an open model gives is lowered to its longest, on the Responses route",
    path: "/v1/responses",
    body: { model: llama, input: "hi", max_output_tokens: 1_000_000, store: false },
    expected: {
      sent: [{ model: "meta/llama-4-maverick-17b-128e-instruct-maas", messages, max_tokens: 8_192 }],
      headers: named("max_output_tokens=1000000>8192")
    }
  },
  {
    id: "W24-3",
    kind: "W24",
    title: "a longer answer than Claude gives is asked for again on the messages route",
    path: "/v1/messages",
    body: { model: sonnet, messages, max_tokens: 128_000 },
    upstream: [
      {
        status: 400,
        body: {
          type: "error",
          error: {
            type: "invalid_request_error",
            message:
              "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929"
          }
        }
      },
      { status: 200, body: { type: "message", role: "assistant", content: [], usage: { output_tokens: 1 } } }
    ],
    expected: {
      sent: [
        { anthropic_version: "vertex-2023-10-16", messages, max_tokens: 128_000 },
        { anthropic_version: "vertex-2023-10-16", messages, max_tokens: 64_000 }
      ],
      headers: named("max_tokens=128000>64000")
    }
  },
  {
    id: "W24-4",
    kind: "W24",
    title: "numbers as texts are numbers, null is absent, and what is out of range is clamped or left out",
    body: {
      model: flash,
      messages,
      temperature: "2.7",
      top_p: "0.9",
      top_k: -1,
      n: 20,
      max_tokens: "100",
      seed: null,
      presence_penalty: null,
      logit_bias: null
    },
    expected: {
      sent: [{ contents, generationConfig: { temperature: 2, topP: 0.9, candidateCount: 8, maxOutputTokens: 100 } }],
      headers: named("temperature=2.7>2,n=20>8", "top_k")
    }
  },
  {
    id: "W24-5",
    kind: "W24",
    title: "another JSON type is refused",
    body: { model: flash, messages, temperature: "hot" },
    expected: {
      status: 400,
      answer: {
        error: {
          message: "temperature has the wrong type: expected number.",
          type: "invalid_request_error",
          param: "temperature",
          code: "invalid_type"
        }
      }
    }
  },
  {
    id: "W24-6",
    kind: "W24",
    title: "the gateway ends a whole answer at a stop text that was not sent",
    body: { model: flash, messages, stop: ["1", "2", "3", "4", "5", "END", "6", "7", "8", "9"] },
    upstream: [
      {
        status: 200,
        body: {
          candidates: [{ content: { role: "model", parts: [{ text: "One END two" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 }
        }
      }
    ],
    expected: {
      sent: [{ contents, generationConfig: { stopSequences: ["1", "2", "3", "4", "5"] } }],
      headers: named(null),
      answer: {
        id: "chatcmpl-ID",
        object: "chat.completion",
        created: 0,
        model: "gemini-2.5-flash",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "One ", refusal: null },
            logprobs: null,
            finish_reason: "stop"
          }
        ],
        usage: {
          prompt_tokens: 1,
          completion_tokens: 3,
          total_tokens: 4,
          prompt_tokens_details: { cached_tokens: 0 }
        }
      }
    }
  },
  {
    id: "W24-7",
    kind: "W24",
    title: "the gateway ends a stream at white space that Claude does not look for",
    body: { model: sonnet, messages, stream: true, stop: ["\n\n"] },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [
          { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "One\n" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "\ntwo" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
          { type: "message_stop" }
        ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      }
    ],
    expected: {
      sent: [claudeBody({ stream: true })],
      headers: named(null),
      answer: [chunk({ role: "assistant" }), chunk({ content: "One" }), chunk({}, "stop"), "[DONE]"]
    }
  },
  {
    id: "W2-1",
    kind: "W2",
    title: "a client that wants nothing bent is refused",
    headers: { "x-gateway-unsupported-params": "reject" },
    body: { model: "@d/gemini-2.5-flash", messages, seed: 2 ** 40 },
    expected: {
      status: 400,
      sent: [],
      answer: {
        error: {
          message:
            '"seed" takes a whole number of 32 bits at this model, and the request asked for refusal of other values.',
          type: "invalid_request_error",
          param: "seed",
          code: "unsupported_parameter"
        }
      }
    }
  }
]
