// Builds the HTTP layer over a scripted router, as a function of web requests.
// Must not depend on a test.
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { GatewayError } from "../../src/domain/GatewayError.ts"
import { defaultLimits, Limits, type LimitValues } from "../../src/domain/Limits.ts"
import type { ProviderAccount } from "../../src/domain/ProviderAccount.ts"
import type { ProviderError } from "../../src/domain/ProviderError.ts"
import type { RequestContext, ServedBy } from "../../src/domain/RequestContext.ts"
import type { Operation } from "../../src/domain/operations.ts"
import type { HttpApiServices } from "../../src/http/HttpApi.ts"
import { layerStandIns } from "../../src/StandIns.ts"
import { webFace, type WebFace } from "../support/ways.ts"
import type { Operations } from "../../src/provider/Provider.ts"
import { ProviderRouter } from "../../src/router/ProviderRouter.ts"
import type { ChatChunk, ChatCompletion } from "../../src/wire/openai/ChatReply.ts"

export const key = "mgk_face000000000000000000000000000000"
export const narrowKey = "mgk_narrow0000000000000000000000000000"

/** The message for a path that is neither served nor a common mistake. */
export const noUrl =
  "There is no such URL here: served are /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings, /v1/images/generations, /v1/models and Google's own paths below /v1beta, /v1/projects and /v1/publishers."

const account = (slug: string, models?: ReadonlyArray<string>): ProviderAccount => ({
  slug,
  kind: "google",
  project_id: undefined,
  region: undefined,
  credentials: undefined,
  origin: "stored",
  endpoints: {},
  models,
  api_version: undefined,
  quota_project: undefined,
  base_url: undefined,
  token_url: undefined
})

export const served: ServedBy = {
  slug: "gemini",
  kind: "google",
  modelId: "gemini-2.5-flash",
  issuer: "gemini/google",
  optionIndex: 0,
  retryCount: 0,
  cache: "DISABLED",
  ignored: []
}

export const fullCompletion: ChatCompletion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "@gemini/gemini-2.5-flash",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hé", refusal: null, reasoning_content: "hm" },
      logprobs: null,
      finish_reason: "stop",
      native_finish_reason: "STOP"
    }
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  provider: "gemini"
}

const chunk = (choices: ChatChunk["choices"]): ChatChunk => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices
})
export const fullChunks: ReadonlyArray<ChatChunk> = [
  chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]),
  chunk([{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }]),
  chunk([{ index: 0, delta: { content: "Hé\n\ndata: [DONE]" }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: "stop", native_finish_reason: "STOP" }]),
  { ...chunk([]), usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }
]

/** What the router was asked, and what it answers. */
export interface Script {
  readonly calls: Array<{
    readonly verb: string
    readonly operation: Operation
    readonly request: Operations[Operation]["request"]
    readonly context: RequestContext
  }>
  value: Effect.Effect<Operations[Operation]["out"], GatewayError>
  chunks: Stream.Stream<ChatChunk, ProviderError>
  open: Effect.Effect<void, GatewayError>
  served: ServedBy
}

export const script = (): Script => ({
  calls: [],
  value: Effect.succeed(fullCompletion),
  chunks: Stream.fromIterable(fullChunks),
  open: Effect.void,
  served
})

const router = (script: Script): Layer.Layer<ProviderRouter> =>
  Layer.succeed(ProviderRouter, {
    run: <Op extends Operation>(operation: Op, request: Operations[Op]["request"], context: RequestContext) => {
      script.calls.push({ verb: "run", operation, request, context })
      return Effect.map(script.value, (value) => ({ value: value as Operations[Op]["out"], served: script.served }))
    },
    open: <Op extends Operation>(operation: Op, request: Operations[Op]["request"], context: RequestContext) => {
      script.calls.push({ verb: "open", operation, request, context })
      return Effect.as(script.open, {
        chunks: script.chunks as Stream.Stream<Operations[Op]["chunk"], ProviderError>,
        served: script.served,
        usage: () => undefined,
        progress: () => ({ isCounted: true, characters: 0 }),
        keepsRequest: false
      })
    },
    targets: () => Effect.succeed([{ slug: script.served.slug, modelId: script.served.modelId, params: {} }]),
    explain: (operation, request, context) => {
      script.calls.push({ verb: "explain", operation, request, context })
      return Effect.succeed({
        object: "dry_run",
        provider: "gemini",
        target_index: 0,
        method: "POST",
        url: "https://host/path",
        headers: {},
        body: {},
        ignored_params: [],
        adjusted_params: []
      })
    }
  })

export const services = (script: Script, limits: Partial<LimitValues> = {}): Layer.Layer<HttpApiServices> =>
  layerStandIns({
    accounts: [account("gemini", ["gemini-2.5-flash", "anthropic.claude-x"]), account("google")],
    keys: [
      { name: "test", key: Redacted.make(key) },
      { name: "narrow", key: Redacted.make(narrowKey), providers: ["google"], models: ["gemini-2.5-flash*"] }
    ]
  }).pipe(
    Layer.provideMerge(router(script)),
    Layer.provideMerge(Layer.succeed(Limits, { ...defaultLimits, readyDelayMillis: 0, ...limits }))
  )

export interface Face {
  readonly script: Script
  readonly send: (path: string, init?: RequestInit) => Promise<Response>
  /** A POST with the key and JSON. */
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>
  /** The same to /v1/chat/completions. */
  readonly chat: (body: unknown, headers?: Record<string, string>) => Promise<Response>
  readonly dispose: () => Promise<void>
}

/** `over` serves it; the ring by default. */
export const face = (limits: Partial<LimitValues> = {}, over: WebFace = webFace): Face => {
  const scripted = script()
  const { dispose, handler } = over(services(scripted, limits))
  const send = (path: string, init: RequestInit = {}) => handler(new Request(`http://gateway${path}`, init))
  const post: Face["post"] = (path, body, headers = {}) =>
    send(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": key, "x-request-id": "r1", ...headers },
      body: body instanceof Uint8Array ? new Uint8Array(body) : typeof body === "string" ? body : JSON.stringify(body)
    })
  return { script: scripted, send, post, chat: (body, headers) => post("/v1/chat/completions", body, headers), dispose }
}

export const hello = { model: "@gemini/gemini-2.5-flash", messages: [{ role: "user", content: "Hi" }] }
