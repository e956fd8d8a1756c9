// Requests that an upstream refuses for a known reason: two calls once, one call after, and what a client is shown.
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { GatewayError } from "../../src/domain/GatewayError.ts"
import type { LimitValues } from "../../src/domain/Limits.ts"
import type { ModelOverlays } from "../../src/domain/models/modelTable.ts"
import type { RequestContext } from "../../src/domain/RequestContext.ts"
import type { JsonObject } from "../../src/domain/text/json.ts"
import { Gateway } from "../../src/Gateway.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import { readMessagesRequest } from "../../src/translate/messages-to-claude.ts"
import { adjustmentText } from "../../src/translate/Translator.ts"
import { type ScriptedResponse, Transport } from "../../src/upstream/Transport.ts"
import type { ChatRequest } from "../../src/wire/openai/Chat.ts"
import { googleAccount, requestContext, vertexAccount } from "../support/account.ts"
import { stop, reply } from "../support/gemini.ts"
import { replying } from "../support/scripted.ts"
import { settingsFor } from "../support/TestGateway.ts"

/** A call as it reached the upstream. */
interface UpstreamCall {
  readonly body: JsonObject
  readonly betas: string | undefined
}

type Refuses = (call: UpstreamCall) => string | undefined

const geminiAnswer = replying(reply([{ text: "fine" }], stop))
const claudeAnswer = replying({
  type: "message",
  model: "claude",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 }
})
const streamed = (event: object): ScriptedResponse => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: [`data: ${JSON.stringify(event)}\n\n`]
})

const refusal = (message: string, isClaude: boolean): ScriptedResponse => ({
  status: 400,
  chunks: [
    JSON.stringify(
      isClaude
        ? { type: "error", error: { type: "invalid_request_error", message } }
        : { error: { code: 400, status: "INVALID_ARGUMENT", message } }
    )
  ]
})

/** A gateway over an upstream that refuses some calls and answers the others, and those calls. */
const world = (
  refuses: Refuses,
  models: ModelOverlays = {},
  limits: Partial<LimitValues> = {},
  answer = (): ScriptedResponse => geminiAnswer,
  event: object = reply([{ text: "fine" }], stop)
) => {
  const calls: Array<UpstreamCall> = []
  const transport = Transport.layerTest((request) => {
    const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body)
    const call: UpstreamCall = { body: JSON.parse(text), betas: request.headers["anthropic-beta"] }
    calls.push(call)
    const isClaude = request.url.includes("/anthropic/")
    const message = refuses(call)
    if (message !== undefined) return Effect.succeed(refusal(message, isClaude))
    if (request.url.includes("streamGenerateContent")) return Effect.succeed(streamed(event))
    return Effect.succeed(isClaude ? claudeAnswer : answer())
  })
  const settings = settingsFor("http://unused.invalid", { accounts: [googleAccount, vertexAccount], limits })
  return {
    calls,
    layer: Gateway.layerNoDeps({ ...settings, models }).pipe(Layer.orDie, Layer.provide(transport))
  }
}

const now = Effect.clockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()))

/** What a client is shown of a served request: both headers. */
const shown = (served: { readonly ignored: ReadonlyArray<string>; readonly adjusted?: unknown }) => {
  const adjusted = Array.isArray(served.adjusted) ? served.adjusted.map(adjustmentText) : []
  return { ignored: served.ignored, adjusted }
}

const chat = (request: JsonObject, context: Partial<RequestContext> = {}) =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const messages = [{ role: "user", content: "hi" }]
    const asked: ChatRequest = { model: "", messages, ...request } as ChatRequest
    const { served } = yield* router.run("chat", asked, { ...requestContext, startedMillis: yield* now, ...context })
    return shown(served)
  })

const failing = (effect: Effect.Effect<unknown, GatewayError, ProviderRouter>) => Effect.flip(effect)

const textOf = (call: UpstreamCall | undefined): string => JSON.stringify(call?.body)
const has = (text: string) => (call: UpstreamCall) => textOf(call).includes(text)

