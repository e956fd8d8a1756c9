// The requests of the bench other than a small Gemini chat: their bodies, and which contestants answer them.
// Must not know how a contestant is started.
import type { Target } from "./load.ts"

export const operationNames = [
  "vertex",
  "tools",
  "longPrompt",
  "imageIn",
  "imageOut",
  "native",
  "nativeStreams",
  "responses",
  "responseStreams",
  "embeddings",
  "claude",
  "claudeStreams",
  "messages",
  "messageStreams"
] as const
/** Streams bring one burst of events. */
export type OperationName = (typeof operationNames)[number]

export const operationTitles: Readonly<Record<OperationName, string>> = {
  vertex: "chat, Vertex AI with a token",
  tools: "chat with 50 tools",
  longPrompt: "chat with a prompt of 100 KB",
  imageIn: "chat with an image of 10 MB, 4 connections",
  imageOut: "an image of 10 MB as the answer, 4 connections",
  native: "native generateContent",
  nativeStreams: "native streamGenerateContent, burst",
  responses: "responses",
  responseStreams: "responses, burst",
  embeddings: "embeddings",
  claude: "Claude chat",
  claudeStreams: "Claude chat, burst",
  messages: "messages passed",
  messageStreams: "messages streamed, burst"
}

const system = "You answer in one sentence, in plain words, without a list and without any heading."
const question =
  "Why is there high and low water at the coast twice a day, and why is it later each day than the day before?"
const limits = { max_tokens: 200, temperature: 0.5 }
const streaming = { stream: true }
const asked = (content: unknown) => [
  { role: "system", content: system },
  { role: "user", content }
]
const chat = { messages: asked(question), ...limits }

export const chatPath = "/v1/chat/completions"

/** A small chat, or its stream. */
export const body = (model: string, stream: boolean): string =>
  JSON.stringify({ model, ...chat, ...(stream ? streaming : {}) })

const imageBytes = 10 * 1024 * 1024
/** What the simulated provider draws, and what a chat shows it. */
export const imageBase64 = (): string =>
  Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(imageBytes - 8, 7)]).toString("base64")

const tools = Array.from({ length: 50 }, (_, at) => ({
  type: "function",
  function: {
    name: `look_up_${at}`,
    description: "Looks up one value of a table by its row and its column.",
    parameters: {
      type: "object",
      properties: { row: { type: "string", description: "Name of the row." }, column: { type: "integer" } },
      required: ["row"]
    }
  }
}))

interface OperationCall {
  readonly path: string
  readonly slug: string
  readonly model: string
  /** The gateway's prefix of the model id. */
  readonly prefix?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Large bodies have fewer connections, so that they fit the gateway's bound. 32 unless set. */
  readonly connections?: number
  /** True: only the gateway answers it. */
  readonly isOwn?: boolean
  /** True: the path names the model. */
  readonly isNative?: boolean
  readonly rest: () => object
}

const gemini = { path: chatPath, slug: "google", model: "gemini-3.8-flash" }
const claude = { slug: "vertex-ai", model: "claude-sonnet-4-5@20250929", prefix: "anthropic." }
const message = { system, messages: [{ role: "user", content: question }], ...limits }
const responses = { path: "/v1/responses", slug: "google", isOwn: true } as const
const response = { instructions: system, input: question, max_output_tokens: 200, temperature: 0.5, store: false }
const contents = {
  contents: [{ role: "user", parts: [{ text: question }] }],
  systemInstruction: { parts: [{ text: system }] },
  generationConfig: { maxOutputTokens: 200, temperature: 0.5 }
}

const operationCalls: Readonly<Record<OperationName, OperationCall>> = {
  vertex: { ...gemini, slug: "vertex-ai", rest: () => chat },
  tools: { ...gemini, rest: () => ({ ...chat, tools }) },
  longPrompt: { ...gemini, rest: () => ({ messages: asked(`${question} `.repeat(950)), ...limits }) },
  imageIn: {
    ...gemini,
    connections: 4,
    rest: () => ({
      messages: asked([
        { type: "text", text: question },
        { type: "image_url", image_url: { url: `data:image/png;base64,${imageBase64()}` } }
      ]),
      ...limits
    })
  },
  imageOut: {
    ...gemini,
    model: "gemini-2.5-flash-image",
    connections: 4,
    headers: { "x-gateway-strict-schema-compliance": "false" },
    rest: () => ({ ...chat, modalities: ["text", "image"] })
  },
  native: {
    ...gemini,
    path: "/v1beta/models/gemini-3.8-flash:generateContent",
    isNative: true,
    rest: () => contents
  },
  nativeStreams: {
    ...gemini,
    path: "/v1beta/models/gemini-bench-burst:streamGenerateContent?alt=sse",
    isNative: true,
    rest: () => contents
  },
  responses: { ...responses, model: "gemini-3.8-flash", rest: () => response },
  responseStreams: { ...responses, model: "gemini-bench-burst", rest: () => ({ ...response, ...streaming }) },
  embeddings: {
    path: "/v1/embeddings",
    slug: "google",
    model: "gemini-embedding-001",
    rest: () => ({
      input: [
        "The tide follows the moon.",
        "A cat sat on the mat.",
        "Prices fell sharply today.",
        "It will rain in the evening."
      ],
      encoding_format: "float"
    })
  },
  claude: { path: chatPath, ...claude, rest: () => chat },
  claudeStreams: { path: chatPath, ...claude, rest: () => ({ ...chat, ...streaming }) },
  messages: { path: "/v1/messages", ...claude, rest: () => message },
  messageStreams: { path: "/v1/messages", ...claude, rest: () => ({ ...message, ...streaming }) }
}

export const connectionsOf = (what: OperationName): number => operationCalls[what].connections ?? 32

const targetOf = (port: number, what: OperationName, name: string, headers: Target["headers"]): Target => {
  const { headers: more = {}, isNative, path, rest } = operationCalls[what]
  return {
    port,
    path,
    headers: { ...headers, ...more },
    body: JSON.stringify(isNative === true ? rest() : { model: name, ...rest() })
  }
}

/** The request to the bare proxy; undefined where it has no such operation. */
export const bareTarget = (port: number, what: OperationName): Target | undefined =>
  operationCalls[what].isOwn === true ? undefined : targetOf(port, what, operationCalls[what].model, {})

/** The request to the gateway. */
export const gatewayTarget = (port: number, what: OperationName, headers: Target["headers"]): Target => {
  const { model, prefix = "", slug } = operationCalls[what]
  return targetOf(port, what, `@${slug}/${prefix}${model}`, headers)
}
