// Tests the client against misbehaving servers: errors, limits, silence, broken streams, retries and timeouts.
// Must not reach the network beyond its own sockets.
import { afterEach, describe, expect, it } from "vitest"
import {
  type CallOptions,
  type ChatChunk,
  type Client,
  type ClientFailure,
  type ClientOptions,
  createClient,
  factsOf,
  GatewayFailure
} from "../../src/client/Client.ts"
import { passTime, stopTime } from "../support/stoppedTime.ts"
import { frames, hangUp, json, type ScriptedServer, scriptedServer, silence, type Step } from "./scriptedServer.ts"

const running: Array<ScriptedServer> = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})
const start = async (...steps: ReadonlyArray<Step>): Promise<ScriptedServer> => {
  const server = await scriptedServer(...steps)
  running.push(server)
  return server
}

const body = { model: "@google/gemini-2.5-flash", messages: [{ role: "user", content: "Hello" }] } as const
const clientOf = (server: ScriptedServer, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: server.url, apiKey: "mgk_x", ...options })
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  choices: [
    { index: 0, message: { role: "assistant", content: "Hi", refusal: null }, logprobs: null, finish_reason: "stop" }
  ]
}
const refusal = (type: string, code: string, param: string | null = null) => ({
  error: { message: `It is ${code}.`, type, param, code }
})

const caught = async (call: Promise<unknown>): Promise<ClientFailure> => {
  try {
    await call
  } catch (error) {
    if (error instanceof GatewayFailure) return error as ClientFailure
    throw error
  }
  throw new Error("The call did not fail.")
}
/** No second try, unless the test is about tries. */
const once: CallOptions = { maxRetries: 0 }
const chat = (server: ScriptedServer, options: CallOptions = once) =>
  clientOf(server).chat.completions.create(body, options)
const factsIn = ({ _tag, code, message, param, requestId, retryAfterMillis, status, type }: ClientFailure) => ({
  _tag,
  status,
  type,
  code,
  param,
  requestId,
  retryAfterMillis,
  message
})

describe("error answers", () => {
  it.each([
    [400, "invalid_request_error", "invalid_value", "messages[0].content", "RequestInvalid"],
    [401, "authentication_error", "invalid_gateway_key", null, "AuthenticationFailed"],
    [403, "permission_error", "model_not_allowed", "model", "PermissionDenied"],
    [404, "not_found_error", "model_not_found", "model", "NotFound"],
    [413, "invalid_request_error", "request_too_large", null, "RequestInvalid"],
    [429, "rate_limit_error", "rate_limit_exceeded", null, "RateLimited"],
    [429, "insufficient_quota", "insufficient_quota", null, "QuotaExhausted"],
    [429, "rate_limit_error", "insufficient_quota", null, "QuotaExhausted"],
    [502, "api_error", "upstream_bad_response", null, "ServiceFailed"],
    [503, "api_error", "overloaded", null, "ServiceFailed"],
    [504, "api_error", "upstream_timeout", null, "ServiceFailed"]
  ])("error answer: %i %s %s is its failure class", async (status, type, code, param, tag) => {
    const server = await start(json(status, refusal(type, code, param), { "x-request-id": "request-1" }))
    expect(factsIn(await caught(chat(server)))).toEqual({
      _tag: tag,
      status,
      type,
      code,
      param: param ?? undefined,
      requestId: "request-1",
      retryAfterMillis: undefined,
      message: `It is ${code}.`
    })
  })

  it.each([
    [413, "request_too_large", "RequestInvalid"],
    [429, "rate_limit_error", "RateLimited"],
    [429, "billing_error", "QuotaExhausted"],
    [529, "overloaded_error", "ServiceFailed"]
  ])("error answer in Anthropic's dialect: %i %s is its failure class", async (status, type, tag) => {
    const server = await start(
      json(status, { type: "error", error: { type, message: "No." }, request_id: "request-2" })
    )
    const failure = await caught(clientOf(server).messages.create({ model: "m", max_tokens: 1, messages: [] }, once))
    expect(factsIn(failure)).toEqual({
      _tag: tag,
      status,
      type,
      code: undefined,
      param: undefined,
      requestId: "request-2",
      retryAfterMillis: undefined,
      message: "No."
    })
  })

  it("error answer: reports the provider that failed, when the answer names it", async () => {
    const server = await start(
      json(502, {
        error: { ...refusal("api_error", "upstream_error").error, provider: "google", upstream_status: 500 }
      })
    )
    const { provider, upstreamStatus } = await caught(chat(server))
    expect([provider, upstreamStatus]).toEqual(["google", 500])
  })

  it("error answer of a proxy: is classified by its status", async () => {
    const server = await start((response) => {
      response.writeHead(404, { "content-type": "text/html" }).end("<h1>Nothing here</h1>")
    })
    expect(factsIn(await caught(chat(server)))).toEqual({
      _tag: "NotFound",
      status: 404,
      type: undefined,
      code: undefined,
      param: undefined,
      requestId: undefined,
      retryAfterMillis: undefined,
      message: "The gateway answered 404: <h1>Nothing here</h1>"
    })
  })

  it("failure: is an Error with a name for printing", async () => {
    const server = await start(json(404, refusal("not_found_error", "model_not_found")))
    expect(String(await caught(chat(server)))).toBe("NotFound: It is model_not_found.")
  })
})