interface Row {
  readonly row: string
  readonly message: string
  /** Where the facts of the gateway are wrong. */
  readonly model: string
  readonly facts: ModelOverlays[string]
  readonly request: JsonObject
  readonly refuses: (call: UpstreamCall) => boolean
  /** The changed members of the upstream's body. */
  readonly sent: JsonObject
  readonly ignored?: ReadonlyArray<string>
  readonly adjusted?: ReadonlyArray<string>
}

const levels = { inherits: "gemini-3.5-flash" }
const budgets = { inherits: "gemini-2.5-flash" }
const config = (sent: JsonObject): JsonObject => ({ generationConfig: sent })
const thinkingSent = (sent: JsonObject): JsonObject => config({ thinkingConfig: sent })
const called = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
}
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]

const rows: ReadonlyArray<Row> = [
  {
    row: "H1",
    message: "Thinking level is not supported for this model.",
    model: "@google/gemini-9-h1",
    facts: levels,
    request: { reasoning_effort: "low" },
    refuses: has("thinkingLevel"),
    sent: thinkingSent({ thinkingBudget: 1_024, includeThoughts: true }),
    adjusted: ["reasoning_effort=low>1024"]
  },
  {
    row: "H2",
    message: "Thinking level MINIMAL is not supported for this model.",
    model: "@google/gemini-9-h2",
    facts: { ...levels, thinking: { levels: ["minimal", "low", "high"] } },
    request: { reasoning_effort: "minimal" },
    refuses: has("MINIMAL"),
    sent: thinkingSent({ thinkingLevel: "LOW", includeThoughts: true }),
    adjusted: ["reasoning_effort=minimal>low"]
  },
  {
    row: "H3",
    message:
      "Unable to submit request because thinking_level MEDIUM is not supported by this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini",
    model: "@vertex-ai/gemini-9-h3",
    facts: levels,
    request: { reasoning_effort: "medium" },
    refuses: has("MEDIUM"),
    sent: thinkingSent({ thinkingLevel: "LOW", includeThoughts: true }),
    adjusted: ["reasoning_effort=medium>low"]
  },
  {
    row: "H4",
    message: "Unable to submit request because The model does not support setting thinking_budget to 0",
    model: "@vertex-ai/gemini-9-h4",
    facts: budgets,
    request: { reasoning_effort: "none" },
    refuses: has('"thinkingBudget":0'),
    sent: thinkingSent({ thinkingBudget: 128, includeThoughts: false }),
    adjusted: ["reasoning_effort=none>128"]
  },
  {
    row: "H5",
    message: "The thinking budget (52428) is invalid.",
    model: "@google/gemini-9-h5",
    facts: levels,
    request: { thinking: { type: "enabled", budget_tokens: 52_428 } },
    refuses: has("52428"),
    sent: thinkingSent({ thinkingLevel: "HIGH", includeThoughts: true }),
    adjusted: ["thinking=52428>high"]
  },
  {
    row: "H6",
    message: "Budget 0 is invalid. This model only works in thinking mode.",
    model: "@google/gemini-9-h6",
    facts: budgets,
    request: { thinking: { type: "disabled" } },
    refuses: has('"thinkingBudget":0'),
    sent: thinkingSent({ thinkingBudget: 128, includeThoughts: false }),
    adjusted: ["thinking=none>128"]
  },
  {
    row: "H7",
    message: "Requests ending with a model turn are not supported.",
    model: "@google/gemini-9-h7",
    facts: budgets,
    request: {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "Once" }
      ]
    },
    refuses: ({ body }) => Array.isArray(body["contents"]) && body["contents"].length === 2,
    sent: {
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "Once" }] },
        { role: "user", parts: [{ text: "Continue exactly where your last message stopped." }] }
      ]
    },
    adjusted: ["messages=prefill>continue"]
  },
  {
    row: "H8",
    message: "Penalty is not enabled for this model",
    model: "@vertex-ai/gemini-9-h8",
    facts: budgets,
    request: { presence_penalty: 0.5, frequency_penalty: 0.5, seed: 1 },
    refuses: has("Penalty"),
    sent: config({ seed: 1 }),
    ignored: ["presence_penalty", "frequency_penalty"]
  },
  {
    row: "H9",
    message: "Logprobs is not enabled for models/gemini-9-h9",
    model: "@google/gemini-9-h9",
    facts: { ...budgets, sampling: { refused: [] } },
    request: { logprobs: true, top_logprobs: 2, seed: 1 },
    refuses: has("ogprobs"),
    sent: config({ seed: 1 }),
    ignored: ["logprobs", "top_logprobs"]
  },
  {
    row: "H10",
    message: "Unable to submit request because Logprobs is not supported for this model.",
    model: "@vertex-ai/gemini-9-h10",
    facts: { ...budgets, sampling: { refused: [] } },
    request: { logprobs: true, seed: 1 },
    refuses: has("ogprobs"),
    sent: config({ seed: 1 }),
    ignored: ["logprobs"]
  },
  {
    row: "H13",
    message: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work.",
    model: "@google/gemini-9-h13",
    facts: budgets,
    request: {
      tools,
      messages: [{ role: "user", content: "hi" }, called, { role: "tool", tool_call_id: "c1", content: "{}" }]
    },
    refuses: (call) => !has("thoughtSignature")(call),
    sent: {
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        {
          role: "model",
          parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "skip_thought_signature_validator" }]
        },
        { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] }
      ]
    },
    adjusted: ["messages=signature>sentinel"]
  },
  {
    row: "H14",
    message: "`temperature` is deprecated for this model.",
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-opus-4-6" },
    request: { temperature: 0.5 },
    refuses: has("temperature"),
    sent: { temperature: undefined },
    ignored: ["temperature"]
  },
  {
    row: "H15",
    message: "This model does not support assistant message prefill. The conversation must end with a user message.",
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-sonnet-4-5@20250929" },
    request: {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "Once" }
      ]
    },
    refuses: ({ body }) => Array.isArray(body["messages"]) && body["messages"].length === 2,
    sent: {
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: [{ type: "text", text: "Once" }] },
        { role: "user", content: [{ type: "text", text: "Continue exactly where your last message stopped." }] }
      ]
    },
    adjusted: ["messages=prefill>continue"]
  },
  {
    row: "H16",
    message: 'tool_choice: type "tool" and "any" are not supported for this model.',
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-opus-4-6" },
    request: { tools, tool_choice: "required" },
    refuses: has('"any"'),
    sent: { tool_choice: { type: "auto" } },
    adjusted: ["tool_choice=required>auto"]
  },
  {
    row: "H17",
    message:
      '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-opus-4-6" },
    request: { reasoning_effort: "none" },
    refuses: has('"disabled"'),
    sent: { thinking: undefined, output_config: { effort: "low" } },
    adjusted: ["reasoning_effort=none>low"]
  },
  {
    row: "H18",
    message: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-sonnet-4-5@20250929" },
    request: { thinking: { type: "enabled", budget_tokens: 8_192 }, max_tokens: 100 },
    refuses: has('"enabled"'),
    sent: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
    adjusted: ["thinking=budget>medium"]
  },
  {
    row: "H19",
    message:
      'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}.',
    model: "@vertex-ai/claude-nova-9",
    facts: { inherits: "claude-opus-4-6" },
    request: { reasoning_effort: "none" },
    refuses: has('"disabled"'),
    sent: { thinking: { type: "between_tools" } },
    adjusted: ["reasoning_effort=none>between_tools"]
  }
]

