// The contract of two faces: the ring, and the routes mounted in a router of Effect, give one request the same answer.
// Must not depend on the face that answers, except in the last part, which has what holds for the router alone.
import { gunzipSync } from "node:zlib"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { TransportScript } from "../../src/upstream/Transport.ts"
import { accountedGateway, type AccountedGateway, adminKey } from "../support/accounted.ts"
import { within } from "../support/eventually.ts"
import { promptsOf } from "../support/prompts.ts"
import { gatewayKey } from "../support/TestGateway.ts"
import { overRouter, webFace } from "../support/ways.ts"
import {
  anthropicError,
  chunks,
  clock,
  complete,
  completion,
  contents,
  done,
  ended,
  event,
  freshId,
  googleError,
  ids,
  invalid,
  model,
  modelId,
  notNow,
  number,
  openAiError,
  problem,
  response,
  said,
  seconds,
  type Seen,
  paidFor,
  served,
  servedByVertex,
  sse,
  stream,
  streaming,
  unknownUrl,
  usual,
  whole,
  withoutBody,
  withoutIds
} from "./contractAnswers.ts"
import { face, fullChunks, hello, key } from "./face.ts"

const limitedKey = "mgk_limited00000000000000000000000000"
const poorKey = "mgk_poor0000000000000000000000000000"
const narrowKey = "mgk_narrow0000000000000000000000000000"
const bodyBytes = 2000

const toChat = "POST /v1/chat/completions"
const toMessages = "POST /v1/messages"
const toResponses = "POST /v1/responses"
const native = `/v1beta/models/${modelId}`
const messages = [{ role: "user", content: "Hi" }]
const chat = { model, messages }
const toClaude = { model: "@vertex-ai/anthropic.claude-sonnet-4-6", messages }
const topic = { variables: { topic: "rain" } }

interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
/** What is sent, and what comes back. */
type Row = readonly [title: string, request: string, sent: Sent, expected: Seen]

const only = (allow: string): Seen =>
  invalid("method_not_allowed", `This URL takes ${allow} only.`, { status: 405, headers: { allow } })
const alive = withoutIds('{"status":"ok"}')
const row = whole(200, { id: model, object: "model", created: 1_788_307_200, owned_by: "google" })
const nativeRow = whole(200, {
  name: `models/${model}`,
  baseModelId: modelId,
  version: "001",
  displayName: "Gemini 3.8 Flash",
  supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"]
})
const noNativeUrl =
  "There is no such path here. Served are generateContent, streamGenerateContent, countTokens, computeTokens, embedContent, batchEmbedContents, predict, rawPredict, streamRawPredict of models, and lists of models."
const noBatches = "There is no such URL here: message batches are not offered; send the messages one by one."
const noWebSocket = "There are no WebSockets here; send the request by POST, and stream the answer as events."
const preflight = { origin: "https://app.example", "access-control-request-method": "GET" }