describe("retries", () => {
  const limited = (headers: Record<string, string>) =>
    json(429, refusal("rate_limit_error", "rate_limit_exceeded"), headers)

  it("retry: waits as long as the answer asks", async () => {
    const server = await start(limited({ "retry-after-ms": "1" }), json(200, completion))
    expect((await chat(server, {})).choices[0]?.message.content).toBe("Hi")
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(2).fill("POST /v1/chat/completions"))
    expect(server.seen[0]?.body).toBe(server.seen[1]?.body)
  })

  it("retry: happens twice, then the call fails with the last failure", async () => {
    const server = await start(
      limited({ "retry-after-ms": "1" }),
      limited({ "retry-after-ms": "1" }),
      limited({ "retry-after-ms": "2", "x-request-id": "third" })
    )
    const failure = await caught(chat(server, {}))
    expect([server.seen.length, failure._tag, failure.requestId, failure.retryAfterMillis]).toEqual([
      3,
      "RateLimited",
      "third",
      2
    ])
  })

  it("retry: follows a connection that broke before an answer", async () => {
    const server = await start(hangUp, json(200, completion))
    expect((await clientOf(server, { maxRetries: 1 }).chat.completions.create(body)).id).toBe("chatcmpl-1")
  })

  it.each([
    ["the answer forbids it", limited({ "x-should-retry": "false", "retry-after-ms": "1" })],
    ["the request is wrong", json(400, refusal("invalid_request_error", "invalid_value"), { "retry-after-ms": "1" })],
    [
      "the budget is spent",
      json(429, refusal("insufficient_quota", "insufficient_quota"), { "x-should-retry": "false" })
    ]
  ])("retry: does not happen when %s", async (_why, step) => {
    const server = await start(step)
    await caught(chat(server, {}))
    expect(server.seen).toHaveLength(1)
  })

  it("retry: follows an answer that asks for it, whatever its status", async () => {
    const server = await start(
      json(400, refusal("invalid_request_error", "odd"), { "x-should-retry": "true", "retry-after-ms": "1" }),
      json(200, completion)
    )
    await chat(server, {})
    expect(server.seen).toHaveLength(2)
  })

  it("retry: never follows the first byte of an answer", async () => {
    const server = await start((response) => {
      response
        .writeHead(200, { "content-type": "application/json", "content-length": "1000", "x-request-id": "r" })
        .write("{")
      setImmediate(() => response.destroy())
    })
    const failure = await caught(chat(server, {}))
    expect([server.seen.length, failure._tag, failure.requestId]).toEqual([1, "AnswerBroken", "r"])
  })

  it("retry: does not happen for a caller that aborted during the wait", async () => {
    const leaving = new AbortController()
    let calls = 0
    const fetch: typeof globalThis.fetch = async () => {
      calls++
      // The wait begins before any timer fires.
      setTimeout(() => leaving.abort(), 0)
      return new Response(JSON.stringify(refusal("rate_limit_error", "rate_limit_exceeded")), {
        status: 429,
        headers: { "retry-after": "50" }
      })
    }
    const client = createClient({ baseUrl: "http://gateway.invalid", fetch })
    expect([(await caught(client.chat.completions.create(body, { signal: leaving.signal })))._tag, calls]).toEqual([
      "Aborted",
      1
    ])
  })
})

