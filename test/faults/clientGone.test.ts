// Tests clients that disconnect: the upstream call closes, and the request is accounted for (F26).
// Must not look inside the gateway.
import { createServer, request as httpRequest } from "node:http"
import { PassThrough } from "node:stream"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { LogSink } from "../../src/telemetry/LogWriter.ts"
import { Stopwatch } from "../../src/accounting/Accounting.ts"
import { until } from "../support/eventually.ts"
import { parseMetrics, type Sample } from "../support/prometheus.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { gatewayKey, settingsFor, startGateway, startTestGateway, type TestGateway } from "../support/TestGateway.ts"

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

/** Asks over a socket of its own; `leave` breaks it off. */
const ask = (url: string, model: string, stream: boolean) => {
  const sent = httpRequest(`${url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", "x-gateway-api-key": gatewayKey }
  })
  sent.on("error", () => undefined)
  sent.end(JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }))
  const firstBytes = new Promise<string>((resolve) => {
    sent.once("response", (response) => {
      response.on("error", () => undefined)
      response.once("data", (bytes: Buffer) => resolve(bytes.toString()))
    })
  })
  return { firstBytes, leave: () => sent.destroy() }
}

/** An upstream that answers a stream with these events and then falls silent. */
const silentAfter = async (events: ReadonlyArray<unknown>) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(""))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}

describe("clients that disconnect (F26)", () => {
  it("disconnect: in the middle of a stream closes the upstream stream (F26, T1322)", async () => {
    const { counters } = gateway.simulator
    const before = counters.abortedStreams
    for (let round = 1; round <= 10; round++) {
      const asked = ask(gateway.url, "@google/demo-endless", true)
      expect((await asked.firstBytes).startsWith('data: {"id":"chatcmpl-')).toBe(true)
      asked.leave()
      await until(() => counters.abortedStreams === before + round)
    }
    await until(() => counters.openStreams === 0)
  })

  it("disconnect: before the first byte of a stream closes the upstream stream (F26, T1322)", async () => {
    const { counters } = gateway.simulator
    const aborted = counters.abortedStreams
    const requests = counters.requests
    const asked = ask(gateway.url, "@google/demo-hangs", true)
    await until(() => counters.requests === requests + 1)
    asked.leave()
    await until(() => counters.abortedStreams > aborted)
    expect([counters.abortedStreams, counters.openStreams]).toEqual([aborted + 1, 0])
  })

  it.each(["?alt=sse", ""])(
    "disconnect: from a native stream (%s) closes the upstream stream (F26, N406)",
    async (query) => {
      const { counters } = gateway.simulator
      const aborted = counters.abortedStreams
      const leaving = new AbortController()
      const answer = await fetch(`${gateway.url}/v1beta/models/@google/demo-endless:streamGenerateContent${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-goog-api-key": gatewayKey },
        body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hello" }] }] }),
        signal: leaving.signal
      })
      const first = await answer.body?.getReader().read()
      expect([answer.status, first?.done]).toEqual([200, false])
      leaving.abort()
      await until(() => counters.abortedStreams === aborted + 1 && counters.openStreams === 0)
    }
  )

  it("disconnect: during a unary call closes the upstream call (F26, T1322)", async () => {
    let closed = 0
    const called = Promise.withResolvers<void>()
    const silent = createServer((_request, response) => {
      response.once("close", () => closed++)
      called.resolve()
    })
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    const address = silent.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    const { url, close } = await startGateway(settingsFor(`http://127.0.0.1:${address.port}`))
    const asked = ask(url, "@google/gemini-3.8-flash", false)
    await called.promise
    asked.leave()
    await until(() => closed > 0)
    await close()
    silent.close()
    expect(closed).toBe(1)
  })

  it("disconnect: is accounted for as 499, with the upstream's counts so far (F26)", async () => {
    const upstream = await silentAfter([
      {
        candidates: [{ content: { role: "model", parts: [{ text: "Once upon a time" }] } }],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 10, totalTokenCount: 1010 }
      }
    ])
    const sink = new PassThrough()
    const logged = new Promise<string>((resolve) =>
      sink.once("data", (bytes: Buffer) => resolve(bytes.toString("utf8")))
    )
    let ticks = 0
    const references = Layer.mergeAll(
      Layer.succeed(LogSink, sink),
      Layer.succeed(Stopwatch, () => ticks++),
      Layer.sync(Metric.MetricRegistry, () => new Map())
    )
    const { url, close } = await startGateway(
      {
        ...settingsFor(upstream.url),
        log: { format: "json" },
        prices: { "gemini-3.8-flash": { input: 0.3, output: 2.5 } }
      },
      references
    )
    const asked = ask(url, "@google/gemini-3.8-flash", true)
    await asked.firstBytes
    expect((await metricsOf(url)).filter(({ name, value }) => name.startsWith("gateway_active") && value > 0)).toEqual([
      { name: "gateway_active_requests", labels: { route: "/v1/chat/completions" }, value: 1 },
      { name: "gateway_active_streams", labels: { route: "/v1/chat/completions" }, value: 1 }
    ])
    asked.leave()
    const lines = (await logged)
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
    const metrics = await metricsOf(url)
    await close()
    upstream.close()
    expect(lines).toEqual([
      {
        ts: expect.any(String),
        level: "warn",
        msg: "request",
        request_id: expect.any(String),
        trace_id: expect.any(String),
        route: "/v1/chat/completions",
        status: 499,
        provider: "google",
        model: "gemini-3.8-flash",
        target: 0,
        attempts: 1,
        stream: true,
        cache: "DISABLED",
        duration_ms: 5,
        ttft_ms: 4,
        overhead_ms: 2,
        input_tokens: 1000,
        output_tokens: 10,
        usage_estimated: true,
        cost_usd: 0.000325,
        key_id: "test",
        error_code: "client_closed_request"
      }
    ])
    const value = (name: string, labels: object) =>
      metrics.find((one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels))?.value
    expect([
      value("gateway_active_streams", { route: "/v1/chat/completions" }),
      value("gateway_active_requests", { route: "/v1/chat/completions" }),
      value("gateway_requests_total", {
        route: "/v1/chat/completions",
        provider: "google",
        model: "gemini-3.8-flash",
        status_class: "4xx"
      }),
      value("gateway_upstream_attempts_total", { provider: "google", outcome: "cancelled" })
    ]).toEqual([0, 0, 1, 1])
  })
})

const metricsOf = async (url: string): Promise<ReadonlyArray<Sample>> =>
  parseMetrics(await (await fetch(`${url}/metrics`)).text()).flatMap(({ samples }) => samples)
