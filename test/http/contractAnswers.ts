// The answers that the contract of both faces expects, to the byte, and what its scripted network sends.
// Must not depend on a face.
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { TransportRequest } from "../../src/upstream/HttpExchange.ts"
import type { ScriptedResponse } from "../../src/upstream/Transport.ts"
import { replying } from "../support/scripted.ts"
import { noUrl } from "./face.ts"

/** The clocks stand still, the wall's on 2026-07-01, and timers run. */
export const seconds = Date.UTC(2026, 6) / 1000
export const clock: Clock.Clock = Object.assign(Object.create(Context.get(Context.empty(), Clock.Clock)), {
  currentTimeMillisUnsafe: () => seconds * 1000,
  currentTimeMillis: Effect.succeed(seconds * 1000),
  monotonicTimeNanosUnsafe: () => 0n
})

/** The id that the gateway makes, in both forms. */
export const freshId = "01a1feb1-fd44-7fb5-884a-aa19e8c22cad"
export const number = freshId.replaceAll("-", "")

type Headers = Readonly<Record<string, string>>

export const ids: Headers = {
  "cache-control": "no-store",
  "request-id": "r1",
  "x-gateway-trace-id": "t1",
  "x-request-id": "r1"
}
export const served: Headers = {
  "x-gateway-cache-status": "DISABLED",
  "x-gateway-last-used-option-index": "0",
  "x-gateway-provider": "google",
  "x-gateway-retry-attempt-count": "0"
}
export const servedByVertex: Headers = { ...served, "x-gateway-provider": "vertex-ai" }
/** A complete answer of the usual model shows its cost as well. */
export const paidFor: Headers = { ...served, "x-gateway-cost-usd": "0.00001" }

/** Everything a client sees, without what a connection adds. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

const json = (body: string): Headers => ({
  "content-type": "application/json",
  "content-length": String(Buffer.byteLength(body))
})

/** A complete answer: the ids, the type and the length of its body. */
export const whole = (status: number, value: unknown, headers: Headers = {}): Seen => {
  const body = typeof value === "string" ? value : JSON.stringify(value)
  // Of a client's own faults only those of time pass.
  const signal = status < 400 || status >= 500 || status === 408 || status === 429 ? {} : { "x-should-retry": "false" }
  return { status, headers: { ...ids, ...json(body), ...signal, ...headers }, body }
}

/** A complete answer of a route that gives no ids. */
export const withoutIds = (body: string): Seen => ({
  status: 200,
  headers: { "cache-control": "no-store", ...json(body) },
  body
})

/** The answer to HEAD where this one is to GET. */
export const withoutBody = (answer: Seen): Seen => ({ ...answer, body: "" })

/** A stream of Google's provider. */
export const stream = (body: string, headers: Headers = {}): Seen => ({
  status: 200,
  headers: {
    ...ids,
    ...served,
    "cache-control": "no-cache, no-transform",
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    ...headers
  },
  body
})

export const openAiError = (type: string, code: string, message: string, param: string | null = null) => ({
  error: { message, type, param, code }
})
/** A refused request in OpenAI's form. */
export const invalid = (code: string, message: string, { headers = {}, param = "", status = 400 } = {}): Seen =>
  whole(status, openAiError("invalid_request_error", code, message, param === "" ? null : param), headers)

export const anthropicError = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "r1"
})

export const googleError = (code: number, status: string, reason: string, message: string) => {
  const metadata = { requestId: "r1" }
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "model-gateway", metadata }
  return { error: { code, message, status, details: [info] } }
}

/** An error of a path of operators. */
export const problem = (status: number, name: string, detail: string): Seen =>
  whole(
    status,
    { type: `urn:model-gateway:error:${name}`, title: name.replaceAll("_", " "), status, detail, instance: "r1" },
    { "content-type": "application/problem+json" }
  )

export const unknownUrl = whole(404, openAiError("not_found_error", "unknown_url", noUrl))

export const modelId = "gemini-3.8-flash"
export const model = `@google/${modelId}`
export const contents = [{ role: "user", parts: [{ text: "Hi" }] }]

/** An answer of Gemini. */
export const said = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
})
export const ended = said("Hé", { finishReason: "STOP" })

export const sse = (...events: ReadonlyArray<unknown>): string =>
  events.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join("")
/** An event with a name, as Anthropic and the Responses API have it. */
export const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
export const streaming = (...chunks: ReadonlyArray<string>): ScriptedResponse => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks
})
/** A refusal of the upstream. */
export const notNow = (code: number, status: string, headers: Headers = {}): ScriptedResponse => ({
  status: code,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify({ error: { code, message: "Not now.", status } })]
})

/** What the network sends unless a test scripts it otherwise. */
export const usual = ({ url }: TransportRequest): ScriptedResponse => {
  if (url.endsWith("streamGenerateContent?alt=sse")) return streaming(sse(ended))
  if (url.endsWith(":streamRawPredict")) return streaming(event("message_start"), event("message_stop"))
  if (url.endsWith(":countTokens")) return replying({ totalTokens: 7 })
  if (url.includes("/count-tokens")) return replying({ input_tokens: 9 })
  if (url.endsWith(":rawPredict")) return replying({ type: "message", id: "m", content: [] })
  if (url.endsWith(":batchEmbedContents")) return replying({ embeddings: [{ values: [0.5] }] })
  if (url.endsWith(":predict"))
    return replying({ predictions: [{ mimeType: "image/png", bytesBase64Encoded: "AAAA" }] })
  return replying(ended)
}

/** The completion of `ended`. */
export const completion = {
  id: `chatcmpl-${freshId}`,
  object: "chat.completion",
  created: seconds,
  model: modelId,
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } },
  choices: [
    { index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content: "Hé", refusal: null } }
  ]
}

const chunk = (finish_reason: string | null, delta: object): string => {
  const { created, id, model } = completion
  const choices = [{ index: 0, finish_reason, delta }]
  return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model, choices })}\n\n`
}
/** The chunks of a completion that has begun. */
export const chunks = (content: string): string =>
  chunk(null, { role: "assistant", content: "" }) + chunk(null, { content })
export const done = `${chunk("stop", {})}data: [DONE]\n\n`

const item = {
  id: `msg_${number}0000`,
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Hé", annotations: [], logprobs: [] }]
}
/** A response without an answer; with `complete`, that of `ended`. */
export const response = (status: string, more: object) => ({
  id: `resp_${number}`,
  object: "response",
  created_at: seconds,
  completed_at: null,
  status,
  error: null,
  incomplete_details: null,
  model: modelId,
  output: [],
  usage: null,
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {},
  frequency_penalty: 0,
  presence_penalty: 0,
  ...more
})
export const complete = {
  completed_at: seconds,
  output: [item],
  usage: {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 5
  }
}
