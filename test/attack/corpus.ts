// Valid requests for every route, the input of the generator.
// Must not change a request.
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { adminMadeKey, configKey, serviceAccount } from "./canaries.ts"
import type { Json } from "./mutate.ts"
import { nativeRequests, type PathRequest, responsesRequests } from "./nativeCorpus.ts"

export type Sound = PathRequest

const tool = {
  type: "function",
  function: {
    name: "weather",
    description: "Weather of a place.",
    parameters: {
      type: "object",
      properties: { place: { type: "string" }, days: { type: "array", items: { $ref: "#/$defs/day" } } },
      required: ["place"],
      $defs: { day: { type: "integer" } }
    }
  }
}
const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const talk: Json = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: png, detail: "low" } }
    ]
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"place":"Kiel"}' } }]
  },
  { role: "tool", tool_call_id: "call_1", content: "Rain." },
  { role: "user", content: "And tomorrow?" }
]
const full: Json = {
  messages: talk,
  tools: [tool],
  tool_choice: "auto",
  temperature: 0.2,
  top_p: 0.9,
  max_tokens: 200,
  stop: ["END"],
  seed: 7,
  n: 1,
  user: "u1",
  metadata: { a: "b" },
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "answer",
      schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
    }
  },
  logit_bias: { "50256": -100 },
  reasoning_effort: "low",
  thinking: { type: "enabled", budget_tokens: 1024 },
  stream_options: { include_usage: true }
}
const hello: Json = { messages: [{ role: "user", content: "Hello" }] }

/** Models that answer. The generator adds models that fail. */
export const models = [
  "@google/gemini-2.5-flash",
  "@google/gemini-2.5-pro",
  "@vertex-ai/gemini-2.5-flash",
  "@placed/gemini-2.5-flash",
  "@vertex-ai/anthropic.claude-sonnet-4-5@20250929",
  "@vertex-ai/anthropic.claude-sonnet-4-6",
  "@vertex-ai/meta.llama-3.3-70b-instruct-maas",
  "@vertex-ai/endpoints.demo-llama",
  "gemini-2.5-flash",
  ...[
    "demo-503",
    "demo-flaky-429",
    "demo-html-502",
    "demo-dies-midstream",
    "demo-error-first-event",
    "demo-error-midstream",
    "demo-overloaded",
    "demo-truncated",
    "demo-garbage",
    "demo-gzip"
  ].map((id) => `@google/${id}`),
  ...["echo-400", "echo-401", "echo-403", "echo-500", "echo-html", "echo-list", "echo-event", "echo-late"].flatMap(
    (word) => [`@google/gemini-attack-${word}`, `@vertex-ai/gemini-attack-${word}`]
  ),
  "@vertex-ai/anthropic.claude-attack-echo-claude",
  "@vertex-ai/meta.llama-attack-echo-400",
  "@gone/gemini-2.5-flash",
  "@nowhere/gemini-2.5-flash",
  "@google/gemini-attack-unavailable"
] as const

const message: Json = {
  model: "@vertex-ai/anthropic.claude-sonnet-4-6",
  max_tokens: 100,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Hello" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png.slice(22) } }
      ]
    }
  ],
  tools: [
    {
      name: "weather",
      description: "Weather.",
      input_schema: { type: "object", properties: { place: { type: "string" } } }
    }
  ],
  tool_choice: { type: "auto" },
  metadata: { user_id: "u1" },
  stop_sequences: ["END"],
  temperature: 0.5,
  thinking: { type: "disabled" }
}

const post = (path: string, body: Json): Sound => ({ method: "POST", path, body })
const get = (path: string): Sound => ({ method: "GET", path })

/** Inference requests. */
export const inferenceRequests: ReadonlyArray<Sound> = [
  ...[
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/chat/completions",
    "/v1/chat/completions/count_tokens"
  ].flatMap((path) => [post(path, full), post(path, hello), post(path, { ...Object(hello), stream: true })]),
  post("/v1/messages", message),
  post("/v1/messages", { ...Object(message), stream: true }),
  post("/v1/messages/count_tokens", message),
  post("/v1/embeddings", {
    model: "@google/gemini-embedding-001",
    input: ["One.", "Two."],
    encoding_format: "float",
    dimensions: 256
  }),
  post("/v1/embeddings", { model: "@vertex-ai/text-embedding-005", input: "One.", encoding_format: "base64" }),
  post("/v1/images/generations", {
    model: "@vertex-ai/imagen-4.0-generate-001",
    prompt: "A tide.",
    n: 1,
    size: "1024x1024",
    response_format: "b64_json"
  }),
  post("/v1/images/generations", { model: "@google/gemini-2.5-flash-image", prompt: "A tide." }),
  post("/v1/prompts/greeting/completions", { variables: { name: "Ada" } }),
  post("/v1/prompts/greeting@1/render", { variables: { name: "Ada" } }),
  post("/v1/prompts/hidden@production/completions", { variables: { name: "Ada" }, stream: true }),
  get("/v1/models"),
  get("/v1/models/@google/gemini-2.5-flash"),
  ...nativeRequests,
  ...responsesRequests
]