const idOf = (model: string): string => model.slice(model.indexOf("/") + 1)

describe("a refusal that a change of the call avoids", () => {
  it.effect.each(rows)(
    "healing: two calls for the first request, one for the next, and two again after an hour, row $row (M-1000)",
    ({ adjusted = [], facts, ignored = [], message, model, refuses, request, sent }) => {
      const { calls, layer } = world((call) => (refuses(call) ? message : undefined), { [idOf(model)]: facts })
      const headers = { ignored, adjusted }
      return Effect.gen(function* () {
        expect(yield* chat({ model, ...request })).toEqual(headers)
        expect(calls.map(refuses)).toEqual([true, false])
        expect(calls[1]?.body).toEqual({ ...calls[0]?.body, ...sent })
        expect(yield* chat({ model, ...request })).toEqual(headers)
        expect(calls).toEqual([calls[0], calls[1], calls[1]])
        yield* TestClock.adjust("1 hour")
        expect(yield* chat({ model, ...request })).toEqual(headers)
        expect(calls).toEqual([calls[0], calls[1], calls[1], calls[0], calls[1]])
      }).pipe(Effect.provide(layer))
    }
  )
})

const flash = { model: "@google/gemini-9-flash", presence_penalty: 0.5, logprobs: true, seed: 1 }
const flashFacts: ModelOverlays = { "gemini-9-flash": { ...budgets, sampling: { refused: [] } } }
const penalties = "Penalty is not enabled for this model"
const logprobs = "Logprobs is not enabled for models/gemini-9-flash"

