// The lines that connect each client to the gateway, and the settings of known programs that a refusal is about.
// It must not know where the lines are shown, or errors beyond their codes. Rule: W11.

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

// The settings of known programs that a refusal is about, in their own names.

type Topic = "key" | "model" | "context"

interface Client {
  readonly agent: string
  readonly name: string
  readonly settings: Readonly<Partial<Record<Topic, string>>>
}

/** By the beginning of `user-agent`. Programs whose settings are arguments of a constructor need no word. */
const clients: ReadonlyArray<Client> = [
  {
    agent: "claude-cli/",
    name: "Claude Code",
    settings: { key: "ANTHROPIC_AUTH_TOKEN", model: "ANTHROPIC_MODEL and ANTHROPIC_DEFAULT_HAIKU_MODEL" }
  },
  {
    agent: "codex_",
    name: "Codex",
    settings: {
      key: "the variable that env_key names in ~/.codex/config.toml",
      model: 'the setting "model" in ~/.codex/config.toml',
      context: 'the setting "model_context_window" in ~/.codex/config.toml'
    }
  },
  {
    agent: "GeminiCLI",
    name: "gemini-cli",
    settings: { key: "GEMINI_API_KEY", model: "GEMINI_MODEL or --model" }
  },
  {
    agent: "opencode/",
    name: "opencode",
    settings: {
      key: 'the setting "options.apiKey" of its provider in opencode.json',
      model: 'the setting "model" in opencode.json'
    }
  }
]

const topics: ReadonlyMap<string, Topic> = new Map([
  ["missing_gateway_key", "key"],
  ["invalid_gateway_key", "key"],
  ["model_not_found", "model"],
  ["model_not_allowed", "model"],
  ["model_not_priced", "model"],
  ["provider_missing", "model"],
  ["provider_not_found", "model"],
  ["unsupported_operation", "model"],
  ["context_length_exceeded", "context"]
])

const verbs: Readonly<Record<Topic, string>> = {
  key: "takes its key from",
  model: "takes the model from",
  context: "takes the size of the context from"
}

/** A sentence for the message of an error; empty where the client is not known or has no such setting. */
export const settingHint = (code: string, userAgent: string | undefined): string => {
  const topic = topics.get(code)
  if (topic === undefined || userAgent === undefined) return ""
  const client = clients.find(({ agent }) => userAgent.startsWith(agent))
  const setting = client?.settings[topic]
  return client === undefined || setting === undefined ? "" : ` ${client.name} ${verbs[topic]} ${setting}.`
}