const paths: ReadonlyArray<Row> = [
  ["a route of GET", "GET /health/live", {}, alive],
  ["HEAD of a route of GET", "HEAD /health/live", {}, withoutBody(alive)],
  ["the root", "GET /", {}, withoutIds('{"name":"model-gateway","version":"0.1.0","status":"ok","docs":"/docs"}')],
  ["readiness", "GET /readyz", {}, withoutIds('{"status":"ok","checks":{"config":"ok"},"version":"0.1.0"}')],
  ["an unknown path (B4)", "GET /v1/nothing", {}, unknownUrl],
  ["HEAD of an unknown path (B4)", "HEAD /v1/nothing", {}, withoutBody(unknownUrl)],
  ["a path in capitals (B4)", "GET /V1/models", {}, unknownUrl],
  ["a broken escape (B6)", "GET /v1/models/%zz", {}, unknownUrl],
  ["a doubled slash (B6)", "GET /v1/models//x", {}, unknownUrl],
  ["another method (B5)", "GET /v1/chat/completions", {}, only("POST")],
  ["HEAD of a route of POST (B5)", "HEAD /v1/chat/completions", {}, withoutBody(only("POST"))],
  ["a method of WebDAV (B5)", "PROPFIND /v1/models", {}, only("GET")],
  ["a preflight where no page may call", "OPTIONS /v1/models", { headers: preflight }, only("GET")],
  ["a model", `GET /v1/models/${model}`, {}, row],
  ["a model with an escaped slash", `GET /v1/models/${model.replace("/", "%2F")}`, {}, row],
  ["a model after a doubled version", `GET /v1/v1/models/${model}`, {}, row],
  ["a model before a last slash and a query", `GET /v1/models/${model}/?x=1`, {}, row],
  ["a model in Google's dialect", `GET ${native}`, {}, nativeRow],
  ["HEAD of a model in Google's dialect", `HEAD ${native}`, {}, withoutBody(nativeRow)],
  [
    "an unknown path of Google's dialect",
    "GET /v1beta/nothing",
    {},
    whole(404, googleError(404, "NOT_FOUND", "UNKNOWN_URL", noNativeUrl))
  ],
  [
    "another method of Google's dialect",
    `GET ${native}:generateContent`,
    {},
    whole(405, googleError(405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED", "This URL takes POST only."), { allow: "POST" })
  ],
  [
    "an unknown path of Anthropic's dialect",
    "POST /v1/messages/batches",
    { body: {} },
    whole(404, anthropicError("not_found_error", noBatches))
  ],
  [
    "a WebSocket (R113)",
    "GET /v1/responses",
    { headers: { upgrade: "websocket" } },
    invalid("upgrade_required", noWebSocket, { status: 426 })
  ],
  ["the console, where there is none", "GET /console/", {}, unknownUrl]
]

const dryRun = { "x-gateway-dry-run": "true" }
const shownCall = whole(200, {
  object: "dry_run",
  provider: "google",
  target_index: 0,
  method: "POST",
  url: `https://generativelanguage.googleapis.com${native}:generateContent`,
  headers: { "content-type": "application/json", "x-goog-api-key": "<redacted>" },
  body: { contents },
  ignored_params: [],
  adjusted_params: []
})
const text = JSON.stringify(chat)
const tooLarge = (bytes: number): Seen =>
  invalid(
    "request_too_large",
    `The request is larger than ${bytes} bytes; send large media as a gs:// or Files API URL.`,
    { status: 413 }
  )
const typed = (type: string): Sent => ({ body: text, headers: { "content-type": type } })
const unsupported = (code: string, message: string): Seen => invalid(code, message, { status: 415 })
const brokenJson = "The request body is not valid JSON"

const bodies: ReadonlyArray<Row> = [
  ["a dry run", toChat, { body: chat, headers: dryRun }, shownCall],
  ["a body after a byte order mark (B16)", toChat, { body: `\uFEFF${text}`, headers: dryRun }, shownCall],
  ["a body of just the limit (B22)", toChat, { body: text.padEnd(bodyBytes), headers: dryRun }, shownCall],
  ["a body over the limit (B22)", toChat, { body: text.padEnd(bodyBytes + 1) }, tooLarge(bodyBytes)],
  ["a body over its route's limit", "POST /v1/prompts/haiku/render", { body: " ".repeat(1001) }, tooLarge(1000)],
  ["no body (B11)", toChat, { body: "" }, invalid("empty_body", "The request body is empty; send a JSON object.")],
  ["a list (B12)", toChat, { body: [] }, invalid("body_not_object", "The request body must be a JSON object.")],
  ["half a body (B13)", toChat, { body: "{" }, invalid("invalid_json", `${brokenJson}: it breaks at character 1.`)],
  [
    "half a body in Google's dialect",
    `POST ${native}:generateContent`,
    { body: "{" },
    whole(400, googleError(400, "INVALID_ARGUMENT", "INVALID_JSON", `${brokenJson}.`))
  ],
  [
    "a body in Latin-1 (B14)",
    toChat,
    { body: Uint8Array.of(0x7b, 0x22, 0xe9, 0x22, 0x7d) },
    invalid("invalid_utf8", "The request body is not valid UTF-8.")
  ],
  [
    "a body of another type (B8)",
    toChat,
    typed("text/plain"),
    unsupported("unsupported_content_type", "Send the body as content-type: application/json.")
  ],
  [
    "a body whose type names another encoding (B9)",
    toChat,
    typed("application/json; charset=utf-16"),
    unsupported("unsupported_charset", "Send the body in UTF-8.")
  ],
  [
    "a compressed body (B10)",
    toChat,
    { body: text, headers: { "content-encoding": "gzip" } },
    unsupported("unsupported_content_encoding", "Send the body without content-encoding.")
  ],
  [
    "a parameter of a wrong type (B73)",
    toChat,
    { body: { ...chat, stream: "hot" } },
    invalid("invalid_type", "stream has the wrong type: expected boolean.", { param: "stream" })
  ]
]

const keyed = (key: string, body: unknown = chat): Sent => ({ body, headers: { "x-gateway-api-key": key } })
const noKey = "No gateway key: send it as x-gateway-api-key, or as the API key of your SDK."
const wrongKey = "The gateway key is not valid."
const unauthorized = (code: string, message: string): Seen =>
  whole(401, openAiError("authentication_error", code, message))
const asAdmin = { headers: { "x-gateway-api-key": adminKey } }
const timeout = "x-gateway-request-timeout"

const keys: ReadonlyArray<Row> = [
  ["a request without a key (B1)", toChat, keyed(""), unauthorized("missing_gateway_key", noKey)],
  ["an unknown key (B2)", toChat, keyed("mgk_other"), unauthorized("invalid_gateway_key", wrongKey)],
  ["a key beyond ASCII (B2)", toChat, keyed("é"), unauthorized("invalid_gateway_key", wrongKey)],
  [
    "a key of another provider",
    toChat,
    keyed(narrowKey),
    whole(
      403,
      openAiError("permission_error", "model_not_allowed", 'This key may not use the provider "google".', "model")
    )
  ],
  [
    "an unknown key in Google's dialect",
    `POST ${native}:generateContent`,
    keyed("mgk_other", { contents }),
    whole(401, googleError(401, "UNAUTHENTICATED", "INVALID_GATEWAY_KEY", wrongKey))
  ],
  ["an inference key on a path of operators", "GET /admin/v1/keys", {}, problem(401, "invalid_gateway_key", wrongKey)],
  [
    "an unknown path of operators",
    "GET /admin/v1/nothing",
    asAdmin,
    problem(404, "unknown_url", "There is no such URL here: the admin API lives under /admin/v1.")
  ],
  [
    "a faulty header (B113)",
    toChat,
    { body: chat, headers: { [timeout]: "5s" } },
    invalid("invalid_header", `${timeout} is a positive whole number of milliseconds.`, { param: timeout })
  ]
]

const count = whole(200, { object: "token_count", model: modelId, input_tokens: 7 }, served)
const streamed = { ...toClaude, max_tokens: 5, stream: true }
const embeddings = {
  object: "list",
  model: "gemini-embedding-2",
  usage: { prompt_tokens: 0, total_tokens: 0 },
  data: [{ object: "embedding", index: 0, embedding: [0.5] }]
}
const noPrompt = openAiError("not_found_error", "prompt_not_found", "There is no such prompt.", "id")

const operations: ReadonlyArray<Row> = [
  ["a chat", toChat, { body: chat }, whole(200, completion, paidFor)],
  ["a stream of a chat", toChat, { body: { ...chat, stream: true } }, stream(chunks("Hé") + done)],
  ["a token count of a chat", `${toChat}/count_tokens`, { body: chat }, count],
  [
    "a message",
    toMessages,
    { body: { ...toClaude, max_tokens: 5 } },
    whole(200, { type: "message", id: "m", content: [] }, servedByVertex)
  ],
  [
    "a stream of a message",
    toMessages,
    { body: streamed },
    stream(event("message_start") + event("message_stop"), servedByVertex)
  ],
  [
    "a token count of a message",
    `${toMessages}/count_tokens`,
    { body: toClaude },
    whole(200, { input_tokens: 9 }, servedByVertex)
  ],
  [
    "embeddings, and a parameter they ignore",
    "POST /v1/embeddings",
    { body: { model: "@google/gemini-embedding-2", input: "a", user: "u" } },
    whole(200, embeddings, { ...served, "x-gateway-ignored-params": "user" })
  ],
  [
    "an image, and the end of its model",
    "POST /v1/images/generations",
    { body: { model: "@vertex-ai/imagen-4.0-generate-001", prompt: "a cat" } },
    whole(
      200,
      { created: seconds, output_format: "png", data: [{ b64_json: "AAAA" }] },
      {
        ...servedByVertex,
        "x-gateway-cost-usd": "0.04",
        "x-gateway-model-warning": "shut_down; successor=gemini-3.1-flash-image"
      }
    )
  ],
  ["a prompt", "POST /v1/prompts/haiku/completions", { body: topic }, whole(200, completion, paidFor)],
  [
    "the text of a prompt",
    "POST /v1/prompts/haiku/render",
    { body: topic },
    whole(200, { success: true, data: { model, messages: [{ role: "user", content: "About rain" }] } })
  ],
  ["a prompt that does not exist", "POST /v1/prompts/a%20b/render", { body: {} }, whole(404, noPrompt)],
  ["a call in Google's dialect", `POST ${native}:generateContent`, { body: { contents } }, whole(200, ended, paidFor)],
  [
    "a stream in Google's dialect",
    `POST ${native}:streamGenerateContent?alt=sse&key=x`,
    { body: { contents } },
    stream(sse(ended))
  ],
  [
    "a token count in Google's dialect",
    `POST ${native}:countTokens`,
    { body: { contents } },
    whole(200, { totalTokens: 7 }, served)
  ]
]

const truncated = "The upstream closed the connection in the middle of its answer."
const half = said("Hel")
const openAiCut = `data: ${JSON.stringify(openAiError("api_error", "upstream_truncated", truncated))}\n\n`
const anthropicCut = `event: error\ndata: ${JSON.stringify(anthropicError("api_error", truncated))}\n\n`
const googleCut = googleError(502, "INTERNAL", "UPSTREAM_TRUNCATED", truncated)
const array = `[${JSON.stringify(half)}`

/** Streams whose connection is reset after these bytes. */
const cuts: ReadonlyArray<readonly [title: string, request: string, body: object, bytes: string, expected: Seen]> = [
  ["a chat", toChat, { ...chat, stream: true }, sse(half), stream(chunks("Hel") + openAiCut)],
  [
    "a message",
    toMessages,
    streamed,
    event("message_start"),
    stream(event("message_start") + anthropicCut, servedByVertex)
  ],
  [
    "events in Google's dialect",
    `POST ${native}:streamGenerateContent?alt=sse`,
    { contents },
    sse(half),
    stream(sse(half, googleCut))
  ],
  [
    "an array in Google's dialect",
    `POST ${native}:streamGenerateContent`,
    { contents },
    array,
    stream(`${array},${JSON.stringify(googleCut)}]`, { "content-type": "application/json; charset=UTF-8" })
  ]
]

/** The limits of a key that takes one request a minute, after that one. */
const limits = {
  "x-ratelimit-limit-requests": "1",
  "x-ratelimit-remaining-requests": "0",
  "x-ratelimit-reset-requests": "1m0s",
  "x-ratelimit-limit-tokens": "1000",
  "x-ratelimit-remaining-tokens": "995",
  "x-ratelimit-reset-tokens": "300ms"
}

const faces = describe.each([
  ["ring", webFace],
  ["router", overRouter]
] as const)

/** What a client sees of an answer, which takes in its body. */
const seenOf = async (answer: Response): Promise<Seen> => {
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== "connection"))
  return { status: answer.status, headers, body: await answer.text() }
}