describe("a refusal that is not healed", () => {
  it.effect("healing: hands on a refused second try unchanged, and learns nothing (M-900)", () => {
    const { calls, layer } = world(() => penalties, flashFacts)
    return Effect.gen(function* () {
      for (const callsSoFar of [2, 4]) {
        expect(yield* failing(chat(flash))).toMatchObject({
          _tag: "ProviderError",
          upstreamStatus: 400,
          reason: { _tag: "InvalidRequest", message: penalties }
        })
        expect(calls.length).toBe(callsSoFar)
      }
      expect(calls.map(has("presencePenalty"))).toEqual([true, false, true, false])
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "healing: hands on the refusal of a second try, also where the first one had another reason (M-900)",
    () => {
      const other = "Request contains an invalid argument."
      const { calls, layer } = world((call) => (has("presencePenalty")(call) ? penalties : other), flashFacts)
      return Effect.gen(function* () {
        expect(yield* failing(chat(flash))).toMatchObject({ reason: { message: other } })
        expect(calls.length).toBe(2)
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("healing: changes nothing for a request that wants its parameters as they are (M-903)", () => {
    const { calls, layer } = world((call) => (has("presencePenalty")(call) ? penalties : undefined), flashFacts)
    return Effect.gen(function* () {
      expect(yield* failing(chat(flash, { unsupported: "reject" }))).toMatchObject({ reason: { message: penalties } })
      expect(calls.length).toBe(1)
      yield* chat(flash)
      expect(calls.length).toBe(3)
      expect(yield* failing(chat(flash, { unsupported: "reject" }))).toMatchObject({
        _tag: "UnsupportedParameter",
        param: "presence_penalty"
      })
      expect(calls.length).toBe(3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: is off by the setting (M-903)", () => {
    const { calls, layer } = world(() => penalties, flashFacts, { heals: 0 })
    return Effect.gen(function* () {
      expect(yield* failing(chat(flash))).toMatchObject({ reason: { message: penalties } })
      expect(calls.length).toBe(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: leaves a refusal alone whose field was not sent (M-904)", () => {
    const { calls, layer } = world(() => penalties, flashFacts)
    return Effect.gen(function* () {
      expect(yield* failing(chat({ model: flash.model }))).toMatchObject({ reason: { message: penalties } })
      expect(calls.length).toBe(1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: asks for one candidate where several are refused, and for one the next time (H11)", () => {
    const { calls, layer } = world(
      (call) => (has("candidateCount")(call) ? "Multiple candidates is not enabled for this model" : undefined),
      { "gemini-9-one": budgets }
    )
    const request = { model: "@google/gemini-9-one", n: 2 }
    const served = { ignored: [], adjusted: ["n=2>1"] }
    return Effect.gen(function* () {
      expect(yield* chat(request)).toEqual(served)
      expect(yield* chat(request)).toEqual(served)
      expect(yield* chat({ model: request.model })).toEqual({ ignored: [], adjusted: [] })
      expect(calls.map(has("candidateCount"))).toEqual([true, false, false, false])
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: refuses tools with a schema in the gateway's words, and asks again the next time (H12)", () => {
    const { calls, layer } = world(
      () => "Function calling with a response mime type: 'application/json' is unsupported",
      {
        "gemini-9-json": budgets
      }
    )
    const request = { model: "@google/gemini-9-json", tools, response_format: { type: "json_object" } }
    return Effect.gen(function* () {
      for (const callsSoFar of [1, 2]) {
        expect(yield* failing(chat(request))).toMatchObject({
          _tag: "BodyInvalid",
          code: "tools_with_schema_unsupported",
          param: "response_format"
        })
        expect(calls.length).toBe(callsSoFar)
      }
    }).pipe(Effect.provide(layer))
  })
})

describe("a refusal that a client has to mend", () => {
  const message = "'claude-opus-5-5' does not support tool types: computer_20251124."
  const hinted = `${message} This model takes the tool type computer_toolset_20260801.`

  const refusing = (asked: Effect.Effect<unknown, GatewayError, ProviderRouter>, text: string) =>
    Effect.map(failing(asked), (error) =>
      expect(error).toMatchObject({ _tag: "ProviderError", upstreamStatus: 400, reason: { message: text } })
    )

  it.effect("healing: a refused computer tool gets a hint each time, and none in Anthropic's dialect (H22)", () => {
    const { calls, layer } = world(() => message)
    const ask = refusing(chat({ model: "@vertex-ai/claude-opus-5-5" }), hinted)
    return Effect.gen(function* () {
      yield* ask
      yield* ask
      yield* TestClock.adjust("1 hour")
      yield* ask
      yield* refusing(native(nativeText("")), message)
      expect(calls.length).toBe(4)
    }).pipe(Effect.provide(layer))
  })
})

describe("a refusal that holds for one conversation", () => {
  it.effect("healing: thinking of another history is left out, in each request again (H23, M-912)", () => {
    const message =
      "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to the conversation it was made in."
    const { calls, layer } = world((call) => (has('"type":"thinking"')(call) ? message : undefined))
    const thought = { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" }
    const request = {
      model: "@vertex-ai/claude-fable-5-2",
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: [thought, { type: "text", text: "Yes." }] },
        { role: "user", content: "More." }
      ]
    }
    return Effect.gen(function* () {
      for (const callsSoFar of [2, 4]) {
        expect(yield* chat(request)).toEqual({ ignored: [], adjusted: ["messages=thinking>dropped"] })
        expect(calls.length).toBe(callsSoFar)
        expect(calls.at(-1)?.body).toEqual({
          ...calls[0]?.body,
          messages: [
            { role: "user", content: [{ type: "text", text: "hi" }] },
            { role: "assistant", content: [{ type: "text", text: "Yes." }] },
            { role: "user", content: [{ type: "text", text: "More." }] }
          ]
        })
      }
      const bytes = `{"model": "@vertex-ai/claude-fable-5-2", "max_tokens": 5, "messages": ${JSON.stringify(request.messages)}}`
      expect(yield* failing(native(bytes))).toMatchObject({ reason: { message } })
      expect(calls.length).toBe(5)
    }).pipe(Effect.provide(layer))
  })
})

describe("an answer to a turn that healing adds", () => {
  const signedPart = { functionCall: { name: "f", args: {} }, thoughtSignature: "c2lnbmVk" }
  const thought = { text: "Hm.", thought: true, thoughtSignature: "c2lnbmVk" }
  const signed = reply([thought, signedPart], stop)

  it.effect("healing: has no signatures, as a whole and in a stream, and none is remembered (M-303)", () => {
    const isPrefilled = ({ body }: UpstreamCall) => Array.isArray(body["contents"]) && body["contents"].length === 2
    const { layer } = world(
      (call) => (isPrefilled(call) ? "Requests ending with a model turn are not supported." : undefined),
      { "gemini-9-flash": budgets },
      {},
      () => replying(signed),
      signed
    )
    const history = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "Once" }
    ]
    const signatures = (messages: ReadonlyArray<JsonObject>) =>
      Effect.gen(function* () {
        const router = yield* ProviderRouter
        const asked = { model: flash.model, tools, messages } as ChatRequest
        const context = { ...requestContext, startedMillis: yield* now }
        const { value } = yield* router.run("chat", asked, context)
        const opened = yield* router.open("chat", { ...asked, stream: true }, context)
        const chunks = yield* Stream.runCollect(opened.chunks)
        return [value, chunks].map((shown) => JSON.stringify(shown).split("c2lnbmVk").length - 1)
      })
    return Effect.gen(function* () {
      expect(yield* signatures(history)).toEqual([0, 0])
      expect(yield* signatures([...history, { role: "user", content: "More." }])).toEqual([3, 3])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})

describe("several refusals, streams and dry runs", () => {
  it.effect("healing: heals two refusals of one request, and both are avoided the next time (M-900)", () => {
    const { calls, layer } = world(
      (call) => (has("presencePenalty")(call) ? penalties : has("ogprobs")(call) ? logprobs : undefined),
      flashFacts
    )
    const headers = { ignored: ["presence_penalty", "logprobs"], adjusted: [] }
    return Effect.gen(function* () {
      expect(yield* chat(flash)).toEqual(headers)
      expect(calls.length).toBe(3)
      expect(yield* chat(flash)).toEqual(headers)
      expect(calls.length).toBe(4)
      expect(calls[3]).toEqual(calls[2])
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: gives up after as many changes as its limit (M-900)", () => {
    const { calls, layer } = world(
      (call) =>
        has("presencePenalty")(call)
          ? penalties
          : has("ogprobs")(call)
            ? logprobs
            : has("thinkingLevel")(call)
              ? "Thinking level is not supported for this model."
              : undefined,
      { "gemini-9-flash": { ...levels, sampling: { refused: [] } } },
      { heals: 2 }
    )
    return Effect.gen(function* () {
      expect(yield* failing(chat({ ...flash, reasoning_effort: "low" }))).toMatchObject({
        reason: { message: "Thinking level is not supported for this model." }
      })
      expect(calls.length).toBe(3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: heals a stream before its first chunk (M-900)", () => {
    const { calls, layer } = world((call) => (has("presencePenalty")(call) ? penalties : undefined), flashFacts)
    return Effect.gen(function* () {
      const router = yield* ProviderRouter
      const asked: ChatRequest = { ...flash, messages: [{ role: "user", content: "hi" }], stream: true }
      for (const callsSoFar of [2, 3]) {
        const opened = yield* router.open("chat", asked, { ...requestContext, startedMillis: yield* now })
        const chunks = yield* Stream.runCollect(opened.chunks)
        expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? "")).join("")).toBe("fine")
        expect(shown(opened.served)).toEqual({ ignored: ["presence_penalty"], adjusted: [] })
        expect(calls.length).toBe(callsSoFar)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("healing: a dry run shows what was learned, and sends nothing (M-905)", () => {
    const { calls, layer } = world((call) => (has("presencePenalty")(call) ? penalties : undefined), flashFacts)
    return Effect.gen(function* () {
      const router = yield* ProviderRouter
      const asked: ChatRequest = { ...flash, messages: [{ role: "user", content: "hi" }] }
      const explain = Effect.flatMap(now, (startedMillis) =>
        router.explain("chat", asked, { ...requestContext, startedMillis })
      )
      expect((yield* explain).ignored_params).toEqual([])
      yield* chat(flash)
      expect((yield* explain).ignored_params).toEqual(["presence_penalty"])
      expect((yield* explain).body).toEqual(calls[1]?.body)
      expect(calls.length).toBe(2)
    }).pipe(Effect.provide(layer))
  })
})

/** The body of a client on `/v1/messages`, in its own bytes. */
const native = (text: string, betas: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const router = yield* ProviderRouter
    const request = Result.getOrThrow(readMessagesRequest(JSON.parse(text), new TextEncoder().encode(text)))
    const context = { ...requestContext, startedMillis: yield* now, betas }
    const { served } = yield* router.run("messages", request, context)
    return shown(served)
  })

const nativeText = (more: string): string =>
  `{"model": "@vertex-ai/claude-opus-4-6", "max_tokens": 5, ${more}"messages": [{"role": "user", "content": "hi"}]}`

describe("messages in Anthropic's dialect", () => {
  it.effect("healing: takes refused betas off, one becomes its successor, and the body keeps its bytes (H20)", () => {
    const refused = new Set(["advanced-tool-use-2025-11-20", "effort-2025-11-24"])
    const { calls, layer } = world(({ betas = "" }) => {
      const unknown = betas.split(",").filter((beta) => refused.has(beta))
      return unknown.length === 0
        ? undefined
        : `Unexpected value(s) ${unknown.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header. Please consult our documentation.`
    })
    const betas = ["context-1m-2025-08-07", "effort-2025-11-24", "advanced-tool-use-2025-11-20"]
    return Effect.gen(function* () {
      for (const callsSoFar of [2, 3]) {
        expect(yield* native(nativeText(""), betas)).toEqual({
          ignored: ["anthropic-beta.effort-2025-11-24"],
          adjusted: ["anthropic-beta=advanced-tool-use-2025-11-20>tool-search-tool-2025-10-19"]
        })
        expect(calls.length).toBe(callsSoFar)
        expect(calls.at(-1)).toEqual({
          body: calls[0]?.body,
          betas: "context-1m-2025-08-07,tool-search-tool-2025-10-19"
        })
      }
      yield* TestClock.adjust("1 hour")
      yield* native(nativeText(""), betas)
      expect(calls.slice(3)).toEqual(calls.slice(0, 2))
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: a refused version becomes that of Vertex AI, also the next time (H24)", () => {
    const { calls, layer } = world((call) =>
      call.body["anthropic_version"] === "2026-10-21"
        ? "anthropic_version: Input should be 'vertex-2023-10-16'"
        : undefined
    )
    return Effect.gen(function* () {
      for (const callsSoFar of [2, 3]) {
        expect(yield* native(nativeText('"anthropic_version": "2026-10-21", '))).toEqual({
          ignored: [],
          adjusted: ["anthropic_version=2026-10-21>vertex-2023-10-16"]
        })
        expect(calls.length).toBe(callsSoFar)
        expect(calls.at(-1)?.body).toEqual({ ...calls[0]?.body, anthropic_version: "vertex-2023-10-16" })
      }
      yield* TestClock.adjust("1 hour")
      yield* native(nativeText('"anthropic_version": "2026-10-21", '))
      expect(calls.length).toBe(5)
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: leaves out a field that needs a beta (H21)", () => {
    const { calls, layer } = world((call) =>
      has("context_management")(call) ? "context_management: Extra inputs are not permitted" : undefined
    )
    return Effect.gen(function* () {
      for (const callsSoFar of [2, 3]) {
        expect(yield* native(nativeText('"context_management": {"edits": []}, '))).toEqual({
          ignored: ["context_management", "anthropic-beta.context-management-2025-06-27"],
          adjusted: []
        })
        expect(calls.length).toBe(callsSoFar)
      }
      expect(calls[1]?.body).toEqual({ ...calls[0]?.body, context_management: undefined })
      yield* TestClock.adjust("1 hour")
      yield* native(nativeText('"context_management": {"edits": []}, '))
      expect(calls.slice(3)).toEqual(calls.slice(0, 2))
    }).pipe(Effect.provide(layer))
  })

  it.effect("healing: hands on a refusal of what belongs to the client (M-903)", () => {
    const message = "This model does not support assistant message prefill."
    const { calls, layer } = world(() => message)
    return Effect.gen(function* () {
      expect(yield* failing(native(nativeText("")))).toMatchObject({ reason: { message } })
      expect(calls.length).toBe(1)
    }).pipe(Effect.provide(layer))
  })
})

describe("a long answer", () => {
  it.effect("healing: changes every call of an answer that is continued (M-601)", () => {
    let good = 0
    const { calls, layer } = world(
      (call) => (has("MINIMAL")(call) ? "Thinking level MINIMAL is not supported for this model." : undefined),
      { "gemini-4-argon": { thinking: { levels: ["minimal", "low", "medium", "high"] } } },
      {},
      () =>
        replying(
          good++ === 0
            ? reply([{ text: "fi" }], { finishReason: "CONTINUATION", continuationToken: "dG9rZW4=" })
            : reply([{ text: "ne" }], stop)
        )
    )
    const request = { model: "@google/gemini-4-argon", max_tokens: 100_000, reasoning_effort: "minimal" }
    return Effect.gen(function* () {
      expect(yield* chat(request)).toEqual({ ignored: [], adjusted: ["reasoning_effort=minimal>low"] })
      expect(calls.length).toBe(3)
      expect(calls[2]?.body).toEqual({ ...calls[1]?.body, continuationToken: "dG9rZW4=" })
      expect(calls.map(has("MINIMAL"))).toEqual([true, false, false])
    }).pipe(Effect.provide(layer))
  })
})