/** Admin requests. Base URLs are on loopback; without one the gateway would call Google. */
export const adminRequests: ReadonlyArray<Sound> = [
  ...["providers", "keys", "configs", "prompts"].flatMap((kind) => [
    get(`/admin/v1/${kind}?limit=20`),
    get(`/admin/v1/${kind}/greeting`),
    { method: "DELETE", path: `/admin/v1/${kind}/made-3` }
  ]),
  ...["google", "made-1", "made-2"].map((slug) => get(`/admin/v1/providers/${slug}`)),
  post("/admin/v1/providers", {
    slug: "made-1",
    provider: "google",
    api_key: adminMadeKey,
    base_url: "http://127.0.0.1:9",
    models: ["gemini-*"]
  }),
  post("/admin/v1/providers", {
    slug: "made-2",
    provider: "vertex-ai",
    region: "us-central1",
    base_url: "http://127.0.0.1:9",
    credentials: { type: "service_account", json: serviceAccount }
  }),
  {
    method: "PUT",
    path: "/admin/v1/providers/made-1",
    body: { provider: "google", api_key: adminMadeKey, base_url: "http://127.0.0.1:9" }
  },
  post("/admin/v1/providers/made-1/test", {}),
  {
    method: "PUT",
    path: "/admin/v1/keys/plain",
    body: { name: "plain", providers: ["google"], budget: { usd: 1, per: "day" } }
  },
  post("/admin/v1/configs", {
    id: "made-1",
    config: { provider: "google", api_key: configKey, retry: { attempts: 1 } }
  }),
  {
    method: "PUT",
    path: "/admin/v1/configs/made-1",
    body: { config: { targets: [{ provider: "google", api_key: configKey }] } }
  },
  post("/admin/v1/prompts", {
    id: "made-1",
    model: "@google/gemini-2.5-flash",
    messages: [{ role: "user", content: "Greet {{name}}. {{>made-2}}" }],
    labels: { production: 1 }
  }),
  post("/admin/v1/prompts", { id: "made-2", text: "{{>made-1}}" }),
  get("/admin/v1/usage?group_by=day,key,provider,model"),
  get("/admin/v1/requests?status=500&limit=5"),
  get("/admin/v1/requests/none"),
  get("/admin/v1/audit?limit=5")
]

/** Requests without a key, and requests to unknown paths. */
export const publicRequests: ReadonlyArray<Sound> = [
  "/health",
  "/health/live",
  "/health/ready",
  "/healthz",
  "/livez",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/",
  "/v2",
  "/v1//models",
  "/v1/models/..%2f..",
  "/%",
  "/v1/chat/completions/",
  "/admin",
  "/admin/v1/secrets",
  "/v1/prompts/%00/render",
  "/v1/models/%ff",
  `/${"a".repeat(2_000)}`
].map(get)

/** Configs for the config header. */
export const configs: ReadonlyArray<Json> = [
  { provider: "google", api_key: configKey },
  {
    strategy: { mode: "fallback", on_status_codes: [429, 503] },
    targets: [
      { provider: "google", override_params: { model: "gemini-attack-unavailable" } },
      { provider: "vertex-ai" }
    ]
  },
  {
    strategy: { mode: "loadbalance" },
    targets: [
      { provider: "google", weight: 0.7 },
      { provider: "@placed", weight: 0.3 }
    ]
  },
  {
    strategy: {
      mode: "conditional",
      conditions: [{ query: { "metadata.plan": { $regex: "^(a|b)*c$" } }, then: "x" }],
      default: "x"
    },
    targets: [{ name: "x", provider: "google" }]
  },
  {
    retry: { attempts: 2, on_status_codes: [500] },
    cache: { mode: "simple", max_age: 60 },
    request_timeout: 1_000,
    cb_config: { failure_threshold: 2, cooldown_interval: 30_000 },
    provider: "google"
  },
  {
    provider: "vertex-ai",
    vertex_project_id: "other-project",
    vertex_region: "europe-west1",
    drop_params: ["tools[*].function.strict"],
    default_params: { max_tokens: 5 },
    metadata: { team: "b" },
    labels: { a: "b" }
  }
]

const folder = new URL("../fixtures/", import.meta.url)

/** JSON values of all kinds; the generator inserts parts of them into bodies. */
export const donors: ReadonlyArray<Json> = [
  ...readdirSync(fileURLToPath(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name): Json => JSON.parse(readFileSync(fileURLToPath(new URL(name, folder)), "utf8")))
    .filter((value) => JSON.stringify(value).length < 20_000),
  ...configs,
  full,
  message
]
