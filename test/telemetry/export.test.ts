// Tests traces and metrics as a collector receives them, and the trace headers that upstreams receive.
// Must not reach the network beyond its own sockets.
import { createServer, type IncomingHttpHeaders } from "node:http"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { Settings } from "../../src/domain/settings/Settings.ts"
import { Stopwatch } from "../../src/accounting/Accounting.ts"
import { config } from "../support/config.ts"
import { type Collector, type SeenSpan, startCollector } from "../support/collector.ts"
import { passUntilEnded, resumeTime, stopTime } from "../support/stoppedTime.ts"
import { gatewayKey, settingsFor, startGateway } from "../support/TestGateway.ts"

interface Reply {
  readonly status?: number
  readonly type?: string
  readonly body: string
}

/** An upstream with these responses in turn; the last one repeats. */
const startUpstream = async (replies: ReadonlyArray<Reply>) => {
  const headers: Array<IncomingHttpHeaders> = []
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      headers.push(request.headers)
      const {
        body,
        status = 200,
        type = "application/json"
      } = replies[Math.min(headers.length, replies.length) - 1] ?? { body: "" }
      response.writeHead(status, { "content-type": type }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return { port: address.port, url: `http://127.0.0.1:${address.port}`, headers, close: () => server.close() }
}

const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })
const stream = (...events: ReadonlyArray<unknown>): Reply => ({
  type: "text/event-stream",
  body: events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join("")
})
const usageMetadata = {
  promptTokenCount: 1000,
  candidatesTokenCount: 60,
  thoughtsTokenCount: 40,
  totalTokenCount: 1100,
  cachedContentTokenCount: 200
}
const reply = {
  responseId: "up-1",
  modelVersion: "gemini-2.5-flash-001",
  candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
  usageMetadata
}
const overloaded = json({ error: { code: 503, message: "secret", status: "UNAVAILABLE" } }, 503)
const messages = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Hello" }
]

let collector: Collector
beforeEach(async () => {
  collector = await startCollector()
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await collector.close()
})

const everything: NonNullable<Settings["export"]> = {
  traces: true,
  metrics: { intervalMillis: undefined, isDelta: false },
  content: false,
  isNamed: false
}

/** Sends the requests one after another through a gateway that exports, and closes it, which flushes the export. */
const traced = async (
  replies: ReadonlyArray<Reply>,
  requests: ReadonlyArray<{ readonly path?: string; readonly body: object; readonly headers?: Record<string, string> }>,
  more: Partial<Settings> = {},
  closed: (closing: Promise<void>) => Promise<void> = (closing) => closing
) => {
  const upstream = await startUpstream(replies)
  let ticks = 0
  const references = Layer.mergeAll(
    Layer.succeed(Stopwatch, () => ticks++),
    Layer.sync(Metric.MetricRegistry, () => new Map())
  )
  const settings = settingsFor(upstream.url)
  const gateway = await startGateway(
    { ...settings, export: everything, limits: { ...settings.limits, retryBaseMillis: 0, retryCapMillis: 0 }, ...more },
    references
  )
  const answers: Array<Response> = []
  for (const { body, headers = {}, path = "/v1/chat/completions" } of requests) {
    const answer = await fetch(gateway.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-gateway-api-key": gatewayKey,
        "x-request-id": "request-1",
        ...headers
      },
      body: JSON.stringify(body)
    })
    await answer.text()
    answers.push(answer)
  }
  await closed(gateway.close())
  upstream.close()
  const port = upstream.port
  return { answers, port, upstream: upstream.headers }
}

const by = (kind: number): ReadonlyArray<SeenSpan> => collector.spans.filter((span) => span.kind === kind)
const server = () => by(2)
const calls = () => by(3)
const routes = () => by(1)
const parent = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=1,other=2"
}

