// Tests that an open stream keeps nothing of its request: a prompt of megabytes would stay for minutes.
// Must not depend on the gateway above the upstream client.
import { expect, it } from "@effect/vitest"
import { setImmediate as turn } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { defaultLimits } from "../../src/domain/Limits.ts"
import { chatToClaude } from "../../src/translate/chat-to-claude/ChatToClaude.ts"
import { chatToGemini } from "../../src/translate/chat-to-gemini/ChatToGemini.ts"
import { chatToOpenAi } from "../../src/translate/chat-to-openai/ChatToOpenAi.ts"
import { PassedCall } from "../../src/upstream/PassedCall.ts"
import { prepare, type Prepared } from "../../src/upstream/Prepared.ts"
import { Transport } from "../../src/upstream/Transport.ts"
import { Upstream } from "../../src/upstream/Upstream.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { chatContext } from "../support/chat.ts"
import { httpServer } from "../upstream/evilServer.ts"
import { lines, times } from "../upstream/lines.ts"

const real = Upstream.layer.pipe(Layer.provide(Transport.layer))

const collect = (): void => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  setFlagsFromString("--no-expose-gc")
}

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

const gemini = { candidates: [{ content: { role: "model", parts: [{ text: "Rain." }] } }] }
const claude = [
  { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "c", content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } }
]
const openAi = { id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "Rain." } }] }

const input = (url: string) =>
  ({
    target: { slug: "s", kind: "google", modelId: "m", operation: "chat", optionIndex: 0, issuer: "gemini/google" },
    url,
    headers: {},
    origin: "caller",
    limits: defaultLimits
  }) as const

type Held = readonly [call: Prepared<unknown, unknown>, held: Readonly<Record<string, object>>]

/** Each dialect: its first events, and a call with the objects that must not outlive the head of its answer. */
const calls: Readonly<Record<string, readonly [events: ReadonlyArray<object>, make: (url: string) => Held]>> = {
  Gemini: [
    [gemini],
    (url) => {
      const [request, context] = [largeRequest(), chatContext()]
      const call = Result.getOrThrow(prepare({ ...input(url), translator: chatToGemini, request, context }))
      return [call, { request, context, call }]
    }
  ],
  Claude: [
    claude,
    (url) => {
      const [request, context] = [largeRequest(), chatContext("claude-sonnet-4-5", { family: "claude" })]
      const call = Result.getOrThrow(prepare({ ...input(url), translator: chatToClaude, request, context }))
      return [call, { request, context, call }]
    }
  ],
  OpenAI: [
    [openAi],
    (url) => {
      const [request, context] = [largeRequest(), chatContext("meta/llama-3.3", { family: "openai" })]
      const call = Result.getOrThrow(prepare({ ...input(url), translator: chatToOpenAi, request, context }))
      return [call, { request, context, call }]
    }
  ],
  "passed bytes": [
    [{}],
    (url) => {
      const { chunks, headers, ignored, reply, target } = lines(url)
      const bytes = Buffer.alloc(2 ** 20, "tide ")
      const call = new PassedCall({ bytes, chunks, headers, ignored, json: () => null, reply, target, url })
      return [call, { call, bytes: bytes.buffer }]
    }
  ]
}

for (const [name, [events, make]] of Object.entries(calls))
  it.live(`open stream: keeps nothing of its request (${name})`, () =>
    Effect.gen(function* () {
      const server = yield* httpServer((request, response) => {
        request.resume()
        request.on("end", () => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
        })
      })
      const upstream = yield* Upstream
      const refs: Record<string, WeakRef<object>> = {}
      const opened = yield* Effect.suspend(() => {
        const [call, held] = make(server.url)
        for (const key in held) if (held[key] !== undefined) refs[key] = new WeakRef(held[key])
        return upstream.open(call, {}, times)
      })
      // A weak reference keeps its object until the turn that made it is over.
      yield* Effect.promise(() => turn())
      collect()
      expect(Object.entries(refs).filter(([, ref]) => ref.deref() !== undefined)).toEqual([])
      expect(opened.progress().characters).toBe(0)
      expect(Stream.isStream(opened.chunks)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(real))
  )