const chunk = (content: string, more: Partial<ChatChunk> = {}) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more })}\n\n`
const done = "data: [DONE]\n\n"

const collect = async (
  server: ScriptedServer,
  options: CallOptions = once
): Promise<{ readonly text: string; readonly failure: ClientFailure | undefined }> => {
  let text = ""
  const stream = await clientOf(server).chat.completions.create({ ...body, stream: true }, options)
  try {
    for await (const one of stream) text += one.choices[0]?.delta.content ?? ""
    return { text, failure: undefined }
  } catch (error) {
    return { text, failure: await caught(Promise.reject(error)) }
  }
}

describe("streams", () => {
  it("stream: yields its chunks wherever the bytes are cut, and has the facts of its headers", async () => {
    const whole = chunk("Hé") + ": ping\n\n" + chunk("llo") + done
    const bytes = Buffer.from(whole)
    const server = await start((response) => {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "x-request-id": "request-1",
        "x-gateway-ignored-params": "user,store",
        "x-gateway-adjusted-params": "reasoning_effort=max>high"
      })
      for (const byte of bytes) response.write(Buffer.of(byte))
      response.end()
    })
    expect(await collect(server)).toEqual({ text: "Héllo", failure: undefined })
    const stream = await clientOf(server).chat.completions.create({ ...body, stream: true }, once)
    expect(factsOf(stream)).toEqual({
      requestId: "request-1",
      traceId: undefined,
      provider: undefined,
      optionIndex: undefined,
      retryCount: undefined,
      cacheStatus: undefined,
      costUsd: undefined,
      isCostPartial: false,
      ignoredParams: ["user", "store"],
      adjustedParams: ["reasoning_effort=max>high"]
    })
    stream.abort()
  })

  it("stream: throws an error frame as its failure, after the earlier chunks", async () => {
    const server = await start(
      frames([chunk("Hel"), `data: ${JSON.stringify(refusal("api_error", "upstream_error"))}\n\n`])
    )
    const { failure, text } = await collect(server)
    expect(text).toBe("Hel")
    expect(failure === undefined ? undefined : factsIn(failure)).toEqual({
      _tag: "ServiceFailed",
      status: undefined,
      type: "api_error",
      code: "upstream_error",
      param: undefined,
      requestId: "request-1",
      retryAfterMillis: undefined,
      message: "It is upstream_error."
    })
  })

  it.each([
    ["ends without its end event", frames([chunk("Hel")]), "Hel", "The stream broke off before its end."],
    [
      "is cut inside a frame",
      frames([chunk("Hel"), 'data: {"id":"c","cho']),
      "Hel",
      "The stream holds an event that is no JSON."
    ],
    [
      "contains something other than events",
      frames([chunk("Hel"), "data: hello\n\n"]),
      "Hel",
      "The stream holds an event that is no JSON."
    ],
    [
      "is not valid UTF-8",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(Buffer.of(0x64, 0xff, 0xfe, 0x0a))
      },
      "",
      "The stream cannot be read as events."
    ],
    [
      "has no body",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end()
      },
      "",
      "The stream broke off before its end."
    ]
  ] satisfies ReadonlyArray<readonly [string, Step, string, string]>)(
    "stream: is broken when it %s",
    async (_how, step, text, message) => {
      const got = await collect(await start(step))
      expect([got.text, got.failure?._tag, got.failure?.message]).toEqual([text, "AnswerBroken", message])
    }
  )

  it("stream: fails as broken when its connection is torn", async () => {
    const { failure } = await collect(await start(frames([chunk("Hel")], "torn")))
    expect([failure?._tag, failure?.requestId]).toEqual(["AnswerBroken", "request-1"])
  })

  it("stream: closes its connection when the loop is left", async () => {
    const server = await start(frames([chunk("a"), chunk("b")], "open"))
    for await (const one of await clientOf(server).chat.completions.create({ ...body, stream: true })) {
      expect(one.choices[0]?.delta.content).toBe("a")
      break
    }
    await server.gone(0)
  })

  it("stream: abort ends it with Aborted and closes the connection", async () => {
    const server = await start(frames([chunk("a")], "open"))
    const stream = await clientOf(server).chat.completions.create({ ...body, stream: true })
    const failure = await caught(
      (async () => {
        for await (const one of stream) if (one.choices.length > 0) stream.abort()
      })()
    )
    expect(failure._tag).toBe("Aborted")
    await server.gone(0)
  })

  it("stream: ends by the caller's signal, before and during the answer", async () => {
    const server = await start(frames([chunk("a")], "open"))
    const leaving = new AbortController()
    const stream = await clientOf(server).chat.completions.create({ ...body, stream: true }, { signal: leaving.signal })
    const within = await caught(
      (async () => {
        for await (const one of stream) if (one.choices.length > 0) leaving.abort()
      })()
    )
    const before = await caught(
      clientOf(server).chat.completions.create({ ...body, stream: true }, { signal: AbortSignal.abort() })
    )
    expect([within._tag, before._tag, server.seen.length]).toEqual(["Aborted", "Aborted", 1])
    await server.gone(0)
  })

  it("stream: times out when it is silent", async () => {
    stopTime()
    const server = await start(frames([chunk("a")], "open"))
    const options = { maxRetries: 0, timeoutMillis: 50 }
    const stream = await clientOf(server).chat.completions.create({ ...body, stream: true }, options)
    const chunks = stream[Symbol.asyncIterator]()
    expect((await chunks.next()).value?.choices[0]?.delta.content).toBe("a")
    const silent = caught(chunks.next())
    passTime(50)
    expect((await silent)._tag).toBe("TimedOut")
  })

  it("stream: ends with the last event, even when the server keeps the connection open", async () => {
    expect(await collect(await start(frames([chunk("a"), done], "open")))).toEqual({ text: "a", failure: undefined })
  })

  it("stream of messages: ends with message_stop, skips pings, and throws an event named error", async () => {
    const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
      `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
    const started = event({ type: "message_start", message: {} })
    const server = await start(
      frames([started, event({ type: "ping" }), event({ type: "message_stop" })]),
      frames([started, event({ type: "error", error: { type: "overloaded_error", message: "Too much." } })]),
      frames([started])
    )
    const read = async () => {
      const types: Array<string> = []
      const request = { model: "m", max_tokens: 1, messages: [], stream: true } as const
      try {
        for await (const { type } of await clientOf(server).messages.create(request)) types.push(type)
      } catch (error) {
        types.push(error instanceof GatewayFailure ? String(error) : "other")
      }
      return types
    }
    expect([await read(), await read(), await read()]).toEqual([
      ["message_start", "message_stop"],
      ["message_start", "ServiceFailed: Too much."],
      ["message_start", "AnswerBroken: The stream broke off before its end."]
    ])
  })
})