describe("a trace", () => {
  it("trace: has one span for the request and one for each call, in the caller's trace", async () => {
    const { port } = await traced(
      [overloaded, json(reply)],
      [
        {
          body: {
            model: "@google/gemini-2.5-flash",
            messages,
            max_tokens: 9,
            temperature: 0.5,
            stop: "x",
            n: 1,
            logit_bias: {},
            response_format: { type: "json_object" }
          },
          headers: {
            ...parent,
            "x-gateway-metadata": '{"conversation_id":"c-1","team":"secret"}',
            "x-gateway-config": '{"retry":{"attempts":1}}'
          }
        }
      ]
    )
    const [request] = server()
    expect(request).toMatchObject({
      name: "POST /v1/chat/completions",
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parentSpanId: "b7ad6b7169203331",
      traceState: "vendor=1,other=2",
      scope: { name: "model-gateway", version: "0.1.0" },
      schemaUrl: "https://opentelemetry.io/schemas/1.41.1",
      resource: { "service.name": "model-gateway", "service.version": "0.1.0" },
      status: { code: 0 }
    })
    expect(request?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/chat/completions",
      "http.response.status_code": 200,
      "url.scheme": "http",
      "gateway.request_id": "request-1"
    })
    const [route] = routes()
    expect(route).toMatchObject({
      name: "gateway route",
      traceId: request?.traceId,
      parentSpanId: request?.spanId,
      status: { code: 0 }
    })
    expect(route?.attributes).toEqual({
      "gateway.strategy": "single",
      "gateway.attempts": 2,
      "gateway.cache": "DISABLED",
      "gateway.ignored_params": ["logit_bias"]
    })
    const common = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.request.model": "gemini-2.5-flash",
      "gen_ai.request.max_tokens": 9,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.stop_sequences": ["x"],
      "gen_ai.output.type": "json",
      "gen_ai.conversation.id": "c-1",
      "server.address": "127.0.0.1",
      "server.port": port,
      "gateway.provider": "google",
      "gateway.target": 0
    }
    expect(
      calls().map(({ attributes, name, parentSpanId, status, traceId }) => ({
        attributes,
        name,
        parentSpanId,
        status,
        traceId
      }))
    ).toEqual([
      {
        name: "chat gemini-2.5-flash",
        traceId: request?.traceId,
        parentSpanId: route?.spanId,
        status: { code: 2 },
        attributes: { ...common, "gateway.attempt": 1, "error.type": "upstream_unavailable", "error.message": "secret" }
      },
      {
        name: "chat gemini-2.5-flash",
        traceId: request?.traceId,
        parentSpanId: route?.spanId,
        status: { code: 0 },
        attributes: {
          ...common,
          "gateway.attempt": 2,
          "gen_ai.response.id": expect.stringMatching(/^chatcmpl-/),
          "gen_ai.response.model": "gemini-2.5-flash-001",
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.usage.input_tokens": 1000,
          "gen_ai.usage.output_tokens": 100,
          "gen_ai.usage.cache_read.input_tokens": 200,
          "gen_ai.usage.reasoning.output_tokens": 40
        }
      }
    ])
    // Each reading adds 1 ms: request, router, call, it is sent, its failure, next call, it is sent, its response, end.
    const start = BigInt(request?.startTimeUnixNano ?? 0)
    const millis = ({ endTimeUnixNano, startTimeUnixNano }: SeenSpan) =>
      [BigInt(startTimeUnixNano) - start, BigInt(endTimeUnixNano) - start].map((nanos) => Number(nanos) / 1e6)
    expect([...server(), ...routes(), ...calls()].map(millis)).toEqual([
      [0, 8],
      [1, 7],
      [2, 4],
      [5, 7]
    ])
  })

  it("trace: marks a request of Google's own path as native (N606)", async () => {
    const contents = [{ role: "user", parts: [{ text: "Hello" }] }]
    await traced([json(reply)], [{ path: "/v1beta/models/gemini-2.5-flash:generateContent", body: { contents } }])
    expect([server()[0]?.attributes, calls().map(({ name }) => name)]).toEqual([
      {
        "http.request.method": "POST",
        "http.route": "/v1beta/models/:model:generateContent",
        "gateway.dialect": "native",
        "http.response.status_code": 200,
        "url.scheme": "http",
        "gateway.request_id": "request-1"
      },
      ["generate_content gemini-2.5-flash"]
    ])
  })

  it("trace: names the config that routed it, and the reason of a failure", async () => {
    const fallback = config({
      strategy: { mode: "fallback" },
      targets: [{ provider: "google" }, { provider: "google", override_params: { model: "gemini-2.5-pro" } }]
    })
    const body = { model: "gemini-2.5-flash", messages }
    await traced(
      [overloaded],
      [
        { body, headers: { "x-gateway-config": "two" } },
        { body, headers: { "x-gateway-config": '{"provider":"google","retry":{"attempts":0}}' } },
        { body: { ...body, model: "@nobody/x" } }
      ],
      { configs: { two: fallback } }
    )
    expect(routes().map(({ attributes, status }) => [attributes, status])).toEqual([
      [
        {
          "gateway.strategy": "fallback",
          "gateway.config_id": "two",
          "gateway.attempts": 2,
          "error.type": "upstream_unavailable"
        },
        { code: 2 }
      ],
      [{ "gateway.strategy": "single", "gateway.attempts": 1, "error.type": "upstream_unavailable" }, { code: 2 }],
      [{ "gateway.strategy": "single", "gateway.attempts": 0, "error.type": "provider_not_found" }, { code: 0 }]
    ])
  })

  it("trace: of a stream has the time of the first chunk and the reason of the end", async () => {
    const { candidates: _candidates, ...end } = reply
    await traced(
      [
        stream(
          { ...reply, candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }] },
          { ...end, candidates: [{ finishReason: "STOP" }] }
        )
      ],
      [{ body: { model: "@google/gemini-2.5-flash", messages, stream: true } }]
    )
    expect(calls()[0]?.attributes).toMatchObject({
      "gen_ai.request.stream": true,
      "gen_ai.response.time_to_first_chunk": 0.002,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.model": "gemini-2.5-flash-001",
      "gen_ai.usage.input_tokens": 1000
    })
  })

  it("trace: of the native messages route has the facts of the forwarded bytes", async () => {
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, output_tokens: 20 }
    }
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 30 } },
      { type: "message_stop" }
    ]
    const streamed = {
      type: "text/event-stream",
      body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
    }
    const token = json({ access_token: "t", expires_in: 3600, token_type: "Bearer" })
    const body = {
      model: "@vertex-ai/claude-sonnet-4-6",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hello" }]
    }
    await traced(
      [token, json(message), streamed],
      [
        { path: "/v1/messages", body },
        { path: "/v1/messages", body: { ...body, stream: true } }
      ]
    )
    expect(
      calls()
        .filter(({ name }) => !name.startsWith("chat"))
        .map(({ attributes, name, parentSpanId }) => [name, parentSpanId, attributes])
    ).toEqual([["gateway token refresh", undefined, { "gateway.credential": "vertex-ai" }]])
    expect(
      calls()
        .filter(({ name }) => name.startsWith("chat"))
        .map(({ attributes }) => attributes)
    ).toMatchObject([
      {
        "gen_ai.request.max_tokens": 9,
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.model": "claude-sonnet-4-6",
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.output_tokens": 20
      },
      {
        "gen_ai.request.stream": true,
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": ["max_tokens"],
        "gen_ai.usage.output_tokens": 30
      }
    ])
  })

  it("trace: takes its id from a valid x-gateway-trace-id, and has any other as an attribute", async () => {
    const { answers } = await traced(
      [json(reply)],
      [
        {
          body: { model: "@google/gemini-2.5-flash", messages },
          headers: { "x-gateway-trace-id": "ffffffffffffffffffffffffffffffff" }
        },
        { body: { model: "@google/gemini-2.5-flash", messages }, headers: { "x-gateway-trace-id": "my trace" } }
      ]
    )
    expect(answers.map(({ headers }) => headers.get("x-gateway-trace-id"))).toEqual([
      "ffffffffffffffffffffffffffffffff",
      "my trace"
    ])
    expect(
      server().map(({ attributes, parentSpanId, traceId }) => [traceId, parentSpanId, attributes["gateway.trace_id"]])
    ).toEqual([
      ["ffffffffffffffffffffffffffffffff", undefined, undefined],
      [expect.stringMatching(/^[\da-f]{32}$/), undefined, "my trace"]
    ])
  })

  it("trace: is not recorded when its caller does not sample", async () => {
    await traced(
      [json(reply)],
      [
        {
          body: { model: "@google/gemini-2.5-flash", messages },
          headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" }
        }
      ]
    )
    expect(collector.spans).toEqual([])
  })

  it("trace: of a refused request has the code of the error, and of an unknown route no path", async () => {
    await traced(
      [json(reply)],
      [{ body: { model: "@google/gemini-2.5-flash", messages: [] } }, { path: "/v1/secret", body: {} }]
    )
    expect(
      server().map(({ attributes, name, status }) => [
        name,
        attributes["http.route"],
        attributes["http.response.status_code"],
        attributes["error.type"],
        status
      ])
    ).toEqual([
      ["POST /v1/chat/completions", "/v1/chat/completions", 400, "empty_array", { code: 0 }],
      ["_OTHER", undefined, 404, "unknown_url", { code: 0 }]
    ])
  })
})

