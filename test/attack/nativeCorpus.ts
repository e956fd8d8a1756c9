// Valid requests in Google's own dialects, of Claude by rawPredict, and of the Responses API.
// Must not change a request. `{model}` in a path stands for one of the request's models.
import type { Json } from "./mutate.ts"

export interface PathRequest {
  readonly method: string
  readonly path: string
  readonly body?: Json
  /** What `{model}` in the path, or the body's `model`, is drawn from. */
  readonly models?: ReadonlyArray<string>
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const hello: Json = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] }
const full: Json = {
  system_instruction: { parts: [{ text: "Be brief." }] },
  contents: [
    { role: "user", parts: [{ text: "What is this?" }, { inlineData: { mimeType: "image/png", data: png } }] },
    {
      role: "model",
      parts: [{ functionCall: { name: "weather", args: { place: "Kiel" } }, thoughtSignature: "AAAA" }]
    },
    { role: "user", parts: [{ functionResponse: { name: "weather", response: { output: "Rain." } } }] }
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "weather", parametersJsonSchema: { type: "object", properties: { place: { type: "string" } } } }
      ]
    },
    { googleSearch: {} }
  ],
  toolConfig: { functionCallingConfig: { mode: "AUTO" } },
  generationConfig: {
    maxOutputTokens: 200,
    temperature: 0.2,
    candidateCount: 1,
    thinkingConfig: { thinkingBudget: 64 }
  },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  labels: { team: "a" },
  store: true
}
const message: Json = {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello" }]
}

const echoes = ["echo-400", "echo-401", "echo-403", "echo-500", "echo-html", "echo-list", "echo-event", "echo-late"]
const broken = [
  "demo-503",
  "demo-dies-midstream",
  "demo-error-midstream",
  "demo-truncated",
  "demo-garbage",
  "demo-gzip"
]
const gemini = [
  "gemini-2.5-flash",
  "gemini-2.5-flash",
  "gemini-2.5-pro",
  ...["@google", "@vertex-ai", "@placed"].map((slug) => `${slug}/gemini-2.5-flash`),
  "%40google%2Fgemini-2.5-flash",
  ...broken.map((id) => `@google/${id}`),
  ...echoes.flatMap((word) => [`@google/gemini-attack-${word}`, `@vertex-ai/gemini-attack-${word}`]),
  "@gone/gemini-2.5-flash",
  "@nowhere/gemini-2.5-flash"
]
const claude = [
  "claude-sonnet-4-6",
  "@vertex-ai%2Fclaude-sonnet-4-6",
  "@vertex-ai/claude-attack-echo-claude",
  "@google/x"
]

const post = (path: string, body: Json, models: ReadonlyArray<string> = gemini): PathRequest => ({
  method: "POST",
  path,
  body,
  models
})
const get = (path: string): PathRequest => ({ method: "GET", path })

const googleForm = "/v1beta/models/{model}"
const place = "/v1/projects/victim-project/locations/europe-west9"
const vertexForm = `${place}/publishers/google/models/{model}`
const expressForm = "/v1/publishers/google/models/{model}"
const claudeForm = `${place}/publishers/anthropic/models`

const generateRequests: ReadonlyArray<PathRequest> = [googleForm, vertexForm, expressForm].flatMap((form) => [
  post(`${form}:generateContent`, full),
  post(`${form}:generateContent`, hello),
  post(`${form}:streamGenerateContent?alt=sse`, full),
  post(`${form}:streamGenerateContent`, hello),
  post(`${form}:countTokens`, hello)
])

const embeddingRequests: ReadonlyArray<PathRequest> = [
  post(`${googleForm}:embedContent`, { content: { parts: [{ text: "One." }] } }, ["gemini-embedding-001"]),
  post(
    `${googleForm}:batchEmbedContents`,
    { requests: [{ model: "models/gemini-embedding-001", content: { parts: [{ text: "One." }] } }] },
    ["gemini-embedding-001", "@vertex-ai/gemini-embedding-001", "@google/gemini-embedding-001"]
  ),
  post(`${expressForm}:predict`, { instances: [{ content: "One." }] }, [
    "text-embedding-005",
    "@google/text-embedding-004"
  ]),
  post(`${expressForm}:predict`, { instances: [{ prompt: "A tide." }], parameters: { sampleCount: 1 } }, [
    "imagen-4.0-generate-001"
  ])
]

const claudeRequests: ReadonlyArray<PathRequest> = [
  post(`${claudeForm}/{model}:rawPredict`, message, claude),
  post(`${claudeForm}/{model}:streamRawPredict`, { ...Object(message), stream: true }, claude),
  post(`${claudeForm}/count-tokens:rawPredict`, { model: "claude-sonnet-4-6", messages: Object(message).messages })
]

/** Requests on Google's own paths. */
export const nativeRequests: ReadonlyArray<PathRequest> = [
  ...generateRequests,
  ...embeddingRequests,
  ...claudeRequests,
  post(`${place}/endpoints/123456:generateContent`, hello),
  get("/v1beta/models?pageSize=2"),
  get("/v1beta/models/gemini-2.5-flash"),
  get("/v1/publishers/google/models"),
  get("/v1beta/files"),
  get("/v1beta/cachedContents/x"),
  post("/upload/v1beta/files", {}),
  post("/v1beta/models/gemini-2.5-flash:sing", hello),
  get("/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent")
]

const responseModels = [
  "@google/gemini-2.5-flash",
  "@vertex-ai/anthropic.claude-sonnet-4-6",
  "@vertex-ai/meta.llama-3.3-70b-instruct-maas",
  "@google/gemini-attack-echo-400",
  "@vertex-ai/gemini-attack-echo-late",
  "@google/demo-dies-midstream",
  "@google/demo-garbage",
  "@nowhere/x"
]
const turn: Json = {
  model: "",
  instructions: "Be brief.",
  input: [
    { role: "user", content: [{ type: "input_text", text: "Hello" }] },
    { type: "function_call", call_id: "c1", name: "weather", arguments: '{"place":"Kiel"}' },
    { type: "function_call_output", call_id: "c1", output: "Rain." },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "AAAA" }
  ],
  tools: [
    { type: "function", name: "weather", parameters: { type: "object", properties: {} }, strict: null },
    { type: "web_search" }
  ],
  include: ["reasoning.encrypted_content"],
  reasoning: { effort: "low", summary: "auto" },
  text: { format: { type: "text" } },
  store: false
}

/** Requests of the Responses API. */
export const responsesRequests: ReadonlyArray<PathRequest> = [
  post("/v1/responses", { model: "", input: "Hello" }, responseModels),
  post("/v1/responses", { model: "", input: "Hello", stream: true }, responseModels),
  post("/v1/responses", turn, responseModels),
  post("/v1/responses", { ...Object(turn), stream: true, store: true }, responseModels),
  post("/v1/responses", { model: "", input: "More", previous_response_id: "resp_0" }, responseModels),
  post("/v1/responses/input_tokens", turn, responseModels),
  get("/v1/responses/resp_0"),
  get("/v1/responses/resp_0/input_items?limit=2"),
  post("/v1/responses/resp_0/cancel", {}),
  { method: "DELETE", path: "/v1/responses/resp_0" },
  post("/v1/responses/compact", turn, responseModels)
]
