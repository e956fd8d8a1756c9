// Reports about /v1/responses and /v1/messages: a chat's words in the bodies of the Responses API, texts and nulls in Anthropic's.
// Must not depend on the service.
import type { Row } from "../row.ts"

const flash = "@d/gemini-3.8-flash"
const claude = "@p/claude-sonnet-4-5"
const hi = { role: "user", parts: [{ text: "hi" }] }
const schema = { type: "object", properties: { a: { type: "string" } } }
const asJson = { responseMimeType: "application/json", responseJsonSchema: { title: "n", ...schema } }
const latLng = { latitude: 1, longitude: 2 }
const version = "vertex-2023-10-16"

const bodies: ReadonlyArray<readonly [title: string, body: object, sent: object, ignored?: string]> = [
  ["messages in the place of input", { messages: [{ role: "user", content: "hi" }] }, { contents: [hi] }],
  ["a single item", { input: { role: "user", content: "hi" } }, { contents: [hi] }],
  ["a text as an item", { input: ["hi"] }, { contents: [hi] }],
  ["texts as parts", { input: [{ role: "user", content: ["hi"] }] }, { contents: [hi] }],
  ["a single part", { input: [{ role: "user", content: { type: "text", text: "hi" } }] }, { contents: [hi] }],
  [
    "turns without content",
    {
      input: [
        { role: "assistant", content: null },
        { role: "user", content: "hi" }
      ]
    },
    { contents: [hi] }
  ],
  [
    "thoughts in the content of an answer",
    {
      input: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "t" },
            { type: "text", text: "a" }
          ]
        },
        { role: "user", content: "hi" }
      ]
    },
    { contents: [hi, { role: "model", parts: [{ text: "a" }] }, hi] }
  ],
  [
    "calls and results of a chat",
    {
      input: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "c1", content: "ok" }
      ]
    },
    {
      contents: [
        hi,
        {
          role: "model",
          parts: [
            { functionCall: { name: "f", args: {}, id: "c1" }, thoughtSignature: "skip_thought_signature_validator" }
          ]
        },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "ok" }, id: "c1" } }] }
      ]
    }
  ],
  [
    "a chat's length and effort",
    { input: "hi", max_completion_tokens: 5, max_tokens: 9, reasoning_effort: "low" },
    {
      contents: [hi],
      generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }
    },
    "max_tokens"
  ],
  [
    "a chat's format",
    { input: "hi", response_format: { type: "json_schema", json_schema: { name: "n", schema } } },
    { contents: [hi], generationConfig: asJson }
  ],
  [
    "a chat's format within text",
    { input: "hi", text: { format: { type: "json_schema", json_schema: { name: "n", schema } } } },
    { contents: [hi], generationConfig: asJson }
  ],
  [
    "a schema next to json_object",
    { input: "hi", text: { format: { type: "json_object", schema } } },
    { contents: [hi], generationConfig: { ...asJson, responseJsonSchema: { title: "response", ...schema } } }
  ],
  [
    "the place of maps in extra_body",
    { input: "hi", tools: [{ googleMaps: {} }], extra_body: { google: { retrieval_config: { lat_lng: latLng } } } },
    { contents: [hi], tools: [{ googleMaps: {} }], toolConfig: { retrievalConfig: { latLng } } }
  ],
  [
    "Google's choice of tools",
    {
      input: "hi",
      tools: [{ name: "f", description: "d", input_schema: schema }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } }
    },
    {
      contents: [hi],
      tools: [{ functionDeclarations: [{ name: "f", description: "d", parametersJsonSchema: schema }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } }
    }
  ]
]

export const responseWords: ReadonlyArray<Row> = [
  ...bodies.map(([title, body, sent, ignored = null], at): Row => ({
    id: `W4-${50 + at}`,
    kind: "W4",
    title: `a response is asked with ${title}`,
    path: "/v1/responses",
    body: { model: flash, store: false, ...body },
    expected: { headers: { "x-gateway-ignored-params": ignored }, sent: [sent] }
  })),
  {
    id: "W4-80",
    kind: "W4",
    title: "a message has numbers as texts, and nulls for what is absent",
    path: "/v1/messages",
    body: {
      model: claude,
      max_tokens: "12",
      temperature: "0.5",
      top_k: null,
      system: null,
      tools: null,
      tool_choice: null,
      thinking: null,
      stop: null,
      messages: [{ role: "user", content: "hi" }]
    },
    expected: {
      sent: [
        { max_tokens: 12, temperature: 0.5, messages: [{ role: "user", content: "hi" }], anthropic_version: version }
      ]
    }
  },
  {
    id: "W4-81",
    kind: "W4",
    title: "a message has OpenAI's length as a text",
    path: "/v1/messages",
    body: { model: claude, max_completion_tokens: "12", messages: [{ role: "user", content: "hi" }] },
    expected: { sent: [{ messages: [{ role: "user", content: "hi" }], max_tokens: 12, anthropic_version: version }] }
  }
]