describe("message content in spans", () => {
  const asking = {
    body: {
      model: "@google/gemini-2.5-flash",
      messages: [
        ...messages,
        {
          role: "user",
          content: [
            { type: "text", text: "And this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } }
          ]
        }
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
    }
  }

  it("message content: is absent by default", async () => {
    await traced([json(reply)], [asking])
    expect(JSON.stringify(collector.spans)).not.toMatch(/Hello|Be brief|QUJD|"Hi"/)
  })

  it("message content: is on the span of the call when it is turned on, with media as digests", async () => {
    await traced([json(reply)], [asking], { export: { ...everything, content: true } })
    const content = Object.fromEntries(
      Object.entries(calls()[0]?.attributes ?? {}).flatMap(([key, value]) =>
        /messages|instructions|definitions/.test(key) ? [[key, JSON.parse(String(value)) as unknown]] : []
      )
    )
    expect(content).toEqual({
      "gen_ai.system_instructions": [{ type: "text", content: "Be brief." }],
      "gen_ai.input.messages": [
        { role: "user", parts: [{ type: "text", content: "Hello" }] },
        {
          role: "user",
          parts: [
            { type: "text", content: "And this?" },
            {
              type: "blob",
              mime_type: "image/png",
              bytes: 3,
              sha256: "b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78"
            }
          ]
        }
      ],
      "gen_ai.tool.definitions": asking.body.tools,
      "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "Hi" }], finish_reason: "stop" }]
    })
  })
})

it("spans: contain no credential, and nothing of a body by default (TH21, P10)", async () => {
  const headers = {
    authorization: "Bearer canary1",
    "x-goog-api-key": "canary2",
    "x-gateway-metadata": '{"a":"canary3"}',
    cookie: "canary4",
    "user-agent": "canary5"
  }
  const body = {
    model: "@google/gemini-2.5-flash",
    messages: [{ role: "user", content: "canary6" }],
    user: "canary7",
    canary8: "canary9"
  }
  await traced(
    [json({ error: { code: 400, message: "canary10", status: "INVALID_ARGUMENT" } }, 400)],
    [{ body, headers, path: "/v1/chat/completions?canary11" }]
  )
  expect(collector.spans).toHaveLength(3)
  expect(JSON.stringify(collector.spans).match(/canary\d+/g)).toBe(null)
})

describe("trace headers to upstreams", () => {
  const body = { model: "@google/gemini-2.5-flash", messages }
  const traceHeaders = (headers: IncomingHttpHeaders | undefined) => [
    headers?.["traceparent"],
    headers?.["tracestate"],
    headers?.["b3"]
  ]

  it("trace headers: are absent by default", async () => {
    const { upstream } = await traced([json(reply)], [{ body, headers: parent }])
    expect(traceHeaders(upstream[0])).toEqual([undefined, undefined, undefined])
  })

  it("trace headers: name the span of the call as parent, with the tracestate of the client", async () => {
    const { upstream } = await traced([json(reply)], [{ body, headers: parent }], { propagateUpstream: true })
    expect(traceHeaders(upstream[0])).toEqual([
      `00-0af7651916cd43dd8448eb211c80319c-${calls()[0]?.spanId}-01`,
      "vendor=1,other=2",
      undefined
    ])
  })

  it("trace headers: have the trace without an exporter too, and the client's decision not to sample", async () => {
    const { upstream } = await traced(
      [json(reply)],
      [
        { body, headers: { "x-gateway-trace-id": "ffffffffffffffffffffffffffffffff" } },
        { body, headers: parent }
      ],
      {
        propagateUpstream: true,
        export: { ...everything, traces: false }
      }
    )
    expect(upstream.map((headers) => headers["traceparent"])).toEqual([
      expect.stringMatching(/^00-f{32}-(?!0{16})[\da-f]{16}-00$/),
      expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!0{16}|b7ad6b7169203331)[\da-f]{16}-01$/)
    ])
    expect(collector.spans).toEqual([])
  })
})

describe("metrics", () => {
  it("exported metrics: have their own names, with unit and labels", async () => {
    await traced([json(reply)], [{ body: { model: "@google/gemini-2.5-flash", messages } }])
    const usage = collector.metrics.find(({ name }) => name === "gen_ai.client.token.usage")
    expect([
      usage?.unit,
      usage?.points.map(({ attributes, count, sum }) => [attributes["gen_ai_token_type"], count, sum])
    ]).toEqual([
      "{token}",
      [
        ["input", 1, 1000],
        ["output", 1, 100]
      ]
    ])
    const names = collector.metrics.map(({ name }) => name)
    expect(names).toContain("gen_ai.server.request.duration")
    expect(names).toContain("gateway_requests_total")
    expect(names).toContain("nodejs_heap_size_used_bytes")
  })
})

it("exporter: an unreachable collector changes no response (F45)", async () => {
  await collector.close()
  stopTime()
  const { answers } = await traced(
    [json(reply)],
    [
      { body: { model: "@google/gemini-2.5-flash", messages } },
      { body: { model: "@google/gemini-2.5-flash", messages } }
    ],
    {},
    // Seconds pass between its tries.
    (closing) => passUntilEnded(100, closing)
  )
  resumeTime()
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  collector = await startCollector()
})