faces("contract of the %s", (_name, over) => {
  let script: TransportScript = usual
  let gateway: AccountedGateway
  beforeAll(() => {
    gateway = accountedGateway((request) => script(request), {
      over,
      prompts: promptsOf([{ id: "haiku", model, messages: [{ role: "user", content: "About {{topic}}" }] }]),
      limits: { bodyBytes, promptsBodyBytes: 1000 },
      settings: {
        keys: [
          { name: "test", key: Redacted.make(gatewayKey) },
          { name: "boss", key: Redacted.make(adminKey), scopes: ["admin"] },
          { name: "narrow", key: Redacted.make(narrowKey), providers: ["vertex-ai"] },
          { name: "poor", key: Redacted.make(poorKey), budget: { usd: 0.000001, per: "month" } },
          {
            name: "limited",
            key: Redacted.make(limitedKey),
            rate_limit: { requests_per_minute: 1, requests_burst: 1, tokens_per_minute: 1000, tokens_burst: 1000 }
          }
        ]
      },
      references: Layer.succeed(Clock.Clock, clock)
    })
  })
  afterAll(() => gateway.dispose())
  afterEach(() => {
    script = usual
  })

  const answerTo = async (request: string, { body, headers = {} }: Sent = {}): Promise<Seen> => {
    const [method = "", path = ""] = request.split(" ")
    const content = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
    const answer = await gateway.send(path, {
      method,
      headers: {
        "x-gateway-api-key": gatewayKey,
        "x-request-id": "r1",
        "x-gateway-trace-id": "t1",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: content as string })
    })
    return seenOf(answer)
  }

  it.each([...paths, ...bodies, ...keys, ...operations])(
    "contract: answers %s",
    async (_title, request, sent, expected) => {
      expect(await answerTo(request, sent)).toStrictEqual(expected)
    }
  )

  it("contract: answers a response, and keeps it until it is deleted", async () => {
    const id = `resp_${number}`
    const asked = `msg_${number}8000`
    const content = [{ type: "input_text", text: "Hi" }]
    const items = [{ type: "message", role: "user", content, id: asked, status: "completed" }]
    const list = { object: "list", data: items, first_id: asked, last_id: asked, has_more: false }
    const made = response("completed", complete)
    expect(await answerTo(toResponses, { body: { model, input: "Hi" } })).toStrictEqual(whole(200, made, paidFor))
    expect(await answerTo(`GET /v1/responses/${id}`)).toStrictEqual(whole(200, made))
    expect(await answerTo(`GET /v1/responses/${id}/input_items`)).toStrictEqual(whole(200, list))
    expect(await answerTo(`DELETE /v1/responses/${id}`)).toStrictEqual(
      whole(200, { id, object: "response", deleted: true })
    )
    expect(await answerTo(`GET /v1/responses/${id}`)).toStrictEqual(
      whole(404, openAiError("not_found_error", "response_not_found", "There is no such response.", "response_id"))
    )
  })

  it("contract: ends the events of a response with its whole, and with a failure where they are cut", async () => {
    const lastEvent = async () => {
      const { body, ...rest } = await answerTo(toResponses, {
        body: { model, input: "Hi", stream: true, store: false }
      })
      return { ...rest, body: body.slice(body.lastIndexOf("event: ")) }
    }
    const made = response("completed", { ...complete, store: false })
    expect(await lastEvent()).toStrictEqual(stream(event("response.completed", { sequence_number: 8, response: made })))
    script = () => ({ ...streaming(sse(half)), fault: "reset" })
    const failed = response("failed", { store: false, error: { code: "server_error", message: truncated } })
    expect(await lastEvent()).toStrictEqual(stream(event("response.failed", { sequence_number: 6, response: failed })))
  })

  it.each(cuts)("contract: ends a stream of %s that is cut (T1318)", async (_title, request, body, bytes, expected) => {
    script = () => ({ ...streaming(bytes), fault: "reset" })
    expect(await answerTo(request, { body })).toStrictEqual(expected)
  })

  it.each([false, true])("contract: passes the delay of an upstream that is busy, stream %s (B108)", async (stream) => {
    script = () => notNow(429, "RESOURCE_EXHAUSTED", { "retry-after": "7" })
    expect(await answerTo(toChat, { body: { ...chat, stream } })).toStrictEqual(
      whole(429, openAiError("rate_limit_error", "rate_limit_exceeded", "Not now."), {
        ...served,
        "retry-after": "7",
        "retry-after-ms": "7000"
      })
    )
  })

  it("contract: answers an error in the first event of a stream as an ordinary one (T1317)", async () => {
    script = () => streaming(sse({ error: { code: 503, message: "Not now.", status: "UNAVAILABLE" } }))
    expect(await answerTo(`POST ${native}:streamGenerateContent?alt=sse`, { body: { contents } })).toStrictEqual(
      whole(503, googleError(503, "UNAVAILABLE", "UPSTREAM_UNAVAILABLE", "Not now."), served)
    )
  })

  it("contract: answers 502 where the upstream refuses the stored credential (B105)", async () => {
    script = () => notNow(401, "UNAUTHENTICATED")
    const refused = 'The gateway\'s credential for "google" was refused by Google; ask its operator: Not now.'
    expect(await answerTo(toChat, { body: chat })).toStrictEqual(
      whole(502, openAiError("api_error", "upstream_credentials_rejected", refused), {
        ...served,
        "x-should-retry": "false"
      })
    )
  })

  it.each([false, true])("contract: ends a request at its deadline, stream %s (S12)", async (stream) => {
    // The wall clock stands still, so the deadline has never passed before the call.
    script = () => Effect.never
    const total = stream ? "timeouts.total" : "request_timeout or timeouts.total"
    const late = `The upstream did not finish its answer within 20 ms (limits.totalMillis, x-gateway-request-timeout, or ${total} of the config).`
    expect(await answerTo(toChat, { body: { ...chat, stream }, headers: { [timeout]: "20" } })).toStrictEqual(
      whole(504, openAiError("api_error", "upstream_timeout", late), served)
    )
  })

  it("contract: makes ids, takes a trace, and answers under both prefixes", async () => {
    const idsOf = async (headers: Readonly<Record<string, string>>) => {
      const answer = await gateway.send("/v1/models", { headers: { "x-api-key": gatewayKey, ...headers } })
      return Object.fromEntries([...answer.headers].filter(([name]) => name.endsWith("-id")))
    }
    const trace = "0af7651916cd43dd8448eb211c80319c"
    const made = { "request-id": freshId, "x-request-id": freshId, "x-gateway-trace-id": number }
    expect(await idsOf({})).toStrictEqual(made)
    expect(await idsOf({ traceparent: `00-${trace}-b7ad6b7169203331-01` })).toStrictEqual({
      ...made,
      "x-gateway-trace-id": trace
    })
    expect(await idsOf({ "x-portkey-trace-id": "t 1", "x-request-id": "é" })).toStrictEqual({
      ...made,
      "x-gateway-trace-id": "t 1",
      "x-portkey-trace-id": "t 1"
    })
  })

  it.each([
    ["authorization", `Bearer ${gatewayKey}`],
    ["x-api-key", gatewayKey],
    ["api-key", gatewayKey],
    ["x-portkey-api-key", gatewayKey]
  ])("contract: takes a key in %s (T2203)", async (name, value) => {
    const answer = await gateway.send(`/v1/models/${model}`, { headers: { [name]: value } })
    expect([answer.status, await answer.text()]).toStrictEqual([200, row.body])
  })

  it("contract: reports the limits of a key, and refuses beyond them", async () => {
    const full = "The gateway key has reached its limit of 1 requests a minute; try again in 60 s."
    expect(await answerTo(toChat, keyed(limitedKey))).toStrictEqual(whole(200, completion, { ...paidFor, ...limits }))
    expect(await answerTo(toChat, keyed(limitedKey))).toStrictEqual(
      whole(429, openAiError("rate_limit_error", "rate_limit_exceeded", full), {
        ...limits,
        "retry-after": "60",
        "retry-after-ms": "60000"
      })
    )
  })

  it("contract: refuses what the budget of a key does not allow", async () => {
    const spent =
      "This request may cost 0.015364 US dollars, and 0.000001 are left of the gateway key's budget of 0.000001 a month. Lower max_tokens, or let an operator raise budget.usd of the key."
    expect(await answerTo(toChat, keyed(poorKey))).toStrictEqual(
      whole(402, openAiError("insufficient_quota", "insufficient_quota", spent), { "x-should-retry": "false" })
    )
  })

  it("contract: makes, shows, keeps and removes an entry of operators", async () => {
    const path = "/admin/v1/configs/a"
    const made = await answerTo("POST /admin/v1/configs", { body: { id: "a", config: {} }, ...asAdmin })
    const { etag = "" } = made.headers
    const at = "2026-07-01T00:00:00.000Z"
    const entry = { object: "config", id: "a", config: {}, source: "store", version: 1, created_at: at, updated_at: at }
    expect(made).toStrictEqual(whole(201, entry, { etag, location: path }))
    expect(await answerTo(`GET ${path}`, asAdmin)).toStrictEqual(whole(200, { ...entry, versions: [1] }, { etag }))
    const stale = { body: { config: {} }, headers: { ...asAdmin.headers, "if-match": '"9"' } }
    const changed = "It has changed since; version 1 is there now. Read it again, and send its ETag as If-Match."
    expect(await answerTo(`PUT ${path}`, stale)).toStrictEqual(problem(412, "version_mismatch", changed))
    expect(await answerTo(`DELETE ${path}`, asAdmin)).toStrictEqual({ status: 204, headers: ids, body: "" })
    expect(await answerTo(`GET ${path}`, asAdmin)).toStrictEqual(
      problem(404, "config_not_found", "There is no such config.")
    )
  })

  it.each(["/openapi.json", "/docs/quickstart"])(
    "contract: compresses %s for clients that ask, and does not send it again to those that have it",
    async (path) => {
      const plain = await gateway.send(path)
      const etag = plain.headers.get("etag") ?? ""
      const zipped = await gateway.send(path, { headers: { "accept-encoding": "gzip" } })
      const again = await gateway.send(path, { headers: { "if-none-match": etag } })
      const headersOf = ({ headers, status }: Response) => [
        status,
        ...["content-encoding", "vary", "cache-control", "etag"].map((name) => headers.get(name))
      ]
      expect([plain, zipped, again].map(headersOf)).toStrictEqual([
        [200, null, "accept-encoding", "no-cache", etag],
        [200, "gzip", "accept-encoding", "no-cache", etag],
        [304, null, "accept-encoding", "no-cache", etag]
      ])
      const unzipped = gunzipSync(await zipped.arrayBuffer()).toString()
      expect([unzipped, await again.text()]).toStrictEqual([await plain.text(), ""])
    }
  )
})

