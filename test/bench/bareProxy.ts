// The bare proxy: node:http and an undici Pool that translate by hand. The least that any gateway on Node must pay.
// Must not import the gateway. No keys, limits, schemas or metrics.
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Dispatcher } from "undici"
import { claudeChat, messages } from "./bareProxyClaude.ts"
import { framesOf, bareProxyHttp } from "./bareProxyHttp.ts"

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
interface Message {
  readonly role: string
  readonly content: string | ReadonlyArray<Part>
}
interface Tool {
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object }
}
export interface ChatBody {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly temperature?: number
  readonly tools?: ReadonlyArray<Tool>
}
interface EmbeddingsBody {
  readonly model: string
  readonly input: ReadonlyArray<string>
}
interface Vectors {
  readonly embeddings: ReadonlyArray<{ readonly values: ReadonlyArray<number> }>
}
interface ReplyPart {
  readonly text?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
}
interface Candidate {
  readonly content?: { readonly parts?: ReadonlyArray<ReplyPart> }
  readonly finishReason?: string
}
interface Reply {
  readonly candidates?: ReadonlyArray<Candidate>
  readonly usageMetadata?: {
    readonly promptTokenCount: number
    readonly candidatesTokenCount: number
    readonly totalTokenCount: number
  }
}

const [port, upstream] = process.argv.slice(2)
if (port === undefined || upstream === undefined) throw new Error("usage: bareProxy.ts <port> <upstream origin>")
const http = bareProxyHttp(upstream)
const finishes: Readonly<Record<string, string>> = { STOP: "stop", MAX_TOKENS: "length" }

const toParts = (content: Message["content"]) =>
  typeof content === "string"
    ? [{ text: content }]
    : content.map((part) => {
        if (part.type === "text") return { text: part.text }
        const { url } = part.image_url
        const comma = url.indexOf(",")
        return { inlineData: { mimeType: url.slice(5, url.indexOf(";")), data: url.slice(comma + 1) } }
      })

const toTools = (tools: ReadonlyArray<Tool>) => ({
  tools: [
    {
      functionDeclarations: tools.map(({ function: { description, name, parameters } }) => ({
        name,
        description,
        parametersJsonSchema: parameters
      }))
    }
  ]
})

const toGemini = (body: ChatBody): string => {
  const system = body.messages.filter(({ role }) => role === "system").map(({ content }) => ({ text: content }))
  return JSON.stringify({
    contents: body.messages
      .filter(({ role }) => role !== "system")
      .map(({ content, role }) => ({ role: role === "assistant" ? "model" : "user", parts: toParts(content) })),
    ...(body.tools === undefined ? {} : toTools(body.tools)),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    generationConfig: { maxOutputTokens: body.max_tokens, temperature: body.temperature }
  })
}

const textOf = (candidate: Candidate | undefined): string =>
  (candidate?.content?.parts ?? []).map(({ text }) => text ?? "").join("")

const imagesOf = (candidate: Candidate | undefined) => {
  const images = (candidate?.content?.parts ?? []).flatMap(({ inlineData }) =>
    inlineData === undefined
      ? []
      : [{ type: "image", image: { b64_json: inlineData.data, mime_type: inlineData.mimeType } }]
  )
  return images.length === 0 ? {} : { content_parts: images }
}

const usageOf = (reply: Reply) => ({
  prompt_tokens: reply.usageMetadata?.promptTokenCount ?? 0,
  completion_tokens: reply.usageMetadata?.candidatesTokenCount ?? 0,
  total_tokens: reply.usageMetadata?.totalTokenCount ?? 0
})

const toCompletion = (reply: Reply, model: string): string => {
  const candidate = reply.candidates?.[0]
  return JSON.stringify({
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: textOf(candidate), refusal: null, ...imagesOf(candidate) },
        logprobs: null,
        finish_reason: finishes[candidate?.finishReason ?? ""] ?? "stop"
      }
    ],
    usage: usageOf(reply)
  })
}

const google = { method: "POST", headers: { "content-type": "application/json", "x-goog-api-key": "bench" } } as const

const request = (body: ChatBody): Dispatcher.DispatchOptions => ({
  ...google,
  path: `/v1beta/models/${body.model}:${body.stream === true ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: toGemini(body)
})

const unary = (body: ChatBody, response: ServerResponse): void =>
  http.whole(request(body), response, (reply) => toCompletion(JSON.parse(reply.toString("utf8")), body.model))

const embeddings = ({ input, model }: EmbeddingsBody, response: ServerResponse): void => {
  const requests = input.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] } }))
  const options = { ...google, path: `/v1beta/models/${model}:batchEmbedContents`, body: JSON.stringify({ requests }) }
  http.whole(options, response, (reply) => {
    const { embeddings: made }: Vectors = JSON.parse(reply.toString("utf8"))
    const data = made.map(({ values }, index) => ({ object: "embedding", index, embedding: values }))
    return JSON.stringify({ object: "list", model, usage: { prompt_tokens: 0, total_tokens: 0 }, data })
  })
}

/** The provider's own dialect, passed as its bytes. */
const native = (path: string, text: string, response: ServerResponse): void => {
  if (path.includes(":stream")) http.streamed({ ...google, path, body: text }, response, (bytes) => bytes)
  else http.whole({ ...google, path, body: text }, response, (reply) => reply)
}

const streamed = (body: ChatBody, response: ServerResponse): void => {
  const id = `chatcmpl-${randomUUID()}`
  const created = Math.floor(Date.now() / 1000)
  const frames = framesOf("\r\n\r\n")
  let first = true
  const chunk = (frame: string): string => {
    const reply: Reply = JSON.parse(frame.slice("data: ".length))
    const candidate = reply.candidates?.[0]
    const delta = first ? { role: "assistant", content: textOf(candidate) } : { content: textOf(candidate) }
    first = false
    const finish = candidate?.finishReason === undefined ? null : (finishes[candidate.finishReason] ?? "stop")
    return `data: ${JSON.stringify({
      id,
      object: "chat.completion.chunk",
      created,
      model: body.model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    })}\n\n`
  }
  http.streamed(request(body), response, (bytes) => frames(bytes).map(chunk).join(""), "data: [DONE]\n\n")
}

const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
  const parts: Array<Buffer> = []
  incoming.on("data", (part: Buffer) => parts.push(part))
  incoming.on("end", () => {
    if (incoming.method === "GET") {
      response.end("{}")
      return
    }
    const text = Buffer.concat(parts).toString("utf8")
    if (incoming.url?.startsWith("/v1beta/") === true) return native(incoming.url, text, response)
    if (incoming.url === "/v1/embeddings") return embeddings(JSON.parse(text), response)
    if (incoming.url === "/v1/messages") return messages(http, text, response)
    const body: ChatBody = JSON.parse(text)
    if (body.model.startsWith("claude-")) return claudeChat(http, body, response)
    if (body.stream === true) streamed(body, response)
    else unary(body, response)
  })
}

createServer({ keepAliveTimeout: 65_000 }, answer).listen({ port: Number(port), host: "127.0.0.1", backlog: 8192 })
