// What one key, account or place has learned changes no request of another, and words of a request teach nothing.
// Must not depend on where lessons are kept.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { ModelOverlays } from "../../src/domain/models/modelTable.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import type { Json, JsonObject } from "../../src/domain/text/json.ts"
import { Gateway } from "../../src/Gateway.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { readMessagesRequest } from "../../src/translate/messages-to-claude.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"
import { config } from "../support/config.ts"
import { reply, stop } from "../support/gemini.ts"
import { replying } from "../support/scripted.ts"
import { settingsFor } from "../support/TestGateway.ts"

interface UpstreamCall {
  readonly url: string
  readonly text: string
  readonly betas: string
}

const refusing = (message: string, details?: Json): ScriptedResponse => ({
  status: 400,
  chunks: [
    JSON.stringify({
      error: { code: 400, status: "INVALID_ARGUMENT", message, ...(details === undefined ? {} : { details }) }
    })
  ]
})
const fine = replying(reply([{ text: "fine" }], stop))
const claudeFine = replying({
  type: "message",
  model: "claude",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 }
})

const placed: ProviderAccount = { ...vertexAccount, regions: ["europe-west4"] }
const accounts: ReadonlyArray<ProviderAccount> = [googleAccount, { ...googleAccount, slug: "second" }, placed]
const models: ModelOverlays = { "gemini-9-flash": { inherits: "gemini-2.5-flash", sampling: { refused: [] } } }

/** A gateway over an upstream with these answers, and the calls that reached it. */
const world = (answer: (call: UpstreamCall) => ScriptedResponse) => {
  const calls: Array<UpstreamCall> = []
  const transport = Transport.layerTest((request) => {
    const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body)
    const call = { url: request.url, text, betas: request.headers["anthropic-beta"] ?? "" }
    calls.push(call)
    return Effect.succeed(answer(call))
  })
  const settings = settingsFor("http://unused.invalid", { accounts })
  return { calls, layer: Gateway.layerNoDeps({ ...settings, models }).pipe(Layer.orDie, Layer.provide(transport)) }
}

const penalties = "Penalty is not enabled for this model"
const strict = ({ text }: UpstreamCall) => (text.includes("presencePenalty") ? refusing(penalties) : fine)

/** A request at the begin of the test's clock. */
const started: RequestContext = { ...requestContext, startedMillis: 0 }
const hi = [{ role: "user", content: "hi" }]
const ask = (request: JsonObject, context: Partial<RequestContext> = {}) =>
  Effect.flatMap(ProviderRouter, (router) =>
    router.run("chat", { model: "@google/gemini-9-flash", messages: hi, ...request } as ChatRequest, {
      ...started,
      ...context
    })
  )
const penalised = { presence_penalty: 0.5 }
const keyed = (id: string): Partial<RequestContext> => ({ key: { ...requestContext.key, id } })
const carrying = (carried: Partial<RequestContext["carried"]>): Partial<RequestContext> => ({
  carried: { ...requestContext.carried, ...carried }
})

