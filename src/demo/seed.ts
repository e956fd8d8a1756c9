// The texts of the demo: its banner, requests to copy, snippets for client libraries, and facts on its endpoints.
// It must not know processes or sockets; everything is a function of origin and key.
import type { EndpointFacts } from "../domain/ProviderAccount.ts"
import type { Prompt, PromptContent } from "../domain/Prompt.ts"
import { demoEndpoints } from "./google/service/endpoints.ts"

export const demoProject = "demo-project"
export const demoRegion = "us-central1"
/** Fixed on loopback, so that snippets can be copied from a page. On other addresses a key is made. */
export const demoKey = "mgk_demo"

/** The catalog's facts on the simulated endpoints. Endpoints that are not ready are left out. */
export const endpointFacts: Readonly<Record<string, EndpointFacts>> = Object.fromEntries(
  Object.entries(demoEndpoints)
    .filter(([, { readiness }]) => readiness === undefined)
    .map(([id, { dedicatedHost, dialect, servedModel }]) => [
      id,
      {
        dialect: dialect === "any" ? "openai" : dialect,
        host: dedicatedHost,
        model: servedModel === id ? undefined : servedModel
      }
    ])
)

/** The origin of the demo and the key it accepts. */
export interface DemoFacts {
  /** `http://127.0.0.1:8787`. */
  readonly origin: string
  readonly key: string
  readonly version: string
}

/** One Gemini model through both providers. */
export const demoModels = ["@google/gemini-3.8-flash", "@vertex-ai/gemini-3.8-flash"] as const

/** A Claude model, for clients that speak its own dialect as well. */
export const demoClaude = "@vertex-ai/anthropic.claude-sonnet-5-5"

/** An open model, and a self-deployed endpoint. */
export const demoOpen = ["@vertex-ai/meta.llama-3.3-70b-instruct-maas", "@vertex-ai/endpoints.demo-llama"] as const

/** Model ids that inject faults. */
export const demoFaults = [
  "@google/demo-slow",
  "@google/demo-flaky-429",
  "@google/demo-dies-midstream",
  "@google/demo-503",
  "@google/demo-hangs"
] as const

const onlyVersion = (id: string, content: PromptContent): Prompt => ({
  id,
  name: undefined,
  versions: new Map([[1, content]]),
  labels: new Map()
})

/** A prompt template and its partial, as a configuration declares them. */
export const demoPrompts: ReadonlyArray<Prompt> = [
  onlyVersion("greeting", {
    model: demoModels[0],
    messages: [
      { role: "system", content: "{{>tone}} You talk to {{name}}." },
      { role: "user", content: "{{message}}" }
    ],
    parameters: { temperature: 0.5 }
  }),
  onlyVersion("tone", { text: "You are friendly and brief." })
]

const chatBody = (model: string, stream: boolean): string =>
  JSON.stringify({ model, ...(stream ? { stream } : {}), messages: [{ role: "user", content: "Hello" }] })

/** A request to paste into a POSIX shell. The JSON contains no single quote. */
export const curl = ({ key, origin }: DemoFacts, model: string, stream: boolean): string =>
  `curl ${stream ? "-N" : "-s"} ${origin}/v1/chat/completions -H 'content-type: application/json' -H 'x-gateway-api-key: ${key}' \\\n` +
  `           -d '${chatBody(model, stream)}'`

/** The banner that `demo` prints when it listens. */
export const banner = (facts: DemoFacts): string =>
  [
    `model-gateway ${facts.version}   demo: simulated Google services in this process, nothing leaves this machine`,
    `API      ${facts.origin}/v1        key  ${facts.key}`,
    `Ready    ${facts.origin}/health/ready        models  ${facts.origin}/v1/models`,
    `Try      ${curl(facts, demoModels[0], false)}`,
    `Stream   ${curl(facts, demoModels[0], true)}`,
    `Also     ${demoModels[1]}   @google/gemini-4-neon   ${demoClaude}   ${demoOpen.join("   ")}`,
    `Faults   ${demoFaults.join("   ")}`,
    "Next     model-gateway demo --snippets      with your own credentials: GEMINI_API_KEY=... model-gateway serve"
  ].join("\n")

const openaiSnippet = ({ key, origin }: DemoFacts): string => `// npm install openai
import OpenAI from "openai"

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${key}" })
const stream = await client.chat.completions.create({
  model: "${demoModels[0]}",
  stream: true,
  messages: [{ role: "user", content: "Hello" }]
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")`

const anthropicSnippet = ({ key, origin }: DemoFacts): string => `// npm install @anthropic-ai/sdk
import Anthropic from "@anthropic-ai/sdk"

const client = new Anthropic({ baseURL: "${origin}", apiKey: "${key}" })
const stream = client.messages.stream({
  model: "${demoClaude}",
  max_tokens: 1024,
  messages: [{ role: "user", content: "Hello" }]
})
for await (const event of stream) {
  if (event.type === "content_block_delta" && event.delta.type === "text_delta") process.stdout.write(event.delta.text)
}`

const aiSdkSnippet = ({ key, origin }: DemoFacts): string => `// npm install ai @ai-sdk/openai-compatible
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { streamText } from "ai"

const gateway = createOpenAICompatible({ name: "model-gateway", baseURL: "${origin}/v1", apiKey: "${key}" })
const { textStream } = streamText({ model: gateway("${demoModels[1]}"), prompt: "Hello" })
for await (const text of textStream) process.stdout.write(text)`

const promptSnippet = ({ key, origin }: DemoFacts): string => `// npm install portkey-ai
import { Portkey } from "portkey-ai"

const client = new Portkey({ baseURL: "${origin}/v1", apiKey: "${key}" })
const stream = await client.prompts.completions.create({
  promptID: "greeting",
  variables: { name: "Ann", message: "Hello" },
  stream: true
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "")`

/** One request for each client library; `demo --snippets` prints them. */
export const snippets = (facts: DemoFacts): ReadonlyArray<{ readonly title: string; readonly code: string }> => [
  { title: "curl", code: curl(facts, demoModels[0], false) },
  { title: "curl, streamed", code: curl(facts, demoModels[0], true) },
  { title: "OpenAI SDK", code: openaiSnippet(facts) },
  { title: "AI SDK", code: aiSdkSnippet(facts) },
  { title: "Anthropic SDK", code: anthropicSnippet(facts) },
  { title: "Prompt template", code: promptSnippet(facts) }
]