describe("calls", () => {
  it("call without an answer: times out", async () => {
    expect((await caught(chat(await start(silence), { maxRetries: 0, timeoutMillis: 50 })))._tag).toBe("TimedOut")
  })

  it("call: is aborted by the caller, and the server sees it", async () => {
    const leaving = new AbortController()
    const server = await start(() => leaving.abort())
    expect((await caught(chat(server, { signal: leaving.signal })))._tag).toBe("Aborted")
    await server.gone(0)
    expect(server.seen).toHaveLength(1)
  })

  it.each([
    ["a body that is not JSON", { ...body, seed: 1n }, {}],
    ["an invalid header", body, { traceId: "a\nb" }]
  ])("call: is refused before it is sent with %s", async (_what, odd, options) => {
    const server = await start(json(200, completion))
    const create: (body: never, options: CallOptions) => Promise<unknown> = clientOf(server).chat.completions.create
    const failure = await caught(Reflect.apply(create, undefined, [odd, options]))
    expect([
      failure._tag,
      failure.status,
      failure.message.startsWith("The call cannot be written as a request: ")
    ]).toEqual(["RequestInvalid", undefined, true])
    expect(server.seen).toEqual([])
  })

  it.each([undefined, new URL("http://127.0.0.1:1")])(
    "call: to the base URL %s is refused with the expected form",
    async (baseUrl) => {
      const client: Client = Reflect.apply(createClient, undefined, [{ baseUrl, maxRetries: 0 }])
      const failure = await caught(client.models.list())
      expect([failure._tag, failure.message]).toEqual([
        "RequestInvalid",
        "The call cannot be written as a request: baseUrl is no text; give the gateway's address, such as http://127.0.0.1:8787"
      ])
    }
  )

  it("call without a body: rejects with a failure", async () => {
    const server = await start(
      json(400, {
        error: {
          message: "The request body is empty.",
          type: "invalid_request_error",
          param: null,
          code: "invalid_json"
        }
      })
    )
    const failure = await caught(Reflect.apply(clientOf(server).chat.completions.create, undefined, []))
    expect([failure._tag, failure.code]).toEqual(["RequestInvalid", "invalid_json"])
  })

  it("call without a server: fails to connect", async () => {
    const server = await scriptedServer(silence)
    await server.close()
    const failure = await caught(chat(server))
    expect([failure._tag, failure.message.startsWith(`No answer from ${server.url}/v1/chat/completions: `)]).toEqual([
      "ConnectionFailed",
      true
    ])
  })

  it("call: follows no redirect, which could leak the key", async () => {
    const elsewhere = await start(json(200, completion))
    const server = await start((response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/chat/completions` }).end()
    })
    expect((await caught(chat(server)))._tag).toBe("ConnectionFailed")
    expect(elsewhere.seen).toEqual([])
  })

  it.each([
    ["text", "hello"],
    ["a list", "[]"],
    ["an empty body", ""]
  ])("call: an answer of %s is broken", async (_what, text) => {
    const server = await start((response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(text)
    })
    const failure = await caught(chat(server))
    expect([failure._tag, failure.message]).toEqual(["AnswerBroken", "The answer is no JSON object."])
  })

  it("call: sends the client's headers, then its own, and accepts a base URL with or without version", async () => {
    const server = await start(json(200, completion))
    const client = createClient({
      baseUrl: `${server.url}/v1/`,
      apiKey: "mgk_x",
      provider: "google",
      strict: false,
      headers: { "X-Team": "a", "x-other": "b" }
    })
    await client.chat.completions.create(body, {
      provider: "vertex-ai",
      requestTimeoutMillis: 5000,
      headers: { "x-team": "c" }
    })
    const { headers, url } = server.seen[0] ?? { headers: {}, url: "" }
    expect(url).toBe("/v1/chat/completions")
    const sent = Object.entries(headers).filter(
      ([name]) => name.startsWith("x-") || name === "content-type" || name === "authorization"
    )
    expect(Object.fromEntries(sent)).toEqual({
      "content-type": "application/json",
      "x-gateway-api-key": "mgk_x",
      "x-gateway-provider": "vertex-ai",
      "x-gateway-request-timeout": "5000",
      "x-gateway-strict-schema-compliance": "false",
      "x-other": "b",
      "x-team": "c"
    })
  })
})
