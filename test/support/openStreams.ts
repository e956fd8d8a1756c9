// Open streams of each dialect whose request is large: a prompt of megabytes would stay in memory for minutes.
// Must not depend on the gateway above the upstream client.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { chatToClaude } from "../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { PassedCall, prepare, type Prepared } from "../../src/upstream/Prepared.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { Upstream } from "../../src/upstream/Upstream.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { httpServer } from "../upstream/evilServer.ts"
import { lines, times } from "../upstream/lines.ts"
import { chatContext } from "./chat.ts"
import { sse } from "./streams.ts"

/** A request with a history of calls, tools and a prompt of a megabyte. */
const largeRequest = (): ChatRequest => ({
  model: "m",
  stream: true,
  tools: [{ type: "function", function: { name: "wéather", parameters: { type: "object", properties: {} } } }],
  messages: [
    { role: "user", content: "tide ".repeat(200_000) },
    {
      role: "assistant",
      content: "Let me look.",
      tool_calls: [{ id: "call-1", type: "function", function: { name: "wéather", arguments: "{}" } }]
    },
    { role: "tool", tool_call_id: "call-1", content: "Rain." }
  ]
})

const gemini = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }]
})
const claudeText = (text: string) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
const openAi = (content: string, finish_reason: string | null) => ({
  id: "c",
  choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason }]
})

const input = (url: string) =>
  ({
    target: { slug: "s", kind: "google", modelId: "m", operation: "chat", optionIndex: 0, issuer: "gemini/google" },
    url,
    headers: {},
    origin: "caller",
    limits: defaultLimits
  }) as const

/** Gets each object that must not outlive the head of the answer, and returns what is used instead. */
export type Watch = <A extends object>(object: A) => A

interface Dialect {
  /** The answer: what comes at first, and its end. */
  readonly answer: readonly [first: string, last: string]
  readonly call: (url: string, watch: Watch) => Prepared<unknown, unknown>
}

const dialects: Readonly<Record<string, Dialect>> = {
  Gemini: {
    answer: [sse([gemini("Rain.")]), sse([gemini(" Wind.", { finishReason: "STOP" })])],
    call: (url, watch) => {
      const [request, context] = [watch(largeRequest()), watch(chatContext())]
      return Result.getOrThrow(prepare({ ...input(url), translator: chatToGemini, request, context }))
    }
  },
  Claude: {
    answer: [
      sse([
        { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "c", content: [] } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        claudeText("Rain.")
      ]),
      sse([
        claudeText(" Wind."),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
        { type: "message_stop" }
      ])
    ],
    call: (url, watch) => {
      const [request, context] = [watch(largeRequest()), watch(chatContext("claude-sonnet-4-5", { family: "claude" }))]
      return Result.getOrThrow(prepare({ ...input(url), translator: chatToClaude, request, context }))
    }
  },
  OpenAI: {
    answer: [sse([openAi("Rain.", null)]), sse([openAi(" Wind.", "stop")])],
    call: (url, watch) => {
      const [request, context] = [watch(largeRequest()), watch(chatContext("meta/llama-3.3", { family: "openai" }))]
      return Result.getOrThrow(prepare({ ...input(url), translator: chatToOpenAi, request, context }))
    }
  },
  "passed bytes": {
    answer: ["Rain.\n", " Wind.\nEND\n"],
    call: (url, watch) => {
      const { chunks, headers, ignored, reply, target } = lines(url)
      const bytes = Buffer.alloc(2 ** 20, "tide ")
      watch(bytes.buffer)
      return new PassedCall({ bytes, chunks, headers, ignored, json: () => null, reply, target, url })
    }
  }
}

export const dialectNames: ReadonlyArray<string> = Object.keys(dialects)

export const realUpstream: Layer.Layer<Upstream> = Upstream.layer.pipe(Layer.provide(Transport.layer))

/** A stream of a dialect whose first events have come, and what lets its last ones come. */
export const openStream = (name: string, watch: Watch) =>
  Effect.gen(function* () {
    const dialect = dialects[name]
    if (dialect === undefined) return yield* Effect.die(`no dialect ${name}`)
    const [first, last] = dialect.answer
    const ended = Promise.withResolvers<void>()
    const server = yield* httpServer((request, response) => {
      request.resume()
      request.on("end", async () => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(first)
        await ended.promise
        response.end(last)
      })
    })
    const upstream = yield* Upstream
    const opened = yield* Effect.suspend(() => upstream.open(watch(dialect.call(server.url, watch)), {}, times))
    return { opened, end: Effect.sync(() => ended.resolve()) }
  })
