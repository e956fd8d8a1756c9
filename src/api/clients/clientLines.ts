// The lines that connect each client to the gateway, with places for its address, a key and a model.
// It must not know who shows them: the admin API and the page on clients have the same ones.

export interface ClientLines {
  readonly id: string
  readonly name: string
  /** Where the lines belong. */
  readonly place: string
  readonly language: "sh" | "ts" | "toml" | "json" | "text"
  /** How the routes of its requests begin. */
  readonly route: string
  /** A model that this route serves. */
  readonly model: string
  /** With `{origin}`, `{key}` and `{model}` in the places of the values. */
  readonly lines: string
}

const gemini = "@google/gemini-3.8-flash"
const claude = "@vertex-ai/claude-sonnet-4-6"
const chat = "/v1/chat/completions"
const google = "/v1beta/models/"

export const clientLines: ReadonlyArray<ClientLines> = [
  {
    id: "curl",
    name: "curl",
    place: "In a shell",
    language: "sh",
    route: chat,
    model: gemini,
    lines: `curl {origin}/v1/chat/completions -H "x-gateway-api-key: {key}" -H "content-type: application/json" \\
  -d '{"model":"{model}","messages":[{"role":"user","content":"Hello"}]}'`
  },
  {
    id: "openai",
    name: "openai",
    place: "In TypeScript, with the package openai",
    language: "ts",
    route: chat,
    model: gemini,
    lines: `import OpenAI from "openai"

const client = new OpenAI({ baseURL: "{origin}/v1", apiKey: "{key}" })
const answer = await client.chat.completions.create({
  model: "{model}",
  messages: [{ role: "user", content: "Hello" }]
})`
  },
  {
    id: "anthropic",
    name: "Anthropic",
    place: "In TypeScript, with the package @anthropic-ai/sdk",
    language: "ts",
    route: "/v1/messages",
    model: claude,
    lines: `import Anthropic from "@anthropic-ai/sdk"

const client = new Anthropic({ baseURL: "{origin}", apiKey: "{key}" })
const answer = await client.messages.create({
  model: "{model}",
  max_tokens: 1000,
  messages: [{ role: "user", content: "Hello" }]
})`
  },
  {
    id: "genai",
    name: "Google GenAI",
    place: "In TypeScript, with the package @google/genai",
    language: "ts",
    route: google,
    model: gemini,
    lines: `import { GoogleGenAI } from "@google/genai"

const client = new GoogleGenAI({ apiKey: "{key}", httpOptions: { baseUrl: "{origin}" } })
const answer = await client.models.generateContent({ model: "{model}", contents: "Hello" })`
  },
  {
    id: "ai-sdk",
    name: "AI SDK",
    place: "In TypeScript, with the packages ai and @ai-sdk/openai-compatible",
    language: "ts",
    route: chat,
    model: gemini,
    lines: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText } from "ai"

const gateway = createOpenAICompatible({ name: "gateway", baseURL: "{origin}/v1", apiKey: "{key}" })
const answer = await generateText({ model: gateway("{model}"), prompt: "Hello" })`
  },
  {
    id: "langchain",
    name: "LangChain",
    place: "In TypeScript, with the package @langchain/openai",
    language: "ts",
    route: chat,
    model: gemini,
    lines: `import { ChatOpenAI } from "@langchain/openai"

const chat = new ChatOpenAI({ model: "{model}", apiKey: "{key}", configuration: { baseURL: "{origin}/v1" } })
const answer = await chat.invoke("Hello")`
  },
  {
    id: "claude-code",
    name: "Claude Code",
    place: "In a shell",
    language: "sh",
    route: "/v1/messages",
    model: claude,
    lines: "ANTHROPIC_BASE_URL={origin} ANTHROPIC_AUTH_TOKEN={key} claude --model {model}"
  },
  {
    id: "codex",
    name: "Codex",
    place: "In ~/.codex/config.toml; start it with GATEWAY_KEY={key} codex",
    language: "toml",
    route: "/v1/responses",
    model: gemini,
    lines: `model = "{model}"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "{origin}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"`
  },
  {
    id: "gemini-cli",
    name: "gemini-cli",
    place: "In a shell",
    language: "sh",
    route: google,
    model: gemini,
    lines: "GOOGLE_GEMINI_BASE_URL={origin} GEMINI_API_KEY={key} gemini --model {model}"
  },
  {
    id: "opencode",
    name: "opencode",
    place: "In opencode.json",
    language: "json",
    route: chat,
    model: gemini,
    lines: `{
  "$schema": "https://opencode.ai/config.json",
  "provider": {
    "gateway": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "{origin}/v1", "apiKey": "{key}" },
      "models": { "{model}": {} }
    }
  },
  "model": "gateway/{model}"
}`
  },
  {
    id: "cursor",
    name: "Cursor",
    place: "In its settings, under Models; its servers call the gateway, so the address must be a public one",
    language: "text",
    route: chat,
    model: gemini,
    lines: `OpenAI API key            {key}
Override OpenAI base URL  {origin}/v1
Add model                 {model}`
  }
]
