// Reports about answers and streams of providers, and how they end for a client.
// Must not depend on the service.
import type { Reply, Row } from "../row.ts"

const hi = { messages: [{ role: "user", content: "hi" }] }
const model = "@d/gemini-3.8-flash"
const gemini = (...events: ReadonlyArray<object>): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
})
const part = (text: string, finishReason?: string) => ({
  candidates: [
    { content: { role: "model", parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }
  ]
})
const chunk = (delta: object, finish_reason: string | null) => ({
  id: "chatcmpl-ID",
  object: "chat.completion.chunk",
  created: 0,
  model: "gemini-3.8-flash",
  choices: [{ index: 0, finish_reason, delta }]
})
const texts = (finish: string, ...deltas: ReadonlyArray<string>) => [
  chunk({ role: "assistant", content: "" }, null),
  ...deltas.map((content) => chunk({ content }, null)),
  chunk({}, finish),
  "[DONE]"
]
const streamed = (id: string, kind: string, title: string, upstream: Reply, answer: ReadonlyArray<unknown>): Row => ({
  id,
  kind,
  title,
  body: { model, stream: true, ...hi },
  upstream: [upstream],
  expected: { answer }
})
const whole = (finish_reason: string, native: string, message: object = {}) => ({
  id: "chatcmpl-ID",
  object: "chat.completion",
  created: 0,
  model: "gemini-3.8-flash",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "", refusal: null, ...message },
      logprobs: null,
      finish_reason,
      native_finish_reason: native
    }
  ],
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, prompt_tokens_details: { cached_tokens: 0 } },
  provider: "google"
})
const end = (id: string, word: string, finish: string): Row => ({
  id,
  kind: "W48",
  title: `${word} without content ends as ${finish}`,
  headers: { "x-gateway-strict-open-ai-compliance": "false" },
  body: { model, ...hi },
  upstream: [{ status: 200, body: { candidates: [{ finishReason: word }] } }],
  expected: { answer: whole(finish, word) }
})
const cut = {
  error: {
    message: "The upstream ended its answer without a finish reason; it is not complete.",
    type: "api_error",
    param: null,
    code: "upstream_truncated"
  }
}
const frame = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`

const callChunk = (model: string, delta: object, finish_reason: string | null = null) => ({
  ...chunk(delta, finish_reason),
  model
})
const aCall = (index: number, id: string, args: string) => ({
  tool_calls: [{ index, id, type: "function", function: { name: "f", arguments: args } }]
})
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }]
const openChunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "open", choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const calls: ReadonlyArray<Row> = [
  {
    id: "RB98",
    kind: "W27",
    title: "a call of Claude's without arguments has an empty object",
    body: { model: "@p/claude-haiku-4-5", stream: true, tools, ...hi },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [
          frame("message_start", { message: { id: "m", model: "claude-haiku-4-5", usage: { input_tokens: 1 } } }),
          frame("content_block_start", {
            index: 0,
            content_block: { type: "tool_use", id: "toolu_1", name: "f", input: {} }
          }),
          frame("content_block_stop", { index: 0 }),
          frame("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } }),
          frame("message_stop", {})
        ]
      }
    ],
    expected: {
      answer: [
        callChunk("claude-haiku-4-5", { role: "assistant", content: "" }),
        callChunk("claude-haiku-4-5", aCall(0, "call-ID", "")),
        callChunk("claude-haiku-4-5", { tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        callChunk("claude-haiku-4-5", {}, "tool_calls"),
        "[DONE]"
      ]
    }
  },
  {
    id: "RB99",
    kind: "W28",
    title: "parallel calls of an open model, all with index 0, keep apart",
    body: { model: "@p/meta.llama-3.3-70b-instruct-maas", stream: true, tools, ...hi },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [
          openChunk(aCall(0, "a", "{}"), null),
          openChunk(aCall(0, "b", "{}"), null),
          openChunk({}, "tool_calls"),
          "data: [DONE]\n\n"
        ]
      }
    ],
    expected: {
      answer: [
        { ...callChunk("open", { role: "assistant", content: "", ...aCall(0, "a", "{}") }), id: "1" },
        { ...callChunk("open", aCall(1, "b", "{}")), id: "1" },
        { ...callChunk("open", {}, "tool_calls"), id: "1" },
        "[DONE]"
      ]
    }
  }
]

export const answers: ReadonlyArray<Row> = [
  ...calls,
  streamed(
    "RB44",
    "W48",
    "one finish reason where every event has STOP",
    gemini(part("a", "STOP"), part("b", "STOP"), part("c", "STOP")),
    texts("stop", "a", "b", "c")
  ),
  streamed("RB101", "W48", "a stream without a finish reason ends as an error", gemini(part("a"), part("b")), [
    chunk({ role: "assistant", content: "" }, null),
    chunk({ content: "a" }, null),
    chunk({ content: "b" }, null),
    cut
  ]),
  streamed("RB102", "W48", "a blocked prompt", gemini({ promptFeedback: { blockReason: "SAFETY" } }), [
    chunk({ role: "assistant", content: "" }, null),
    chunk({ refusal: "SAFETY" }, null),
    chunk({}, "content_filter"),
    "[DONE]"
  ]),
  streamed(
    "W48-1",
    "W48",
    "a block after text: the text stands",
    gemini(part("a"), { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }),
    texts("content_filter", "a")
  ),
  end("W48-2", "ESCALATION", "content_filter"),
  end("W48-3", "PUP_LIMITED_DISABLED", "content_filter"),
  end("W48-4", "A_WORD_OF_TOMORROW", "stop"),
  {
    id: "RB116",
    kind: "W48",
    title: "a stream of Claude without its end is an error event",
    path: "/v1/messages",
    headers: { "x-request-id": "r" },
    body: { model: "@p/claude-haiku-4-5", max_tokens: 10, stream: true, ...hi },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [
          frame("message_start", { message: { id: "m", usage: { input_tokens: 1 } } }),
          frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "a" } })
        ]
      }
    ],
    expected: {
      answer: [
        { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } },
        {
          type: "error",
          error: {
            type: "api_error",
            message: "The upstream ended its answer without a finish reason; it is not complete."
          },
          request_id: "r"
        }
      ]
    }
  },
  {
    id: "RB52",
    kind: "W38",
    title: "a stream that pings before its text is not cut",
    body: { model: "@p/claude-haiku-4-5", stream: true, ...hi },
    upstream: [
      {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: [
          frame("message_start", { message: { id: "m", usage: { input_tokens: 1, output_tokens: 1 } } }),
          frame("ping", {}),
          frame("ping", {}),
          frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
          frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "a" } }),
          frame("content_block_stop", { index: 0 }),
          frame("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
          frame("message_stop", {})
        ]
      }
    ],
    expected: {
      answer: texts("stop", "a").map((one) => (typeof one === "string" ? one : { ...one, model: "claude-haiku-4-5" }))
    }
  },
  ...["@d/gemini-3.8-flash", "@p/gemini-3.8-flash"].map((name): Row => ({
    id: "RB50",
    kind: "W4",
    title: `a native body full of nulls on ${name}`,
    path: `/v1beta/models/${name}:generateContent`,
    body: {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: {
        stopSequences: [],
        responseMimeType: null,
        responseSchema: null,
        candidateCount: 1,
        maxOutputTokens: 100,
        presencePenalty: null,
        logprobs: null
      },
      systemInstruction: null,
      tools: null,
      toolConfig: null
    },
    expected: {}
  })),
  {
    id: "RB62",
    kind: "W1",
    title: "Codex' remote compaction is refused by name",
    path: "/v1/responses/compact",
    body: {},
    expected: {
      status: 400,
      answer: {
        error: {
          message: "Conversations are not compacted here; the client shortens its own input.",
          type: "invalid_request_error",
          param: null,
          code: "unsupported_operation"
        }
      }
    }
  },
  {
    id: "RB92",
    kind: "W1",
    title: "Google's list of models says what each one does",
    path: "/v1beta/models/gemini-embedding-2",
    method: "GET",
    expected: {
      answer: {
        name: "models/@d/gemini-embedding-2",
        baseModelId: "gemini-embedding-2",
        version: "001",
        displayName: "Gemini Embedding 2",
        supportedGenerationMethods: ["embedContent", "batchEmbedContents", "countTokens"]
      }
    }
  },
  {
    id: "W1-3",
    kind: "W1",
    title: "parts of a function's response cross as other parts do",
    path: "/v1/publishers/google/models/gemini-3.8-flash:generateContent",
    headers: { "x-gateway-provider": "d" },
    body: {
      contents: [
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                name: "f",
                response: {},
                parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=", displayName: "a" } }]
              }
            }
          ]
        }
      ]
    },
    expected: {
      headers: { "x-gateway-ignored-params": "contents[0].parts[0].functionResponse.parts[0].inlineData.displayName" },
      sent: [
        {
          contents: [
            {
              role: "user",
              parts: [
                {
                  functionResponse: {
                    name: "f",
                    response: {},
                    parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }]
                  }
                }
              ]
            }
          ]
        }
      ]
    }
  }
]