faces("contract of the %s for requests that end badly", (_name, over) => {
  it("contract: hides the message of a defect, before a stream and in it (F44)", async () => {
    const { chat, dispose, script } = face({}, over)
    script.value = Effect.die(new Error("secret /path"))
    script.chunks = Stream.die(new Error("secret /path"))
    const hidden = "The gateway failed unexpectedly; the request id names the log entry."
    const error = JSON.stringify(openAiError("api_error", "internal_error", hidden))
    const [whole, part] = [await chat(hello), await chat({ ...hello, stream: true })]
    expect([whole.status, await whole.text()]).toStrictEqual([500, error])
    expect([part.status, await part.text()]).toStrictEqual([200, `data: ${error}\n\n`])
    await dispose()
  })

  it("contract: refuses a request beyond those that may run (B103)", async () => {
    const { chat, dispose } = face({ inFlight: 0 }, over)
    const full = "The gateway is at its limit of requests; try again shortly."
    expect(await seenOf(await chat(hello, { "x-gateway-trace-id": "t1" }))).toStrictEqual(
      whole(503, openAiError("api_error", "overloaded", full), { "retry-after": "1", "retry-after-ms": "1000" })
    )
    await dispose()
  })

  it.each([false, true])("contract: interrupts the call of a client that leaves, stream %s (F26)", async (stream) => {
    const { dispose, script, send } = face({}, over)
    const begun = Deferred.makeUnsafe<void>()
    const left = Deferred.makeUnsafe<boolean>()
    const waiting = Effect.ensuring(
      Effect.andThen(Deferred.succeed(begun, undefined), Effect.never),
      Deferred.succeed(left, true)
    )
    script.value = waiting
    script.chunks = Stream.concat(Stream.fromIterable(fullChunks.slice(0, 1)), Stream.fromEffect(waiting))
    const leaving = new AbortController()
    const sent = send("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-gateway-api-key": key },
      body: JSON.stringify({ ...hello, stream }),
      signal: leaving.signal
    })
    const answered = stream ? sent : sent.catch(() => "left")
    await within("the call", Effect.runPromise(Deferred.await(begun)))
    if (stream) await answered
    leaving.abort()
    expect(await within("the end of the call", Effect.runPromise(Deferred.await(left)))).toBe(true)
    await dispose()
  })

  it("contract: counts and lists requests", async () => {
    const gateway = accountedGateway(usual, { over, references: Layer.succeed(Clock.Clock, clock) })
    for (const body of [chat, { ...chat, stream: true }, { model }])
      await (await gateway.post("/v1/chat/completions", body)).text()
    const requests = 'gateway_requests_total{route="/v1/chat/completions",'
    expect((await gateway.metrics()).filter((line) => line.startsWith("gateway_requests_total"))).toStrictEqual([
      `${requests}provider="google",model="${modelId}",status_class="2xx"} 2`,
      `${requests}provider="none",model="none",status_class="4xx"} 1`
    ])
    const listed = (tick: number) => ({
      object: "request",
      id: freshId,
      request_id: "request-1",
      trace_id: number,
      ts: `2026-07-01T00:00:00.00${tick}Z`,
      route: "/v1/chat/completions",
      key_id: "test"
    })
    const missing = { error_code: "missing_required_parameter", error_message: "messages is missing." }
    const attempt = { target: 0, provider: "google", model: modelId, started_ms: 1 }
    const tokens = { input_tokens: 3, output_tokens: 2, reasoning_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 }
    const paid = { cache: "DISABLED", cost_usd: 0.00001, usage: { ...tokens, images: 0 } }
    const served = { status: 200, provider: "google", model: modelId, target: 0, overhead_ms: 2, ...paid }
    const refused = { status: 400, overhead_ms: 1, ...missing, error_param: "messages" }
    expect(await gateway.admin("/admin/v1/requests")).toStrictEqual({
      object: "list",
      data: [
        { ...listed(1), ...refused, stream: false, duration_ms: 1, attempts: [] },
        {
          ...listed(5),
          ...served,
          stream: true,
          duration_ms: 5,
          ttft_ms: 3,
          attempts: [{ ...attempt, duration_ms: 4, first_chunk_ms: 1 }]
        },
        { ...listed(3), ...served, stream: false, duration_ms: 3, attempts: [{ ...attempt, duration_ms: 1 }] }
      ],
      next_cursor: null
    })
    await gateway.dispose()
  })
})

describe("the router alone", () => {
  it("mounted routes: the answer to a WebSocket closes its connection (R113)", async () => {
    const { dispose, send } = face({}, overRouter)
    const answer = await send("/v1/responses", { headers: { upgrade: "websocket" } })
    expect([answer.status, answer.headers.get("connection")]).toStrictEqual([426, "close"])
    await dispose()
  })
})