describe("lessons of a key, an account and a place", () => {
  it.effect("healing: a key learns for itself, and no other request is changed by it (M-906)", () => {
    const { calls, layer } = world(strict)
    const credentials = config({
      provider: "google",
      api_key: "of-the-config"
    })
    const asked = [
      ask(penalised),
      ask(penalised, keyed("key-2")),
      ask({ ...penalised, model: "@second/gemini-9-flash" }),
      ask({ ...penalised, model: "@vertex-ai/gemini-9-flash" }),
      ask({ ...penalised, model: "@vertex-ai/gemini-9-flash" }, carrying({ vertexRegion: "europe-west4" })),
      ask(penalised, { config: credentials, configId: "config-1" })
    ]
    return Effect.gen(function* () {
      for (const callsEach of [2, 1]) {
        for (const one of asked) {
          const before = calls.length
          expect((yield* one).served.ignored).toEqual(["presence_penalty"])
          expect(calls.length - before).toBe(callsEach)
        }
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "healing: a request with a credential of its own is healed for itself alone, and taught by none (M-907)",
    () => {
      const { calls, layer } = world(strict)
      const own = carrying({ googApiKey: Redacted.make("of-the-request") })
      return Effect.gen(function* () {
        for (const [context, callsSoFar] of [
          [own, 2],
          [own, 4],
          [{}, 6],
          [{}, 7],
          [own, 9]
        ] as const) {
          expect((yield* ask(penalised, context)).served.ignored).toEqual(["presence_penalty"])
          expect(calls.length).toBe(callsSoFar)
        }
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("moving names: the answers of one account move no name of another account or key (M-906)", () => {
    const level = ({ text }: UpstreamCall) => /"thinkingLevel":"(\w+)"/.exec(text)?.[1]
    const { calls, layer } = world(() =>
      replying({ ...reply([{ text: "fine" }], stop), modelVersion: "gemini-3.5-flash" })
    )
    const request = { model: "@google/gemini-flash-latest", reasoning_effort: "minimal" }
    const own = carrying({ googApiKey: Redacted.make("of-the-request") })
    return Effect.gen(function* () {
      for (const context of [own, own, {}, {}, own, keyed("key-2")]) yield* ask(request, context)
      yield* ask({ ...request, model: "@second/gemini-flash-latest" })
      expect(calls.map(level)).toEqual(["LOW", "LOW", "LOW", "MINIMAL", "LOW", "LOW", "LOW"])
    }).pipe(Effect.provide(layer))
  })
})

/** A body of Claude's dialect that a client writes. */
const messages = (more: JsonObject, betas: ReadonlyArray<string>) =>
  Effect.flatMap(ProviderRouter, (router) => {
    const text = JSON.stringify({ model: "@vertex-ai/claude-opus-4-6", max_tokens: 5, messages: hi, ...more })
    const request = Result.getOrThrow(readMessagesRequest(JSON.parse(text), new TextEncoder().encode(text)))
    return router.run("messages", request, { ...started, betas })
  })
const editing = (type: string) => ({ context_management: { edits: [{ type }] } })

describe("lessons after a success", () => {
  it.effect("healing: keeps only what changed the call that succeeded (M-909)", () => {
    const unknown = "Unexpected value(s) `a-1`, `b-1` for the `anthropic-beta` header."
    const { calls, layer } = world(({ betas }) => (betas.includes("a-1") ? refusing(unknown) : claudeFine))
    return Effect.gen(function* () {
      expect((yield* messages({}, ["a-1", "c-1"])).served.ignored).toEqual(["anthropic-beta.a-1"])
      expect((yield* messages({}, ["a-1", "b-1"])).served.ignored).toEqual(["anthropic-beta.a-1"])
      expect(calls.map(({ betas }) => betas)).toEqual(["a-1,c-1", "c-1", "b-1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: learns nothing where the changed call fails in another way (M-909)", () => {
    let isDown = true
    const { calls, layer } = world((call) => {
      const answer = strict(call)
      return answer === fine && isDown ? { status: 503, chunks: ["{}"] } : answer
    })
    return Effect.gen(function* () {
      yield* Effect.flip(ask(penalised))
      isDown = false
      yield* ask(penalised)
      expect(calls.map(({ text }) => text.includes("presencePenalty"))).toEqual([true, false, true, false])
    }).pipe(Effect.provide(layer))
  })
})

describe("words of a request in its refusal", () => {
  const category = (text: string) => ({ safety_settings: [{ category: text, threshold: "OFF" }], n: 2 })

  it.effect("healing: what the upstream quotes of a chat is handed on, and teaches nothing (M-908)", () => {
    const quote = "candidateCount must be 1"
    const { calls, layer } = world(({ text }) => (text.includes(quote) ? refusing(`Unknown category: ${quote}`) : fine))
    return Effect.gen(function* () {
      expect(yield* Effect.flip(ask(category(quote)))).toMatchObject({
        _tag: "ProviderError",
        reason: { message: `Unknown category: ${quote}` }
      })
      yield* ask({ n: 2 })
      expect(calls.length).toBe(2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: a refusal that names a field of the request is about the request (M-908)", () => {
    const { calls, layer } = world(() =>
      refusing("Multiple candidates is not enabled", [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "safety_settings[0].category", description: "x" }]
        }
      ])
    )
    return Effect.gen(function* () {
      expect(yield* Effect.flip(ask({ n: 2 }))).toMatchObject({ _tag: "ProviderError" })
      expect(calls.length).toBe(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: what the upstream quotes of a message takes no beta off a later one (M-908)", () => {
    const betas = ["context-management-2025-06-27", "context-1m-2025-08-07"]
    const quote = `Unexpected value(s) ${betas.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header`
    const { calls, layer } = world(({ text }) =>
      text.includes("Unexpected")
        ? refusing(
            `context_management.edits.0: Input tag '${quote}' found using 'type' does not match any of the expected tags`
          )
        : claudeFine
    )
    return Effect.gen(function* () {
      expect(yield* Effect.flip(messages(editing(quote), betas))).toMatchObject({ _tag: "ProviderError" })
      yield* messages({}, betas)
      expect(calls.map((call) => call.betas)).toEqual([betas.join(","), betas.join(",")])
    }).pipe(Effect.provide(layer))
  })
})
