// Tests the Effect client: values, streams, failures by tag, and interruption that reaches the server.
// Must not reach the network beyond its own sockets.
import { it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { GatewayClient } from "../../src/client/GatewayClient.ts"
import { demoPrompts } from "../../src/demo/seed.ts"
import { gatewayKey, startTestGateway, type TestGateway } from "../support/TestGateway.ts"
import { frames, scriptedServer, silence, type Step } from "./scriptedServer.ts"

const chat = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] } as const
const claude = {
  model: "@vertex-ai/anthropic.claude-sonnet-4-6",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }]
} as const
const filled = { variables: { name: "Ann", message: "Hello" } }
const greeting =
  "Hello! I am a simulated Gemini model, so nothing you write leaves this machine. What would you like to try?"

describe("calls to the service", () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway({ prompts: demoPrompts })
  })
  afterAll(() => gateway.close())
  const withClient = <A, E>(effect: Effect.Effect<A, E, GatewayClient>) =>
    Effect.suspend(() =>
      Effect.provide(effect, GatewayClient.layer({ baseUrl: gateway.url, apiKey: gatewayKey, maxRetries: 0 }))
    )

  it.live("unary calls: return their values", () =>
    withClient(
      Effect.gen(function* () {
        const client = yield* GatewayClient
        const answers = yield* Effect.all([
          Effect.map(client.chat(chat), ({ choices }) => choices[0]?.message.content),
          Effect.map(client.countTokens(chat), ({ input_tokens }) => input_tokens),
          Effect.map(client.messages(claude), ({ type }) => type),
          Effect.map(
            client.messagesCount({ model: claude.model, messages: claude.messages }),
            ({ input_tokens }) => input_tokens > 0
          ),
          Effect.map(
            client.embeddings({ model: "@google/gemini-embedding-001", input: "a", dimensions: 8 }),
            ({ data }) => data[0]?.embedding.length
          ),
          Effect.map(
            client.images({ model: "@vertex-ai/imagen-3.0-generate-001", prompt: "A cat" }),
            ({ data }) => data.length
          ),
          Effect.map(client.prompt("greeting", filled), ({ choices }) => choices[0]?.message.content),
          Effect.map(client.promptRender("greeting", filled), ({ data }) => data.messages.length),
          Effect.map(client.models(), ({ object }) => object),
          Effect.map(client.model("@google/gemini-2.5-flash"), ({ id }) => id)
        ])
        expect(answers).toEqual([greeting, 2, "message", true, 8, 1, greeting, 2, "list", "@google/gemini-2.5-flash"])
      })
    )
  )

  it.live("streaming calls: return their events", () =>
    withClient(
      Effect.gen(function* () {
        const client = yield* GatewayClient
        const text = (stream: ReturnType<typeof client.chatStream>) =>
          Stream.runFold(
            stream,
            () => "",
            (sofar, { choices }) => sofar + (choices[0]?.delta.content ?? "")
          )
        expect(yield* text(client.chatStream(chat))).toBe(greeting)
        expect(yield* text(client.promptStream("greeting", filled))).toBe(greeting)
        const events = yield* Stream.runCollect(client.messagesStream(claude))
        expect(events.at(-1)?.type).toBe("message_stop")
      })
    )
  )

  it.live("failures: are matched by tag, before a stream and of a call", () =>
    withClient(
      Effect.gen(function* () {
        const client = yield* GatewayClient
        const unknown = { ...chat, model: "@nobody/x" }
        expect(yield* Effect.catchTag(client.chat(unknown), "NotFound", ({ code }) => Effect.succeed(code))).toBe(
          "provider_not_found"
        )
        const tags = yield* client.chatStream(unknown).pipe(Stream.runDrain, Effect.flip)
        expect([tags._tag, tags.status]).toEqual(["NotFound", 404])
      })
    )
  )
})

describe("calls to a server that never ends", () => {
  const serving = <A, E>(step: Step, use: (url: string, gone: () => Promise<void>) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.promise(() => scriptedServer(step)),
      (server) => use(server.url, () => server.gone(0)),
      (server) => Effect.promise(server.close)
    )
  const chunk = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [] })}\n\n`

  it.live("interruption: closes the connection of a call", () => {
    const asked = Deferred.makeUnsafe<void>()
    return serving(
      (...args) => {
        silence(...args)
        Deferred.doneUnsafe(asked, Effect.void)
      },
      (url, gone) =>
        Effect.gen(function* () {
          const client = yield* Effect.provide(Effect.service(GatewayClient), GatewayClient.layer({ baseUrl: url }))
          const fiber = yield* Effect.forkChild(client.chat(chat))
          yield* Deferred.await(asked)
          yield* Fiber.interrupt(fiber)
          yield* Effect.promise(gone)
        })
    )
  })

  it.live("interruption: a stream that is left closes its connection", () =>
    serving(frames([chunk], "open"), (url, gone) =>
      Effect.gen(function* () {
        const client = yield* Effect.provide(Effect.service(GatewayClient), GatewayClient.layer({ baseUrl: url }))
        const [first] = yield* client.chatStream(chat).pipe(Stream.take(1), Stream.runCollect)
        expect(first?.id).toBe("c")
        yield* Effect.promise(gone)
      })
    )
  )

  it.live("interruption: a waiting stream closes its connection", () =>
    serving(frames([chunk], "open"), (url, gone) =>
      Effect.gen(function* () {
        const client = yield* Effect.provide(Effect.service(GatewayClient), GatewayClient.layer({ baseUrl: url }))
        const first = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          Stream.runForEach(client.chatStream(chat), () => Deferred.succeed(first, undefined))
        )
        yield* Deferred.await(first)
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(gone)
      })
    )
  )

  it.live("an error inside a stream: fails the stream", () =>
    serving(
      frames([chunk, 'data: {"error":{"message":"No.","type":"api_error","param":null,"code":"upstream_error"}}\n\n']),
      (url) =>
        Effect.gen(function* () {
          const client = yield* Effect.provide(Effect.service(GatewayClient), GatewayClient.layer({ baseUrl: url }))
          const failure = yield* client.chatStream(chat).pipe(Stream.runDrain, Effect.flip)
          expect([failure._tag, failure.code]).toEqual(["ServiceFailed", "upstream_error"])
        })
    )
  )
})
