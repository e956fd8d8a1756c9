// Tests POST /v1/chat/completions through the whole HTTP layer: exact bytes and headers.
// Must not depend on a translator: the chat service is a fake.
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import { face, fullChunks, fullCompletion, hello, key, script, served } from "./face.ts"

const gateway = face()
afterAll(() => gateway.dispose())
beforeEach(() => {
  Object.assign(gateway.script, { ...script(), calls: gateway.script.calls })
  gateway.script.calls.length = 0
})

const loose = { "x-gateway-strict-schema-compliance": "false" }
const failed = (reason: ProviderError["reason"]) => new ProviderError({ slug: "gemini", reason, upstreamStatus: 503 })
const truncated = failed({ _tag: "BadReply", kind: "truncated", message: "The upstream stream ended early." })

describe("unary chat", () => {
  it("chat: a strict answer has only published fields, in one buffer with its length", async () => {
    const answer = await gateway.chat(hello)
    const text = await answer.text()
    expect(text).toBe(
      '{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"@gemini/gemini-2.5-flash","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"choices":[{"index":0,"finish_reason":"stop","logprobs":null,"message":{"role":"assistant","content":"Hé","refusal":null}}]}'
    )
    const { "x-gateway-trace-id": trace, ...headers } = Object.fromEntries(answer.headers)
    expect(trace).toMatch(/^[\da-f]{32}$/)
    expect(headers).toStrictEqual({
      "cache-control": "no-store",
      "content-length": String(Buffer.byteLength(text)),
      "content-type": "application/json",
      "request-id": "r1",
      "x-gateway-cache-status": "DISABLED",
      "x-gateway-last-used-option-index": "0",
      "x-gateway-provider": "gemini",
      "x-gateway-retry-attempt-count": "0",
      "x-request-id": "r1"
    })
  })

  it("chat: a non-strict answer has the full form", async () => {
    expect(await (await gateway.chat(hello, loose)).text()).toBe(JSON.stringify(fullCompletion))
  })

  it("chat: an alias gets headers under both prefixes; ignored parameters are listed in header-safe form", async () => {
    gateway.script.served = { ...served, ignored: ["logit_bias", "störe\r\nx"], retryCount: 1 }
    const answer = await gateway.send("/v1/v1/chat/completions", {
      method: "POST",
      headers: {
        "content-type": 'Application/JSON; charset="UTF-8"',
        "x-portkey-api-key": key,
        "x-portkey-strict-open-ai-compliance": "false",
        "x-portkey-trace-id": "t 1",
        "x-request-id": "r1"
      },
      body: `\uFEFF${JSON.stringify(hello)}`
    })
    expect(await answer.json()).toEqual(fullCompletion)
    expect(Object.fromEntries(answer.headers)).toEqual({
      "cache-control": "no-store",
      "content-length": expect.any(String),
      "content-type": "application/json",
      "request-id": "r1",
      "x-request-id": "r1",
      "x-gateway-trace-id": "t 1",
      "x-gateway-provider": "gemini",
      "x-gateway-retry-attempt-count": "1",
      "x-gateway-last-used-option-index": "0",
      "x-gateway-cache-status": "DISABLED",
      "x-gateway-ignored-params": "logit_bias,st?re??x",
      "x-portkey-trace-id": "t 1",
      "x-portkey-provider": "gemini",
      "x-portkey-retry-attempt-count": "1",
      "x-portkey-last-used-option-index": "0",
      "x-portkey-cache-status": "DISABLED",
      "x-portkey-ignored-params": "logit_bias,st?re??x"
    })
  })

  it("chat: a dry run explains the call and sends nothing", async () => {
    const answer = await gateway.chat({ ...hello, stream: true }, { "x-gateway-dry-run": "true" })
    expect(gateway.script.calls.map((call) => call.verb)).toEqual(["explain"])
    expect(await answer.json()).toEqual({
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
  })

  it("chat: a refused stored credential is a 502 without a retry, with details only when not strict (B105)", async () => {
    gateway.script.value = Effect.fail(failed({ _tag: "CredentialsRejected", origin: "stored", message: "Refused." }))
    const strict = await gateway.chat(hello)
    expect(strict.status).toBe(502)
    expect(strict.headers.get("x-should-retry")).toBe("false")
    expect(strict.headers.get("x-gateway-provider")).toBe("gemini")
    const published = { message: "Refused.", type: "api_error", param: null, code: "upstream_credentials_rejected" }
    expect(await strict.json()).toEqual({ error: published })
    expect(await (await gateway.chat(hello, loose)).json()).toEqual({
      error: { ...published, provider: "gemini", upstream_status: 503 }
    })
  })

  it("chat: a defect is a 500 with our body and without its message (F44)", async () => {
    gateway.script.value = Effect.die(new Error("secret /path"))
    const answer = await gateway.chat(hello)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toEqual({
      error: {
        message: "The gateway failed unexpectedly; the request id names the log entry.",
        type: "api_error",
        param: null,
        code: "internal_error"
      }
    })
  })

  it("chat: unknown fields with all their digits, a BOM and __proto__ pass as data (B111, B16, M8)", async () => {
    const body =
      '\uFEFF{"model":"m","zzz":12345678901234567890,"user":null,"__proto__":{"p":1},"messages":[{"role":"user","content":"x","__proto__":{"p":1}}]}'
    expect((await gateway.chat(body)).status).toBe(200)
    const seen = gateway.script.calls[0]?.request
    expect(JSON.stringify(seen)).toBe(
      '{"model":"m","messages":[{"role":"user","content":"x","__proto__":{"p":1}}],"user":null,"zzz":12345678901234567890,"__proto__":{"p":1}}'
    )
    expect(Object.hasOwn(Object.prototype, "p")).toBe(false)
  })
})

const line = (choices: string, usage = "") =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":${choices}${usage}}\n\n`

describe("streamed chat", () => {
  const wanted = { ...hello, stream: true }

  it("chat: a strict stream has published fields, asked usage, and one [DONE] (T1302, T1314, T1324, T1328)", async () => {
    const answer = await gateway.chat(wanted)
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("no-cache, no-transform")
    expect(answer.headers.get("x-accel-buffering")).toBe("no")
    expect(answer.headers.get("x-gateway-provider")).toBe("gemini")
    expect(await answer.text()).toBe(
      [
        line('[{"index":0,"finish_reason":null,"delta":{"role":"assistant","content":""}}]'),
        line('[{"index":0,"finish_reason":null,"delta":{"content":"Hé\\n\\ndata: [DONE]"}}]'),
        line('[{"index":0,"finish_reason":"stop","delta":{}}]'),
        "data: [DONE]\n\n"
      ].join("")
    )
  })

  it("chat: include_usage sends null on every chunk and numbers on the last (T1105)", async () => {
    const answer = await gateway.chat({ ...wanted, stream_options: { include_usage: true } }, loose)
    const expected = fullChunks.map((chunk) => (chunk.choices.length === 0 ? chunk : { ...chunk, usage: null }))
    expect(await answer.text()).toBe(
      `${expected.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`
    )
  })

  it("chat: an error before the first chunk is an ordinary JSON error with B108's delay (T1317)", async () => {
    gateway.script.open = Effect.fail(failed({ _tag: "RateLimited", message: "Slow down.", retryAfterMillis: 34_400 }))
    const answer = await gateway.chat(wanted)
    expect(answer.status).toBe(429)
    expect(answer.headers.get("retry-after")).toBe("35")
    expect(answer.headers.get("retry-after-ms")).toBe("34400")
    expect(await answer.text()).toBe(
      '{"error":{"message":"Slow down.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}'
    )
  })

  it("chat: an error after the first chunk is one frame and the end, without [DONE] (T1318, F9, F12)", async () => {
    gateway.script.chunks = Stream.concat(Stream.fromIterable(fullChunks.slice(0, 1)), Stream.fail(truncated))
    expect(await (await gateway.chat(wanted)).text()).toBe(
      [
        line('[{"index":0,"finish_reason":null,"delta":{"role":"assistant","content":""}}]'),
        'data: {"error":{"message":"The upstream stream ended early.","type":"api_error","param":null,"code":"upstream_truncated"}}\n\n'
      ].join("")
    )
  })

  it("chat: a defect inside a stream is a frame too (F44)", async () => {
    gateway.script.chunks = Stream.die(new Error("secret"))
    expect(await (await gateway.chat(wanted)).text()).toBe(
      'data: {"error":{"message":"The gateway failed unexpectedly; the request id names the log entry.","type":"api_error","param":null,"code":"internal_error"}}\n\n'
    )
  })
})

describe("request context of a chat", () => {
  it("request context: contains every header once", async () => {
    await gateway.chat(hello, {
      "x-gateway-provider": "@gemini",
      "x-gateway-metadata": '{"team":"a"}',
      "x-gateway-trace-id": "trace",
      "x-gateway-unsupported-params": "reject",
      "anthropic-beta": "a-1, b-2",
      "x-gateway-anthropic-beta": "b-2,c-3",
      "x-gateway-vertex-project-id": "my-project",
      "x-gateway-vertex-region": "us-central1",
      authorization: "Bearer ya29.token"
    })
    const context = gateway.script.calls[0]?.context
    expect(context).toMatchObject({
      requestId: "r1",
      traceId: "trace",
      deadlineMillis: undefined,
      key: { id: "test", name: "test" },
      providerHeader: "gemini",
      strict: true,
      dryRun: false,
      unsupported: "reject",
      metadata: { team: "a" },
      betas: ["a-1", "b-2", "c-3"]
    })
    expect(context?.idSeed).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(context?.carried.vertexProjectId).toBe("my-project")
    expect(context?.carried.vertexRegion).toBe("us-central1")
    const token = context?.carried.authorization
    expect(token === undefined ? undefined : Redacted.value(token)).toBe("ya29.token")
  })

  it("chat: a gateway key is no provider credential wherever it stands (T2203, TH34, B93)", async () => {
    const base = { "content-type": "application/json" }
    for (const headers of [
      { ...base, authorization: `Bearer ${key}` },
      { ...base, authorization: key },
      { ...base, "x-api-key": key },
      { ...base, "x-goog-api-key": key },
      { ...base, "api-key": key },
      { ...base, "x-gateway-api-key": key, authorization: "Bearer mgk_other", "x-goog-api-key": "mgk_other" },
      { ...base, "x-gateway-api-key": key, authorization: "Bearer " }
    ]) {
      gateway.script.calls.length = 0
      const answer = await gateway.send("/v1/chat/completions", {
        method: "POST",
        headers,
        body: JSON.stringify(hello)
      })
      expect(answer.status).toBe(200)
      expect(gateway.script.calls[0]?.context.carried.authorization).toBeUndefined()
      expect(gateway.script.calls[0]?.context.carried.googApiKey).toBeUndefined()
    }
  })

  it("request context: takes the trace of traceparent, and a deadline from x-gateway-request-timeout", async () => {
    await gateway.chat(hello, {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "x-gateway-request-timeout": "1500"
    })
    const context = gateway.script.calls[0]?.context
    expect(context?.traceId).toBe("0af7651916cd43dd8448eb211c80319c")
    expect(context?.deadlineMillis).toBe((context?.startedMillis ?? 0) + 1500)
  })
})
